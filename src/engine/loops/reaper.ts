/** The reaper: judges what lost holders left behind. Every judgement is an event that names the holder and the phase. */
import { applyEach } from '../../apply.ts';
import { settleAfter } from '../../jobs/settle.ts';
import type { Jobs } from '../../jobs.ts';
import type { Change } from '../../model/change.ts';
import { isRefusal } from '../../refusal.ts';

const lapsedLeaseBatch = 500;

/** Answers how many were judged. */
export async function reap(jobs: Jobs, by: string): Promise<number> {
  const { store } = jobs;
  const lapsed = await store.lapsed(lapsedLeaseBatch);
  if (lapsed.length === 0) return 0;
  const asker = { by, why: 'the lease ran out' };
  const requests = lapsed.map((job) => ({ job, command: { do: 'lapse', fence: job.fence } as const }));
  const answers = await applyEach(store, requests, asker);
  const judged = answers.filter((answer): answer is Change => !isRefusal(answer));
  await settleAfter(store, judged, asker);
  return judged.length;
}
