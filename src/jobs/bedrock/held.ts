/**
 * A job in the hands of its worker. Bedrock has no fences: a worker's message counts while no other worker has the job.
 */
import { unknownJob } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import { isLate, type Job } from '../../model/job.ts';
import { step, steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import { isMock } from './data.ts';
import { isGone } from './query.ts';

/** The running job; of one whose lease had lapsed, with the change that gives it back to its worker. */
type Held = Change | Refusal;

export function heldJob(job: Job | undefined, id: number, asking: Asking): Held {
  if (!job || isGone(job)) return unknownJob(id);
  if (job.state === 'running') return { before: job, after: job, events: [] };
  if (isLate(job)) return step(job, { do: 'reclaim', holder: asking.by }, asking);
  const message = `job ${id} is ${job.state}: only what is handed out can be finished`;
  return new Refusal('wrong.state', message, { id, state: job.state });
}

/** A mock can be finished from any state: it is claimed first. */
export function heldOrMock(job: Job | undefined, id: number, asking: Asking): Held {
  const held = heldJob(job, id, asking);
  if (!(held instanceof Refusal) || held.code !== 'wrong.state' || !job || !isMock(job)) return held;
  return steps(job, [{ do: 'requeue', due: asking.now }, { do: 'claim', holder: asking.by, until: null }], asking);
}
