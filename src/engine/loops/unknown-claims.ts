/**
 * Unknown claims: claims in this instance's name without an attempt here. The reply was lost, or an earlier process of
 * this name crashed. No other instance repairs them while this one lives.
 */
import { applyEach } from '../../apply.ts';
import { settleAfter } from '../../jobs/settle.ts';
import type { Jobs } from '../../jobs.ts';
import type { Change } from '../../model/change.ts';
import type { Job } from '../../model/job.ts';
import { isRefusal } from '../../refusal.ts';

const unknownClaimBatch = 500;

/** How they came to be: it counts as a crash where a handler may have been at work on them. */
export type UnknownClaimCause = 'lost answer' | 'previous process';

/** Releases them; answers how many. Not while a claim is under way: its jobs are known only when it is answered. */
export async function releaseUnknownClaims(
  jobs: Jobs,
  by: string,
  isKnown: (job: Job) => boolean,
  cause: UnknownClaimCause,
): Promise<number> {
  const { store } = jobs;
  const found = (await store.heldBy(by, unknownClaimBatch)).filter((job) => !isKnown(job));
  if (found.length === 0) return 0;
  const isLost = cause === 'previous process';
  const asker = { by, why: isLost ? 'held by a former instance of this name' : 'the answer to its claim was lost' };
  const requests = found.map((job) =>
    ({ job, command: { do: isLost ? 'lapse' : 'release', fence: job.fence } as const }));
  const answers = await applyEach(store, requests, asker);
  const released = answers.filter((answer): answer is Change => !isRefusal(answer));
  await settleAfter(store, released, asker);
  return released.length;
}
