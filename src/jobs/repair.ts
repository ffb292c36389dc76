/**
 * Repair: fails, retries or releases claimed jobs whose lease has lapsed or that their holder does not know of, and
 * then settles their parents. Each command has the fence that was read, so it is refused if the job has been claimed
 * again since.
 */
import { applyEach, isChange, type Asker } from '../apply.ts';
import type { Command } from '../model/command.ts';
import type { Job } from '../model/job.ts';
import type { Store } from '../store/store.ts';
import { settleAfter } from './settle.ts';

/**
 * Why the store says that an instance holds a job that the instance does not know of. `lost answer`: the claim was
 * committed, but its answer was lost. `previous process`: an earlier process with the same instance name claimed the
 * job.
 */
export type UnknownClaimCause = 'lost answer' | 'previous process';

export const repairBatch = 500;

/** For a job whose handler may have started: the attempt counts as a crash. */
const lapse = ({ fence }: Job): Command => ({ do: 'lapse', fence });
/** For a job whose handler was not called: the job returns to the queue, and the attempt does not count. */
const release = ({ fence }: Job): Command => ({ do: 'release', fence });

/** Repairs at most `repairBatch` jobs whose lease has lapsed; returns how many. */
export async function repairLapsed(store: Store, by: string): Promise<number> {
  return repair(store, await store.lapsed(repairBatch), lapse, { by, why: 'the lease ran out' });
}

export interface KnownClaims {
  readonly count: number;
  readonly has: (job: Job) => boolean;
}

/**
 * Repairs jobs that this instance holds according to the store but does not know of; returns how many. Other instances
 * do not repair these jobs, because the lease of this instance has not lapsed. Must not be called during a claim: the
 * instance knows the claimed jobs only after the claim has returned.
 */
export async function repairUnknownClaims(
  store: Store,
  by: string,
  known: KnownClaims,
  cause: UnknownClaimCause,
): Promise<number> {
  for (let total = 0; ; ) {
    // The store also returns the known claims, so the limit is raised by their number.
    const unknown = (await store.heldUnderLeaseOf(by, known.count + repairBatch)).filter((job) => !known.has(job));
    const repaired = await repairBy(cause, store, unknown, by);
    total += repaired;
    if (unknown.length < repairBatch || repaired === 0) return total;
  }
}

const repairBy = (cause: UnknownClaimCause, store: Store, jobs: readonly Job[], by: string): Promise<number> =>
  cause === 'previous process'
    ? repair(store, jobs, lapse, { by, why: 'claimed by a previous process of this instance' })
    : repair(store, jobs, release, { by, why: 'the answer to the claim was lost' });

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
