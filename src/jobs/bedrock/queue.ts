/** The queue: jobs that external workers fetch by name, by the rules of Bedrock::Jobs. */
import type { Asker } from '../../apply.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';
import type { CreationHook } from '../creation-hook.ts';
import type { Ids } from '../ids.ts';
import type { Producer } from '../new-jobs.ts';
import { cancel, fail, remove, requeue, update, type RequeueRequest, type UpdateRequest } from './change.ts';
import { createQueued, type QueueDraft } from './create.ts';
import { finish, retry, type FinishRequest, type RetryRequest } from './finish.ts';
import { handOut, releaseHandedOut, type HandOut, type HandOutRequest } from './hand-out.ts';
import { queuedJob } from './query.ts';

export class Queue {
  readonly store: Store;
  readonly ids: Ids;
  readonly creating: CreationHook | null;

  constructor({ store, ids, creating = null }: Producer) {
    this.store = store;
    this.ids = ids;
    this.creating = creating;
  }

  /**
   * Creates all jobs or none, and returns their ids. If a unique job exists already, the id of the existing job is
   * returned for it.
   */
  create(drafts: readonly QueueDraft[], isMock: boolean, by: string): Promise<number[]> {
    return createQueued(this, drafts, isMock, by);
  }

  handOut(request: HandOutRequest): Promise<HandOut> {
    return handOut(this.store, request);
  }

  release(jobs: readonly RunningJob[], asker: Asker): Promise<void> {
    return releaseHandedOut(this.store, jobs, asker);
  }

  get(id: number): Promise<Job | null> {
    return queuedJob(this.store, id);
  }

  finish(request: FinishRequest, asker: Asker): Promise<void> {
    return finish(this.store, request, asker);
  }

  retry(request: RetryRequest, asker: Asker): Promise<void> {
    return retry(this.store, request, asker);
  }

  fail(id: number, data: string | undefined, asker: Asker): Promise<void> {
    return fail(this.store, id, data, asker);
  }

  update(request: UpdateRequest, asker: Asker): Promise<void> {
    return update(this.store, request, asker);
  }

  cancel(id: number, asker: Asker): Promise<void> {
    return cancel(this.store, id, asker);
  }

  delete(id: number, asker: Asker): Promise<void> {
    return remove(this.store, id, asker);
  }

  requeue(request: RequeueRequest, asker: Asker): Promise<void> {
    return requeue(this.store, request, asker);
  }
}
