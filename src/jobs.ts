/** The operations on jobs for producers, workers, operators and viewers. They validate their arguments. */
import type { CommandAnswer, CommandRequest, Asker } from './apply.ts';
import { auditRecords, type AuditPage, type AuditQuery } from './jobs/audit.ts';
import { checkHoldings, checkLeaseMs, checkWorkRequest, type WorkRequest } from './jobs/checks/claim.ts';
import {
  checkAsker, checkFence, checkFields, checkId, checkList, checkName, checkOneOf, checkTime, checkWhole,
} from './jobs/checks/values.ts';
import { checkCommand, checkMs } from './jobs/checks/command.ts';
import { createChildren, type Created } from './jobs/create.ts';
import type { Draft } from './jobs/draft.ts';
import { checkAct, checkDrafts, JobWriting } from './jobs/job-writing.ts';
import { checkCursor, checkLimit, checkPage, checkQuery, eventsMax } from './jobs/checks/query.ts';
import { Ids } from './jobs/ids.ts';
import { cancelFlow, retryFlow, stopFlow } from './jobs/flow.ts';
import { deleteJob, pauseJob, requeueJob, resumeJob, stopJob, type Act } from './jobs/operate.ts';
import { downstreams, type RetryScope } from './jobs/reopening.ts';
import { retryJob } from './jobs/retry.ts';
import { claimJobs, conclude, type ClaimedJobs } from './jobs/work.ts';
import type { Event } from './model/event.ts';
import type { Job, JobError, RunningJob } from './model/job.ts';
import { Refusal } from './refusal.ts';
import type { Page, PageRequest, Query, Tally } from './store/query.ts';
import type { FeedPage, Holding, Store } from './store/store.ts';

const requestsMax = 100_000;
const requestFields: readonly (keyof CommandRequest)[] = ['job', 'command'];

export class Jobs extends JobWriting<Store> {
  // For producers.

  async create(draft: Draft, by: string): Promise<Created> {
    return (await this.createMany([draft], by))[0]!;
  }

  /** Returns the operations that write in the caller's transaction: they take effect if and when it commits. */
  within(transaction: unknown): JobWriting {
    const writer = this.store.within(transaction);
    const ids = writer.isReservingApart === true ? this.ids : new Ids(writer, { reservesAhead: false });
    return new JobWriting(writer, null, ids);
  }

  /** Creates jobs in the caller's transaction: the jobs exist if and when the transaction commits. */
  async createWithin(transaction: unknown, drafts: readonly Draft[], by: string): Promise<readonly Created[]> {
    return this.within(transaction).createMany(drafts, by);
  }

  async createChildren(parent: number, drafts: readonly Draft[], by: string, fence?: number): Promise<readonly Job[]> {
    if (fence !== undefined) checkFence(fence);
    return createChildren(this, checkId(parent), checkDrafts(drafts), by, fence);
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
      const { job, command } = checkFields('a request', request, requestFields);
      checkId(typeof job === 'object' ? job?.id : job);
      return { job, command: checkCommand(command, now) };
    });
    return conclude(this.store, checked, checkAsker(asker));
  }

  /** Like `conclude`, for outcomes of this process: it checks no success, whose result must be a text of `jsonText`. */
  async concludeOwn(requests: readonly CommandRequest[], asker: Asker): Promise<readonly CommandAnswer[]> {
    const now = this.store.now();
    const checked = requests.map((request) => {
      const { job, command } = request;
      return command.do === 'succeed' ? request : { job, command: checkCommand(command, now) };
    });
    return conclude(this.store, checked, checkAsker(asker));
  }

  // For operators.

  async stop(id: number, act: Act): Promise<Job> {
    return stopJob(this.store, checkId(id), checkAct(act));
  }

  async pause(id: number, asker: Asker): Promise<Job> {
    return pauseJob(this.store, checkId(id), checkAsker(asker));
  }

  async resume(id: number, asker: Asker): Promise<Job> {
    return resumeJob(this.store, checkId(id), checkAsker(asker));
  }

  async retry(id: number, asker: Asker, scope: RetryScope = {}): Promise<Job> {
    const { only, downstream, from } = checkFields('a retry', scope, ['only', 'downstream', 'from']);
    if (only !== undefined) checkOneOf('only', only, ['failed']);
    if (downstream !== undefined) checkOneOf('downstream', downstream, downstreams);
    if (from !== undefined) checkName('name of a step', from);
    return retryJob(this.store, checkId(id), checkAsker(asker), scope);
  }

  /** Cancels the open runs of a flow; returns how many. */
  async cancelFlow(flow: number, act: Act, graceMs?: number): Promise<number> {
    if (graceMs !== undefined) checkMs('graceMs', graceMs);
    return cancelFlow(this.store, checkId(flow), checkAct(act), graceMs);
  }

  async stopFlow(flow: number, act: Act): Promise<number> {
    return stopFlow(this.store, checkId(flow), checkAct(act));
  }

  /** Reopens the runs of a flow that failed or were cancelled; returns them. */
  async retryFlow(flow: number, asker: Asker): Promise<readonly Job[]> {
    return retryFlow(this.store, checkId(flow), checkAsker(asker));
  }

  async requeue(id: number, due: number, asker: Asker): Promise<Job> {
    return requeueJob(this.store, checkId(id), checkTime('due', due), checkAsker(asker));
  }

  async delete(id: number, asker?: Asker): Promise<void> {
    return deleteJob(this, checkId(id), asker === undefined ? null : checkAsker(asker));
  }

  /** Audit entries, newest first. */
  async audited(query: AuditQuery = {}, page?: PageRequest): Promise<AuditPage> {
    return auditRecords(this, query, checkPage(page));
  }

  // For viewers.

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
