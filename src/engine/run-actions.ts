/** Run actions: cancel, stop, retry, edit, pause, resume, delete, and the end of a run that was handed off. */
import { jsonText } from '../model/json.ts';
import type { Act } from '../jobs/operate.ts';
import type { Edit } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { durationMs } from '../time/duration.ts';
import type { AuditTrail } from './audit-trail.ts';
import { parseToken } from './handler/token.ts';
import { stopWouldBe, type StopAnswer } from './inspect/stop.ts';
import type { ActOptions, CancelOptions, EndOptions, RetryOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import { storedError } from './work/command-for.ts';
import type { Workers } from './workers.ts';

export interface RunActionsParts {
  readonly stores: Stores;
  readonly workers: Workers;
  readonly audit: AuditTrail;
}

const byToken = { by: 'token' };

export class RunActions {
  readonly #parts: RunActionsParts;

  constructor(parts: RunActionsParts) {
    this.#parts = parts;
  }

  async cancel(id: number, { grace, ...act }: CancelOptions = {}): Promise<Job> {
    const { workers, audit } = this.#parts;
    const graceMs = grace === undefined ? undefined : durationMs(grace);
    const job = await audit.ofJob('cancel', id, act, (jobs) => jobs.cancel(id, this.#ender(act), graceMs));
    workers.checkCancels();
    return job;
  }

  async stop(id: number, act?: EndOptions): Promise<StopAnswer> {
    const { stores, workers, audit } = this.#parts;
    const how = await stopWouldBe(stores.forJob(id), id);
    const job = await audit.ofJob('stop', id, act, (jobs) => jobs.stop(id, this.#ender(act)));
    workers.checkCancels();
    return { job, how };
  }

  async retry(id: number, { only, ...act }: RetryOptions = {}): Promise<Job> {
    const { workers, audit } = this.#parts;
    const job = await audit.ofJob('retry', id, act, (jobs) => jobs.retry(id, audit.asker(act), only));
    workers.wake();
    return job;
  }

  async edit(id: number, edit: Edit, act?: ActOptions): Promise<Job> {
    const { workers, audit } = this.#parts;
    const job = await audit.ofJob('edit', id, act, (jobs) => jobs.edit(id, edit, audit.asker(act)));
    workers.wake();
    return job;
  }

  pause(id: number, act?: ActOptions): Promise<Job> {
    const { audit } = this.#parts;
    return audit.ofJob('pause', id, act, (jobs) => jobs.pause(id, audit.asker(act)));
  }

  async resume(id: number, act?: ActOptions): Promise<Job> {
    const { workers, audit } = this.#parts;
    const job = await audit.ofJob('resume', id, act, (jobs) => jobs.resume(id, audit.asker(act)));
    workers.wake();
    return job;
  }

  /** Records the deletion in the same commit. */
  delete(id: number, act?: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    return stores.forJob(id).delete(id, act?.by === undefined ? undefined : audit.asker(act));
  }

  async complete(token: string, result?: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.#parts.stores.forJob(id).succeed(id, fence, byToken, jsonText(result));
  }

  async fail(token: string, error: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.#parts.stores.forJob(id).fail(id, fence, storedError(error), byToken);
  }

  #ender({ code, ...act }: EndOptions = {}): Act {
    return { ...this.#parts.audit.asker(act), ...(code === undefined ? {} : { code }) };
  }
}
