/** The operations on jobs for producers, workers, operators and viewers. They validate their arguments. */
import type { CommandAnswer, CommandRequest, Asker } from './apply.ts';
import { audit, auditRecords, type AuditEntry, type AuditPage, type AuditQuery } from './jobs/audit.ts';
import { checkHoldings, checkLeaseMs, checkWorkRequest, type WorkRequest } from './jobs/checks/claim.ts';
import {
  checkAsker, checkFence, checkFields, checkId, checkList, checkOneOf, checkTime, checkWhole,
} from './jobs/checks/values.ts';
import { checkCommand, checkEdit, checkMs, checkTerminateCode } from './jobs/checks/command.ts';
import { createChildren, createJobs, type Created } from './jobs/create.ts';
import type { Draft, UniqueRequest } from './jobs/draft.ts';
import { Ids } from './jobs/ids.ts';
import { checkCursor, checkLimit, checkPage, checkQuery, eventsMax } from './jobs/checks/query.ts';
import {
  cancelJob, deleteJob, editJob, pauseJob, requeueJob, resumeJob, retryJob, stopJob, type Act,
} from './jobs/operate.ts';
import { claimJobs, conclude, type ClaimedJobs } from './jobs/work.ts';
import type { Edit, Event } from './model/event.ts';
import type { Job, JobError, RunningJob } from './model/job.ts';
import { Refusal } from './refusal.ts';
import type { Page, PageRequest, Query, Tally } from './store/query.ts';
import type { FeedPage, Holding, Store } from './store/store.ts';

const draftsMax = 1_000_000;
const requestsMax = 100_000;

export class Jobs {
  readonly store: Store;
  readonly ids: Ids;

  constructor(store: Store) {
    this.store = store;
    this.ids = new Ids(store);
  }

  // For producers.

  async create(draft: Draft, by: string): Promise<Created> {
    return (await this.createMany([draft], by))[0]!;
  }

  /** Creates jobs. With a `holder`, jobs that are due now and have no gate are claimed for it in the same commit. */
  async createMany(drafts: readonly Draft[], by: string, holder: string | null = null): Promise<readonly Created[]> {
    return createJobs(this, checkList('jobs', drafts, draftsMax, same), by, holder);
  }

  /** Creates jobs in the caller's transaction: the jobs exist if and when the transaction commits. */
  async createWithin(transaction: unknown, drafts: readonly Draft[], by: string): Promise<readonly Created[]> {
    const store = this.store.within(transaction);
    return createJobs({ store, ids: new Ids(store) }, checkList('jobs', drafts, draftsMax, same), by);
  }

  async createChildren(parent: number, drafts: readonly Draft[], by: string, fence?: number): Promise<readonly Job[]> {
    if (fence !== undefined) checkFence(fence);
    return createChildren(this, checkId(parent), checkList('jobs', drafts, draftsMax, same), by, fence);
  }

  // For workers.

  async claim(request: WorkRequest): Promise<readonly RunningJob[]> {
    return (await this.claimBatch(request)).jobs;
  }

  /** Like `claim`, but also returns `searchedAt`, from which `nextDue` of the store finds when the next job is due. */
  async claimBatch(request: WorkRequest): Promise<ClaimedJobs> {
    return claimJobs(this.store, checkWorkRequest(request));
  }

  async extend(holdings: readonly Holding[], leaseMs: number): Promise<readonly boolean[]> {
    await this.store.synchronize?.();
    return this.store.extend(checkHoldings(holdings), this.store.now() + checkLeaseMs(leaseMs));
  }

  succeed(job: number | Job, fence: number, asker: Asker, result?: string): Promise<Job> {
    return this.#one({ job, command: { do: 'succeed', fence, ...(result === undefined ? {} : { result }) } }, asker);
  }

  fail(job: number | Job, fence: number, error: JobError, asker: Asker, retryable = true): Promise<Job> {
    return this.#one({ job, command: { do: 'fail', fence, error, retryable } }, asker);
  }

