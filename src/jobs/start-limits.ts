/**
 * Start limits: cancels pending runs that have not started by their `startBy`, even if no worker exists that could
 * claim them.
 */
import { applyEach, isChange, type Asker } from '../apply.ts';
import { isTooLateToStart } from '../model/machine.ts';
import type { Store } from '../store/store.ts';
import { settleAfter } from './settle.ts';

export interface StartLimitPage {
  readonly cancelled: number;
  /** The `after` of the next call; null: all pages are done, and the next call starts with the oldest run. */
  readonly next: number | null;
}

const pageSize = 1000;

/**
 * Cancels the runs of one page that are past their `startBy`. Pages contain all due runs, because no index has
 * `startBy`. One call reads one page only, because a queue may have a million due runs.
 */
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
