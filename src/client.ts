/** `stint/client`: the client of the HTTP API, typed by its contract. */
export { Client, type CallOptions, type ClientOptions } from './client/client.ts';
export { ProblemError } from './client/problem-error.ts';
export { RemoteRun, type RemoteRunUpdate } from './client/remote-run.ts';
export type * from './http/contract.ts';