  release(job: number | Job, fence: number, asker: Asker, due?: number): Promise<Job> {
    return this.#one({ job, command: { do: 'release', fence, ...(due === undefined ? {} : { due }) } }, asker);
  }

  /** Stores many outcomes in as few writes as possible; returns a change or a refusal for each. */
  async conclude(requests: readonly CommandRequest[], asker: Asker): Promise<readonly CommandAnswer[]> {
    const now = this.store.now();
    const checked = checkList('requests', requests, requestsMax, (request) => {
      const { job, command } = checkFields('a request', request, ['job', 'command']);
      checkId(typeof job === 'object' ? job?.id : job);
      return { job, command: checkCommand(command, now) };
    });
    return conclude(this.store, checked, checkAsker(asker));
  }

  // For operators.

  async cancel(id: number, act: Act, graceMs?: number): Promise<Job> {
    if (graceMs !== undefined) checkMs('graceMs', graceMs);
    return cancelJob(this.store, checkId(id), checkAct(act), graceMs);
  }

  async stop(id: number, act: Act): Promise<Job> {
    return stopJob(this.store, checkId(id), checkAct(act));
  }

  async pause(id: number, asker: Asker): Promise<Job> {
    return pauseJob(this.store, checkId(id), checkAsker(asker));
  }

  async resume(id: number, asker: Asker): Promise<Job> {
    return resumeJob(this.store, checkId(id), checkAsker(asker));
  }

  async retry(id: number, asker: Asker, only?: 'failed'): Promise<Job> {
    if (only !== undefined) checkOneOf('only', only, ['failed']);
    return retryJob(this.store, checkId(id), checkAsker(asker), only);
  }

  async requeue(id: number, due: number, asker: Asker): Promise<Job> {
    return requeueJob(this.store, checkId(id), checkTime('due', due), checkAsker(asker));
  }

  async edit(id: number, edit: Edit, asker: Asker): Promise<Job> {
    await this.store.synchronize?.();
    return editJob(this.store, checkId(id), checkEdit(edit, this.store.now()), checkAsker(asker));
  }

  async delete(id: number, asker?: Asker): Promise<void> {
    return deleteJob(this, checkId(id), asker === undefined ? null : checkAsker(asker));
  }

  async audit(entry: AuditEntry, asker: Asker, unique?: UniqueRequest): Promise<void> {
    return audit(this, entry, checkAsker(asker), unique);
  }

  /** Audit entries, newest first. */
  async audited(query: AuditQuery = {}, page?: PageRequest): Promise<AuditPage> {
    return auditRecords(this, query, checkPage(page));
  }

  // For viewers.

  async get(id: number): Promise<Job | null> {
    return (await this.store.load([checkId(id)]))[0] ?? null;
  }

  async find(query: Query, page?: PageRequest): Promise<Page> {
    return this.store.find(checkQuery(query), checkPage(page));
  }

  /** Counts jobs; with `dueBy`, also how many of them are pending and due before that time. */
  async count(query: Query = {}, dueBy?: number): Promise<readonly Tally[]> {
    return this.store.count(checkQuery(query), dueBy === undefined ? undefined : checkTime('dueBy', dueBy));
  }

  async history(id: number, from = 1, limit = Number.MAX_SAFE_INTEGER): Promise<readonly Event[]> {
    checkWhole('from', from, 1, Number.MAX_SAFE_INTEGER);
    return this.store.history(checkId(id), from, checkLimit(limit, Number.MAX_SAFE_INTEGER));
  }

  async events(cursor: string | null, limit = 1000): Promise<FeedPage> {
    return this.store.eventsAfter(checkCursor(cursor), checkLimit(limit, eventsMax));
  }

  async #one(request: CommandRequest, asker: Asker): Promise<Job> {
    const [answer] = await this.conclude([request], asker);
    if (answer instanceof Refusal) throw answer;
    return answer!.after!;
  }
}

const same = <T>(value: T): T => value;

function checkAct(act: Act): Act {
  if (checkAsker(act).code !== undefined) checkTerminateCode(act.code);
  return act;
}
