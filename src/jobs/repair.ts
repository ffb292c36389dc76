/**
 * Repair: fails, retries or releases claimed jobs whose lease has lapsed or that their holder does not know of, and
 * then settles their parents. Each command has the fence that was read, so it is refused if the job has been claimed
 * again since.
 */
import { applyEach, isChange, type Asker } from '../apply.ts';
import type { Command } from '../model/command.ts';
import type { Job } from '../model/job.ts';
import type { Holding, Instance, Store } from '../store/store.ts';
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
  const lapsed = await store.lapsed(repairBatch);
  const gathered = lapsed.some(mayBeGathered) ? gatheredBy(await store.instances()) : noneGathered;
  return repair(store, lapsed, commandBy(gathered), { by, why: 'the lease ran out' });
}

/** Whether a claimed job is one that its instance had gathered for a batch, without calling the handler. */
export type IsGathered = (job: Job) => boolean;

export const noneGathered: IsGathered = () => false;

/** Only a job of a type with batches waits for others of its batch, under the lease of its instance. */
const mayBeGathered = (job: Job): boolean =>
  job.state === 'running' && job.policy.batchMax !== undefined && job.lease.until === null;

/** Returns which jobs these instances had gathered at their last heartbeat. */
export function gatheredBy(instances: readonly Instance[]): IsGathered {
  const gathered = new Map(instances.map(({ id, about }) => [id, new Set(about.gathered?.map(nameOf))]));
  return (job) => mayBeGathered(job) && job.state === 'running' && gathered.get(job.lease.holder)?.has(nameOf(job)) === true;
}

const nameOf = ({ id, fence }: Holding): string => `${id}/${fence}`;

const commandBy = (isGathered: IsGathered) => (job: Job): Command => (isGathered(job) ? release(job) : lapse(job));

export interface KnownClaims {
  readonly count: number;
  readonly has: (job: Job) => boolean;
}

/**
 * Repairs jobs that this instance holds according to the store but does not know of; returns how many. Other instances
 * do not repair these jobs, because the lease of this instance has not lapsed. Must not be called during a claim: the
 * instance knows the claimed jobs only after the claim has returned. `isGathered` tells which of them a previous process
 * had gathered.
 */
export async function repairUnknownClaims(
  store: Store,
  by: string,
  known: KnownClaims,
  cause: UnknownClaimCause,
  isGathered: IsGathered = noneGathered,
): Promise<number> {
  for (let total = 0; ; ) {
    // The store also returns the known claims, so the limit is raised by their number.
    const unknown = (await store.heldUnderLeaseOf(by, known.count + repairBatch)).filter((job) => !known.has(job));
    const repaired = await repairBy(cause, store, unknown, by, isGathered);
    total += repaired;
    if (unknown.length < repairBatch || repaired === 0) return total;
  }
}

const repairBy = (
  cause: UnknownClaimCause,
  store: Store,
  jobs: readonly Job[],
  by: string,
  isGathered: IsGathered,
): Promise<number> =>
  cause === 'previous process'
    ? repair(store, jobs, commandBy(isGathered), { by, why: 'claimed by a previous process of this instance' })
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
