/**
 * Before a worker finishes a Bedrock job, checks that the job is handed out. Bedrock has no fences: a request of the
 * worker is accepted until the job is handed out again, even if the lease has lapsed.
 */
import { unknownJob } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import { isLate, type Job } from '../../model/job.ts';
import { step, steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import { isMock } from './data.ts';
import { isGone } from './query.ts';

/**
 * A change whose `after` is the running job, or a refusal if the job is not handed out. If the lease of the job has
 * lapsed, the change gives the job back to its worker. If not, the change has no events.
 */
type Held = Change | Refusal;

export function heldJob(job: Job | undefined, id: number, asking: Asking): Held {
  if (!job || isGone(job)) return unknownJob(id);
  if (job.state === 'running') return { before: job, after: job, events: [] };
  if (isLate(job)) return step(job, { do: 'reclaim', holder: asking.by }, asking);
  const message = `job ${id} is ${job.state}: only what is handed out can be finished`;
  return new Refusal('wrong.state', message, { id, state: job.state });
}

/**
 * Like `heldJob`, but claims a mock that is not running instead of refusing it: a mock can be finished in any state.
 */
export function heldOrMock(job: Job | undefined, id: number, asking: Asking): Held {
  const held = heldJob(job, id, asking);
  if (!(held instanceof Refusal) || held.code !== 'wrong.state' || !job || !isMock(job)) return held;
  return steps(job, [{ do: 'requeue', due: asking.now }, { do: 'claim', holder: asking.by, until: null }], asking);
}
