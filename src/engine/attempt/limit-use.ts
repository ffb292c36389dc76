/** The named limits of a job that is executed: its handler can spend more of them, and close one of them. */
import { checkLimitUses } from '../../jobs/checks/limit-uses.ts';
import { parseGate } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import type { LimitUse } from '../../model/limit.ts';
import { shareKeyOfRun, shareUse } from '../../model/share.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { limitNameOf, type JobLimits } from '../handler/context.ts';

export const limitUsesOf = ({ gate }: Pick<Job, 'gate'>): readonly LimitUse[] =>
  gate === null ? [] : (parseGate(gate).uses ?? []);

/**
 * Returns the share of the tasks of a run. They take turns under the key of their run, or each run is a key of its own;
 * empty: they have none.
 */
export function shareUsesOf(
  { id, gate }: Pick<Job, 'id' | 'gate'>,
  taskFairness: 'run' | undefined,
): readonly LimitUse[] {
  const share = gate === null ? undefined : parseGate(gate).share;
  if (taskFairness === 'run') return [{ name: shareUse, key: shareKeyOfRun(id), cost: share?.weight ?? 1 }];
  return share === undefined ? [] : [{ name: shareUse, key: share.key || null, cost: share.weight }];
}

/** Returns what a job uses of a limit. Refuses a limit that the type of the job does not list. */
export function requireUse(job: Pick<Job, 'id' | 'type' | 'gate'>, limit: string): LimitUse {
  const use = limitUsesOf(job).find(({ name }) => name === limit);
  if (use) return use;
  const message = `job ${job.id} does not use the limit ${limit}: list it in the limits of job type ${job.type}`;
  throw new Refusal('limit.unknown', message, { id: job.id, limit });
}

/** Takes `cost` more from the rate of a limit that the job uses. */
export async function spendMore(store: Store, job: Job, limit: string, cost: number): Promise<void> {
  const { name, key } = requireUse(job, limit);
  checkLimitUses([{ name, key, cost }]);
  await store.spendLimit(name, key, cost);
}

/** Closes a limit that the job uses: for the key of the job, until `until`. */
export async function closeFor(store: Store, job: Job, limit: string, until: number): Promise<void> {
  const { name, key } = requireUse(job, limit);
  await store.closeLimit(name, key, until);
}

export const jobLimits = (store: Store, job: Job): JobLimits =>
  ({ spend: (limit, cost) => spendMore(store, job, limitNameOf(limit), cost) });
