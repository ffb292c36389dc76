/**
 * Well-founded waiting: every open job has a living lease, a time to come, or waits for somebody who does. What is
 * overdue is overdue only where somebody lives who should have seen to it.
 */
import { isHandedOff, isOpen, type Job, type RunningJob } from '../model/job.ts';
import type { Instance } from '../store/store.ts';
import { violation, type Violation } from './violation.ts';

export interface WaitingContext {
  readonly now: number;
  readonly instances: ReadonlyMap<string, Instance>;
  /** How long something may be overdue before it is taken for stuck. */
  readonly overdueMs: number;
  /** Those of the parents looked at of which no child is open. */
  readonly childless: ReadonlySet<number>;
}

export const isAttended = ({ instances, now }: WaitingContext): boolean =>
  [...instances.values()].some(({ leaseUntil }) => leaseUntil > now);

export function checkWaiting(job: Job, context: WaitingContext): Violation[] {
  if (!isOpen(job) || !isAttended(context)) return [];
  switch (job.state) {
    case 'running':
      return checkLease(job, context);
    case 'held':
      return job.hold === 'children' && context.childless.has(job.id) && isOld(job, context)
        ? [violation('L3', job.id, `job ${job.id} waits for children, and none of them is open`)]
        : [];
    case 'pending':
      return job.kind === 'def' ? checkTickTime(job, context) : [];
  }
}

/** L1: what lost holders left behind is taken up. L3: a holder that nobody knows will never be missed. */
function checkLease(job: RunningJob, { now, instances, overdueMs }: WaitingContext): Violation[] {
  const { id, lease } = job;
  const until = lease.until ?? instances.get(lease.holder)?.leaseUntil;
  if (until !== undefined && now - until > overdueMs) {
    const sentence = `the lease of ${lease.holder} on job ${id} was over ${now - until} ms ago, and nobody took it up`;
    return [violation('L1', id, sentence)];
  }
  const isOurs = (job.kind === 'run' || job.kind === 'task') && !isHandedOff(job);
  if (until !== undefined || !isOurs) return [];
  return [violation('L3', id, `job ${id} is held by ${lease.holder}, an instance that nobody knows`)];
}

/** L5: ticks are answered in time. */
function checkTickTime({ id, def, due }: Job, { now, overdueMs }: WaitingContext): Violation[] {
  return now - due > overdueMs ? [violation('L5', id, `definition ${def} should have ticked ${now - due} ms ago`)] : [];
}

const isOld = ({ changed }: Job, { now, overdueMs }: WaitingContext): boolean => now - changed > overdueMs;
