/**
 * A job in the hands of its worker. Bedrock has no fences: a worker's message counts while no other worker has the job.
 */
import { unknownJob } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import type { Job } from '../../model/job.ts';
import { steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { isMock } from './data.ts';
import { isGone } from './query.ts';

/** The running job; if it had to be claimed first, the change that claims it. */
type Held = Change | Refusal;

export async function heldJob(store: Store, job: Job | undefined, id: number, asking: Asking): Promise<Held> {
  if (!job || isGone(job)) return unknownJob(id);
  if (job.state === 'running') return { before: job, after: job, events: [] };
  if (await isWorkerLate(store, job)) return steps(job, [{ do: 'claim', holder: asking.by, until: null }], asking);
  const message = `job ${id} is ${job.state}: only a job that is handed out can be finished`;
  return new Refusal('wrong.state', message, { id, state: job.state });
}

/** A mock can be finished from any state: it is claimed first. */
export async function heldOrMock(store: Store, job: Job | undefined, id: number, asking: Asking): Promise<Held> {
  const held = await heldJob(store, job, id, asking);
  if (!(held instanceof Refusal) || held.code !== 'wrong.state' || !job || !isMock(job)) return held;
  return steps(job, [{ do: 'requeue', due: asking.now }, { do: 'claim', holder: asking.by, until: null }], asking);
}

/** Whether the job is due to be handed out again and no other worker has claimed it yet. */
async function isWorkerLate(store: Store, job: Job): Promise<boolean> {
  if (job.state !== 'pending' || job.policy.retryAfter === undefined || job.crashes === 0) return false;
  const [last] = await store.history(job.id, job.version, 1);
  return last?.kind === 'lapsed';
}
