/** Run actions: cancel, stop, retry, edit, pause, resume, delete, and the end of a run that was handed off. */
import { checkEdit } from '../jobs/checks/command.ts';
import { jsonText, parseJson } from '../model/json.ts';
import type { Jobs } from '../jobs.ts';
import type { JobWriting } from '../jobs/job-writing.ts';
import type { Act } from '../jobs/operate.ts';
import type { Edit } from '../model/event.ts';
import { isHandedOff, type Job } from '../model/job.ts';
import { versionOfEntry } from '../model/type-entry.ts';
import { Refusal } from '../refusal.ts';
import type { Holding } from '../store/store.ts';
import { durationMs } from '../time/duration.ts';
import type { AuditTrail } from './audit-trail.ts';
import { dueTimeOf, instantOfGiven, type DueNames, type GivenTime } from './declare/due-time.ts';
import { holderOfToken, parseToken } from './handler/token.ts';
import { stopEffect, type StopAnswer } from './inspect/stop.ts';
import type { ActOptions, CancelOptions, EndOptions, RetryOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';
import { storedError } from './attempt/stored-error.ts';
import type { JobWatchers } from './attempt/job-watchers.ts';
import type { StoreWorkers } from './store-workers.ts';

export type RunEdit = Omit<Edit, 'due'> & DueNames<GivenTime>;

export interface RunActionsParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly audit: AuditTrail;
  readonly catalogue: TypeCatalogue;
  readonly watchers: JobWatchers;
}

const byToken = { by: 'token' };
/**
 * A token may be used before the hand-off is stored. In that case `complete` and `fail` on an instance that did not
 * issue the token wait for the hand-off, and read the job at most this many times.
 */
const firstPolls = 20;
const firstPollMs = 250;

export class RunActions {
  readonly #parts: RunActionsParts;

  constructor(parts: RunActionsParts) {
    this.#parts = parts;
  }

