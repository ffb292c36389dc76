/** `stint/client`: the client of the HTTP API, typed by its contract. */
export { Client, type CallOptions, type ClientOptions } from './client/client.ts';
export { HttpJob } from './client/http-job.ts';
export { HttpWorker, type HttpHandler, type HttpWorkerOptions } from './client/http-worker.ts';
export { Cancelled, Fail, Interrupted, LeaseLost, RetryAfter, Snooze, TimedOut } from './engine/handler/errors.ts';
export { ProblemError } from './client/problem-error.ts';
export { RemoteRun, type RemoteRunUpdate } from './client/remote-run.ts';
export type * from './http/contract.ts';
