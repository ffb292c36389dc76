/** Start limits: cancels runs that were not started in time, whether or not a worker could have claimed them. */
import { applyEach, isChange, type Asker } from '../apply.ts';
import { isTooLateToStart } from '../model/machine.ts';
import type { Store } from '../store/store.ts';
import { settleAfter } from './settle.ts';

export interface StartLimitPage {
  readonly cancelled: number;
  /** Where the next page begins; null: at the oldest run again. */
  readonly next: number | null;
}

const pageSize = 1000;

/** Looks through one page of the runs that are due: no index has their limits, and a queue may have a million. */
export async function cancelUnstarted(store: Store, after: number | null, asker: Asker): Promise<StartLimitPage> {
  const now = store.now();
  const query = { kinds: ['run'], standings: ['pending'], dueBefore: now } as const;
  const from = after === null ? {} : { after };
  const { jobs, next } = await store.find(query, { order: 'oldest', limit: pageSize, ...from });
  const late = jobs.filter((job) => isTooLateToStart(job, now));
  const requests = late.map((job) => ({ job, command: { do: 'expire' } as const }));
  const answers = (await applyEach(store, requests, { ...asker, why: 'not started in time' })).filter(isChange);
  await settleAfter(store, answers, asker);
  return { cancelled: answers.length, next };
}
