/**
 * A worker over HTTP: claims jobs, keeps their leases by heartbeats, executes handlers, and reports how they ended.
 * The clients for Python and Go have the same worker; test/clients tries all of them with one suite.
 */
import { Interrupted, TimedOut } from '../engine/handler/errors.ts';
import type { Answer, ClaimedView } from '../http/contract.ts';
import { instanceName, systemRandom, type Random } from '../random.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import type { Client } from './client.ts';
import { isFinal, pauseMs, unstorable } from './http-errors.ts';
import { HttpJob } from './http-job.ts';
import { outcomeOfError, outcomeOfResult, type HttpOutcome } from './http-outcome.ts';
import { confirmLease, keepLease } from './keep-lease.ts';

/** Executes a job. The value that it returns is the result of the job. */
export type HttpHandler = (job: HttpJob) => unknown;

export interface HttpWorkerOptions {
  /** The handlers by the names of their job types. */
  readonly handlers: Readonly<Record<string, HttpHandler>>;
  /** A unique name of the worker. Default: made from host name, process id and a random number. */
  readonly name?: string;
  /** The number of jobs that the worker executes at the same time, at most 100. Default: 1. */
  readonly slots?: number;
  /** How long the worker holds a job after its last heartbeat, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number;
  /** How long `stop` waits for handlers before it aborts their signals, in milliseconds. Default: 20,000. */
  readonly drainMs?: number;
  /**
   * The versions of inputs that the worker knows, from `from` to `to`. Of types that are not listed, it gets jobs of the
   * version with which new runs are created.
   */
  readonly versions?: readonly { readonly type: string; readonly from: number; readonly to: number }[];
  /** Called with errors after which the worker continues. Default: writes them to standard error. */
  readonly onError?: (error: Error) => void;
  /** Replaces the system clock in tests. */
  readonly clock?: Clock;
  /** Replaces the random numbers of this process in tests. */
  readonly random?: Random;
}

interface OccupiedSlot {
  readonly job: HttpJob;
  /** Aborted when the outcome is stored or the lease is lost: no more heartbeats are sent. */
  readonly over: AbortController;
  /** The report of the outcome. Null: the handler has not ended. */
  report: Promise<void> | null;
}

const claimWaitMs = 20_000;
/** How long `stop` waits for handlers whose signals it has aborted, before it releases their jobs. */
const interruptedMs = 5_000;

