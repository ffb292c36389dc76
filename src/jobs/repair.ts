/**
 * Repair: decides what becomes of claimed jobs that no worker finishes, and settles their parents afterwards. Each
 * command carries the fence that was read, so a job that was claimed again meanwhile stays with its new holder.
 */
import { applyEach, isChange, type Asker } from '../apply.ts';
import type { Command } from '../model/command.ts';
import type { Job } from '../model/job.ts';
import type { Store } from '../store/store.ts';
import { settleAfter } from './settle.ts';

/** Why a store has claims in an instance's name that the instance does not know. */
export type UnknownClaimCause = 'lost answer' | 'previous process';

/** How many jobs one call repairs at most. */
export const repairBatch = 500;

/** A handler may have been at work: counts as a crash. */
const lapse = ({ fence }: Job): Command => ({ do: 'lapse', fence });
/** No handler was called: the attempt does not count. */
const release = ({ fence }: Job): Command => ({ do: 'release', fence });

/** Repairs jobs whose lease has lapsed; returns how many. */
export async function repairLapsed(store: Store, by: string): Promise<number> {
  return repair(store, await store.lapsed(repairBatch), lapse, { by, why: 'the lease ran out' });
}

/**
 * Repairs claims in this instance's name that it does not know; returns how many. No other instance does: their holder
 * is alive. Must not be called while a claim is in flight, because its jobs become known with the answer.
 */
export async function repairUnknownClaims(
  store: Store,
  by: string,
  isKnown: (job: Job) => boolean,
  cause: UnknownClaimCause,
): Promise<number> {
  const unknown = (await store.heldBy(by, repairBatch)).filter((job) => !isKnown(job));
  return cause === 'previous process'
    ? repair(store, unknown, lapse, { by, why: 'claimed by a previous process of this instance' })
    : repair(store, unknown, release, { by, why: 'the answer to the claim was lost' });
}

async function repair(
  store: Store,
  jobs: readonly Job[],
  commandFor: (job: Job) => Command,
  asker: Asker,
): Promise<number> {
  if (jobs.length === 0) return 0;
  const answers = await applyEach(store, jobs.map((job) => ({ job, command: commandFor(job) })), asker);
  const repaired = answers.filter(isChange);
  await settleAfter(store, repaired, asker);
  return repaired.length;
}
