/**
 * Foundlings: jobs that are held in the name of this instance, and nobody here knows of. The answer to their claim was
 * lost, or an instance of this name ended without a word. Nobody else would miss them while this instance lives.
 */
import { applyEach } from '../../apply.ts';
import { settleAfter } from '../../jobs/settle.ts';
import type { Jobs } from '../../jobs.ts';
import type { Change } from '../../model/change.ts';
import type { Job } from '../../model/job.ts';
import { isRefusal } from '../../refusal.ts';

const batch = 500;

/** How they came to be: it counts as a crash where a handler may have been at work on them. */
export type Cause = 'lost answer' | 'former life';

/** Gives them back; answers how many. Not while a claim is under way, whose jobs are known only when it is answered. */
export async function giveBackFoundlings(
  jobs: Jobs,
  by: string,
  isKnown: (job: Job) => boolean,
  cause: Cause,
): Promise<number> {
  const { store } = jobs;
  const found = (await store.heldBy(by, batch)).filter((job) => !isKnown(job));
  if (found.length === 0) return 0;
  const isLost = cause === 'former life';
  const asker = { by, why: isLost ? 'held by a former instance of this name' : 'the answer to its claim was lost' };
  const asks = found.map((job) => ({ job, command: { do: isLost ? 'lapse' : 'release', fence: job.fence } as const }));
  const answers = await applyEach(store, asks, asker);
  const given = answers.filter((answer): answer is Change => !isRefusal(answer));
  await settleAfter(store, given, asker);
  return given.length;
}