export class HttpWorker {
  readonly #client: Client;
  readonly #options: Required<HttpWorkerOptions>;
  readonly #held = new Map<OccupiedSlot, Promise<void>>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(client: Client, options: HttpWorkerOptions) {
    this.#client = client;
    this.#options = {
      name: instanceName(systemRandom),
      slots: 1,
      leaseMs: 30_000,
      drainMs: 20_000,
      versions: [],
      onError: (error) => console.error(error),
      clock: systemClock,
      random: systemRandom,
      ...options,
    };
  }

  /** Executes jobs until `stop`. Rejects if the server refuses the worker, such as for a wrong token. */
  run(): Promise<void> {
    return (this.#running ??= this.#runUntilDrained());
  }

  /**
   * Claims no more jobs, and waits for the handlers. After `drainMs` it aborts their signals. Jobs whose handlers do not
   * end then are released, and their attempts do not count.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #runUntilDrained(): Promise<void> {
    try {
      await this.#claimUntilStopped();
    } finally {
      await this.#drain();
    }
  }

  async #claimUntilStopped(): Promise<void> {
    const { slots, clock, random, onError } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const limit = slots - this.#held.size;
      if (limit === 0) {
        await Promise.race([...this.#held.values(), clock.sleep(Infinity, signal)]);
        continue;
      }
      try {
        const askedAt = clock.monotonic();
        for (const view of await this.#claim(limit)) this.#start(view, askedAt);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (isFinal(error)) throw error;
        onError(error as Error);
        await clock.sleep(pauseMs((failures += 1), random), signal);
      }
    }
  }

  async #claim(limit: number): Promise<Answer<'claim'>['items']> {
    const { name: worker, handlers, versions, leaseMs } = this.#options;
    const known = versions.length === 0 ? {} : { versions: [...versions] };
    const body = { worker, types: Object.keys(handlers), ...known, limit, leaseMs, waitMs: claimWaitMs };
    return (await this.#client.call('claim', { body }, { signal: this.#stopping.signal })).items;
  }

  #start(view: ClaimedView, askedAt: number): void {
    const held: OccupiedSlot = { job: new HttpJob(view, this.#client), over: new AbortController(), report: null };
    const done = this.#execute(held, askedAt).catch(this.#options.onError).finally(() => this.#held.delete(held));
    this.#held.set(held, done);
  }

  async #execute(held: OccupiedSlot, askedAt: number): Promise<void> {
    const { job, over } = held;
    const { clock, leaseMs, onError } = this.#options;
    const lease = { leaseMs, clock, onError, over: over.signal };
    const since = await confirmLease(this.#client, job, askedAt, lease);
    if (since === null) return job.isLost ? undefined : this.#report(held, outcomeOfError(job.signal.reason, job.signal));
    const kept = keepLease(this.#client, job, since, lease);
    await this.#perform(held);
    await kept;
  }

  async #perform(held: OccupiedSlot): Promise<void> {
    const { job } = held;
    const { handlers } = this.#options;
    const cancelTimeout = this.#failAfterTimeout(held);
    let outcome: HttpOutcome;
    try {
      outcome = outcomeOfResult(await handlers[job.view.type]!(job));
    } catch (error) {
      outcome = outcomeOfError(error, job.signal);
    }
    cancelTimeout();
    await this.#report(held, outcome);
  }

  #failAfterTimeout(held: OccupiedSlot): () => void {
    const { timeoutMs } = held.job.view;
    if (timeoutMs === null) return () => {};
    return this.#options.clock.after(timeoutMs, () => {
      const error = new TimedOut(`the attempt took longer than ${timeoutMs} ms`);
      held.job.abort(error);
      void this.#report(held, outcomeOfError(error, held.job.signal));
    });
  }

  /** Reports the first outcome of a job; later ones, of a handler that ends after its timeout, are dropped. */
  #report(held: OccupiedSlot, outcome: HttpOutcome): Promise<void> {
    return (held.report ??= this.#send(held.job, outcome).finally(() => held.over.abort()));
  }

  /** Sends an outcome until the server has it or the lease is lost: without it, the job would be executed again. */
  async #send(job: HttpJob, outcome: HttpOutcome): Promise<void> {
    const { clock, random, onError } = this.#options;
    for (let failures = 0; !job.isLost; ) {
      try {
        return await this.#sendOnce(job, outcome);
      } catch (error) {
        const fallback = unstorable(outcome, error);
        if (fallback !== null) return this.#send(job, fallback);
        onError(error as Error);
        if (isFinal(error)) return;
        await clock.sleep(pauseMs((failures += 1), random));
      }
    }
  }

  async #sendOnce(job: HttpJob, outcome: HttpOutcome): Promise<void> {
    const { id, view: { fence } } = job;
    const params = { id };
    if (outcome.route === 'complete') await this.#client.call('complete', { params, body: { fence, ...outcome.body } });
    else if (outcome.route === 'fail') await this.#client.call('fail', { params, body: { fence, ...outcome.body } });
    else await this.#client.call('release', { params, body: { fence, ...outcome.body } });
  }

  async #drain(): Promise<void> {
    await this.#handlersWithin(this.#options.drainMs);
    for (const { job } of this.#held.keys()) job.abort(new Interrupted('the worker stops'));
    await this.#handlersWithin(interruptedMs);
    await Promise.all([...this.#held.keys()].map((held) => this.#report(held, { route: 'release', body: {} })));
  }

  /** Waits for the handlers of the jobs that are held, at most this long. */
  async #handlersWithin(ms: number): Promise<void> {
    if (this.#held.size === 0) return;
    const allDone = new AbortController();
    void Promise.all(this.#held.values()).then(() => allDone.abort());
    await this.#options.clock.sleep(ms, allDone.signal);
  }
}
