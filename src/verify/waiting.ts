/**
 * L1, L3, L5: every open job waits for something that will happen: the end of its lease, its due time, or the end of
 * other jobs. A job counts as overdue only while an instance is alive, because only an instance can continue it.
 */
import { isHandedOff, isOpen, type HeldJob, type Job, type RunningJob } from '../model/job.ts';
import { isLive, type Instance } from '../store/store.ts';
import { violation, type Violation } from './violation.ts';

export interface WaitingContext {
  readonly now: number;
  readonly instances: ReadonlyMap<string, Instance>;
  /** How long a repair, the continuation of a parent, or a tick may be overdue before it counts as stuck. */
  readonly overdueMs: number;
  /** The ids of the checked jobs that wait for children, although none of their children is open. */
  readonly childless: ReadonlySet<number>;
  /** The ids of the checked jobs that wait for runs, although they should have continued or ended. */
  readonly stalled: ReadonlySet<number>;
}

export const isAttended = ({ instances, now }: WaitingContext): boolean =>
  [...instances.values()].some((each) => isLive(each, now));

export function checkWaiting(job: Job, context: WaitingContext): Violation[] {
  if (!isOpen(job) || !isAttended(context)) return [];
  switch (job.state) {
    case 'running':
      return checkLease(job, context);
    case 'held':
      return isOld(job, context) ? checkHold(job, context) : [];
    case 'pending':
      return job.kind === 'def' ? checkTickTime(job, context) : [];
  }
}

/** L3: a job waits only for jobs that are open. */
function checkHold({ id, hold }: HeldJob, { childless, stalled }: WaitingContext): Violation[] {
  if (hold === 'children' && childless.has(id)) {
    return [violation('L3', id, `job ${id} waits for children, and none of them is open`)];
  }
  if (hold !== 'runs' || !stalled.has(id)) return [];
  return [violation('L3', id, `job ${id} waits for runs that have ended`)];
}

/**
 * L1: a job whose lease has lapsed is repaired. L3: the holder of a run or task that was not handed off is a registered
 * instance; otherwise nobody would notice the loss of the holder.
 */
function checkLease(job: RunningJob, { now, instances, overdueMs }: WaitingContext): Violation[] {
  const { id, lease } = job;
  const until = lease.until ?? instances.get(lease.holder)?.leaseUntil;
  if (until !== undefined && now - until > overdueMs) {
    const sentence = `the lease of ${lease.holder} on job ${id} lapsed ${now - until} ms ago and was not repaired`;
    return [violation('L1', id, sentence)];
  }
  const isEngineJob = (job.kind === 'run' || job.kind === 'task') && !isHandedOff(job);
  if (until !== undefined || !isEngineJob) return [];
  return [violation('L3', id, `job ${id} is held by ${lease.holder}, which is not a registered instance`)];
}

/** L5: ticks are handled in time. */
function checkTickTime({ id, def, due }: Job, { now, overdueMs }: WaitingContext): Violation[] {
  return now - due > overdueMs ? [violation('L5', id, `definition ${def} should have ticked ${now - due} ms ago`)] : [];
}

const isOld = ({ changed }: Job, { now, overdueMs }: WaitingContext): boolean => now - changed > overdueMs;