  async cancel(id: number, { grace, ...act }: CancelOptions = {}): Promise<Job> {
    const { workers, audit } = this.#parts;
    const graceMs = grace === undefined ? undefined : durationMs(grace);
    const job = await audit.performOnJob('cancel', id, act, (jobs) => jobs.cancel(id, this.#ender(act), graceMs));
    workers.checkCancels();
    return job;
  }

  /**
   * Cancels a run in the caller's transaction. If it is running, its handler is told by a heartbeat after the commit.
   */
  cancelIn(transaction: unknown, id: number, { grace, ...act }: CancelOptions = {}): Promise<Job> {
    const graceMs = grace === undefined ? undefined : durationMs(grace);
    return this.#parts.audit.performInTransaction(transaction, { action: 'cancel', id, act }, (jobs) =>
      jobs.cancel(id, this.#ender(act), graceMs));
  }

  async stop(id: number, act?: EndOptions): Promise<StopAnswer> {
    const { stores, workers, audit } = this.#parts;
    const how = await stopEffect(stores.forJob(id), id);
    const job = await audit.performOnJob('stop', id, act, (jobs) => jobs.stop(id, this.#ender(act)));
    workers.checkCancels();
    return { job, how };
  }

  async retry(id: number, { only, downstream, from, ...act }: RetryOptions = {}): Promise<Job> {
    const { workers, audit } = this.#parts;
    const scope = {
      ...(only === undefined ? {} : { only }), ...(downstream === undefined ? {} : { downstream }),
      ...(from === undefined ? {} : { from }),
    };
    const job = await audit.performOnJob('retry', id, act, (jobs) => jobs.retry(id, audit.asker(act), scope));
    workers.wake();
    return job;
  }

  async cancelFlow(id: number, { grace, ...act }: CancelOptions = {}): Promise<number> {
    const graceMs = grace === undefined ? undefined : durationMs(grace);
    const count = await this.#onFlow('cancel', id, act, (jobs) => jobs.cancelFlow(id, this.#ender(act), graceMs));
    this.#parts.workers.checkCancels();
    return count;
  }

  async stopFlow(id: number, act: EndOptions = {}): Promise<number> {
    const count = await this.#onFlow('stop', id, act, (jobs) => jobs.stopFlow(id, this.#ender(act)));
    this.#parts.workers.checkCancels();
    return count;
  }

  async retryFlow(id: number, act: ActOptions = {}): Promise<number> {
    const { workers, audit } = this.#parts;
    const count = await this.#onFlow('retry', id, act, async (jobs) =>
      (await jobs.retryFlow(id, audit.asker(act))).length);
    workers.wake();
    return count;
  }

  /** Acts on a flow, and records it if the options name a person. */
  async #onFlow(
    action: string,
    id: number,
    act: ActOptions,
    perform: (jobs: Jobs) => Promise<number>,
  ): Promise<number> {
    const { stores, audit } = this.#parts;
    const count = await perform(stores.database);
    if (act.by === undefined) return count;
    const entry = { action: `${action} flow`, job: id, def: null, before: null, after: { runs: count } };
    await stores.database.audit(entry, audit.asker(act));
    return count;
  }

  async edit(id: number, given: RunEdit, act?: ActOptions): Promise<Job> {
    const edit = editOf(given);
    const { workers, audit } = this.#parts;
    const job = await audit.performOnJob('edit', id, act, async (jobs) =>
      jobs.edit(id, await this.#checkedEdit(jobs, id, edit), audit.asker(act)));
    workers.wake();
    return job;
  }

  editIn(transaction: unknown, id: number, given: RunEdit, act?: ActOptions): Promise<Job> {
    const edit = editOf(given);
    const { audit } = this.#parts;
    return audit.performInTransaction(transaction, { action: 'edit', id, act }, async (jobs) =>
      jobs.edit(id, await this.#checkedEdit(jobs, id, edit), audit.asker(act)));
  }

  /**
   * Validates the new input of a run by the schema of its type, and returns the edit with the version of the input: that
   * of the type now, unless the edit states another one.
   */
  async #checkedEdit(jobs: JobWriting, id: number, given: Edit): Promise<Edit> {
    const edit = checkEdit(given, jobs.store.now());
    const job = edit.input === undefined ? null : await jobs.get(id);
    // The input of a task belongs to the code that planned it, as its version does.
    if (job === null || job.kind !== 'run') return edit;
    const { entry, checkOfVersion } = await this.#parts.catalogue.rules(edit.type ?? job.type);
    const typeVersion = edit.typeVersion ?? versionOfEntry(entry);
    await checkOfVersion(typeVersion)?.(parseJson(edit.input!));
    return typeVersion === job.typeVersion ? edit : { ...edit, typeVersion };
  }

  pause(id: number, act?: ActOptions): Promise<Job> {
    const { audit } = this.#parts;
    return audit.performOnJob('pause', id, act, (jobs) => jobs.pause(id, audit.asker(act)));
  }

  async resume(id: number, act?: ActOptions): Promise<Job> {
    const { workers, audit } = this.#parts;
    const job = await audit.performOnJob('resume', id, act, (jobs) => jobs.resume(id, audit.asker(act)));
    workers.wake();
    return job;
  }

  delete(id: number, act?: ActOptions): Promise<void> {
    return this.#parts.audit.deleteJob(id, act);
  }

  async complete(token: string, result?: unknown): Promise<Job> {
    const { id, fence } = await this.#holdingOf(token);
    return this.#parts.stores.forJob(id).succeed(id, fence, byToken, jsonText(result));
  }

  async fail(token: string, error: unknown): Promise<Job> {
    const { id, fence } = await this.#holdingOf(token);
    return this.#parts.stores.forJob(id).fail(id, fence, storedError(error), byToken);
  }

  /** Finishes a job that was handed off, without its token, in place of the system that has the token. */
  async completeHandedOff(id: number, result: unknown, act?: ActOptions): Promise<Job> {
    const { audit } = this.#parts;
    const fence = await this.#handedOffFence(id);
    return audit.performOnJob('complete', id, act, (jobs) =>
      jobs.succeed(id, fence, audit.asker(act), jsonText(result)));
  }

  async failHandedOff(id: number, error: unknown, act?: ActOptions): Promise<Job> {
    const { audit } = this.#parts;
    const fence = await this.#handedOffFence(id);
    return audit.performOnJob('fail', id, act, (jobs) => jobs.fail(id, fence, storedError(error), audit.asker(act)));
  }

  /** Returns the job and fence of a token. Refuses a token that was not issued, or is no longer valid. */
  async #holdingOf(token: string): Promise<Holding> {
    const { workers, stores, watchers } = this.#parts;
    const holding = parseToken(token);
    if (workers.hasIssuedToken(token, holding)) return holding;
    for (let polls = 0; polls < firstPolls; polls++) {
      const job = await stores.forJob(holding.id).get(holding.id);
      if (job?.state !== 'running' || job.fence !== holding.fence) break;
      if (job.lease.holder === holderOfToken(token)) return holding;
      if (isHandedOff(job)) break;
      await watchers.until(holding.id, firstPollMs);
    }
    throw new Refusal('lost.lease', 'this token is not valid, or its job has ended or been given to another worker');
  }

  async #handedOffFence(id: number): Promise<number> {
    const job = await this.#parts.stores.forJob(id).get(id);
    if (job === null) throw new Refusal('unknown.job', `no such job: ${id}`, { id });
    if (job.state === 'running' && isHandedOff(job)) return job.fence;
    const message = `job ${id} is not handed off: only its worker can finish it; cancel or stop it instead`;
    throw new Refusal('wrong.state', message, { id, state: job.state });
  }

  #ender({ code, ...act }: EndOptions = {}): Act {
    return { ...this.#parts.audit.asker(act), ...(code === undefined ? {} : { code }) };
  }
}

/**
 * Returns the edit with its due time as the field `due`, even if it was given as `dueTime` or `dueAt`. If `given` is
 * not an object, returns it unchanged, because the check of edits refuses it later.
 */
function editOf(given: RunEdit): Edit {
  const time = dueTimeOf(given ?? {});
  if (time === undefined) return given as Edit;
  const { dueTime: _dueTime, dueAt: _dueAt, ...rest } = given;
  return { ...rest, due: instantOfGiven(time) };
}
