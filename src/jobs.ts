/** The door: all that may be asked of jobs, by producers, workers, operators and onlookers. */
import type { Answer, Ask, Asker } from './apply.ts';
import { createChildren, createJobs, type Created } from './jobs/create.ts';
import { checkId, type Draft } from './jobs/draft.ts';
import { Ids } from './jobs/ids.ts';
import { cancelJob, deleteJob, editJob, pauseJob, requeueJob, resumeJob, retryJob, stopJob, type Act } from './jobs/operate.ts';
import { claimJobs, conclude, type WorkAsk } from './jobs/work.ts';
import type { Edit, Event } from './model/event.ts';
import type { Job, JobError, RunningJob } from './model/job.ts';
import { Refusal } from './refusal.ts';
import type { Page, PageAsk, Query, Tally } from './store/query.ts';
import type { Feed, Holding, Store } from './store/store.ts';

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

  createMany(drafts: readonly Draft[], by: string): Promise<readonly Created[]> {
    return createJobs(this, drafts, by);
  }

  /** In the caller's own transaction: the job exists if and when that commits. */
  createWithin(transaction: unknown, drafts: readonly Draft[], by: string): Promise<readonly Created[]> {
    return createJobs(this, drafts, by, this.store.within(transaction));
  }

  createChildren(parent: number, drafts: readonly Draft[], by: string, fence?: number): Promise<readonly Job[]> {
    return createChildren(this, checkId(parent), drafts, by, fence);
  }

  // For workers.

  claim(ask: WorkAsk): Promise<readonly RunningJob[]> {
    return claimJobs(this.store, ask);
  }

  extend(holdings: readonly Holding[], leaseMs: number): Promise<readonly boolean[]> {
    return this.store.extend(holdings, this.store.now() + leaseMs);
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

  /** Many outcomes in as few writes as possible. */
  conclude(asks: readonly Ask[], asker: Asker): Promise<readonly Answer[]> {
    return conclude(this.store, asks, asker);
  }

  // For operators.

  cancel(id: number, act: Act, graceMs?: number): Promise<Job> {
    return cancelJob(this.store, checkId(id), act, graceMs);
  }

  stop(id: number, act: Act): Promise<Job> {
    return stopJob(this.store, checkId(id), act);
  }

  pause(id: number, asker: Asker): Promise<Job> {
    return pauseJob(this.store, checkId(id), asker);
  }

  resume(id: number, asker: Asker): Promise<Job> {
    return resumeJob(this.store, checkId(id), asker);
  }

  retry(id: number, asker: Asker, only?: 'failed'): Promise<Job> {
    return retryJob(this.store, checkId(id), asker, only);
  }

  requeue(id: number, due: number, asker: Asker): Promise<Job> {
    return requeueJob(this.store, checkId(id), due, asker);
  }

  edit(id: number, edit: Edit, asker: Asker): Promise<Job> {
    return editJob(this.store, checkId(id), edit, asker);
  }

  delete(id: number): Promise<void> {
    return deleteJob(this.store, checkId(id));
  }

  // For onlookers.

  async get(id: number): Promise<Job | null> {
    return (await this.store.load([checkId(id)]))[0] ?? null;
  }

  find(query: Query, page?: PageAsk): Promise<Page> {
    return this.store.find(query, page);
  }

  count(query: Query = {}): Promise<readonly Tally[]> {
    return this.store.count(query);
  }

  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.store.history(checkId(id), from, limit);
  }

  events(cursor: string | null, limit = 1000): Promise<Feed> {
    return this.store.eventsAfter(cursor, limit);
  }

  async #one(ask: Ask, asker: Asker): Promise<Job> {
    const [answer] = await this.conclude([ask], asker);
    if (answer instanceof Refusal) throw answer;
    return answer!.after!;
  }
}
