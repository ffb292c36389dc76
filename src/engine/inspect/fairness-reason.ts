/** The reason of a job whose key waits for its turn. */
import { parseGate } from '../../model/gate.ts';
import type { PendingJob } from '../../model/job.ts';
import { shareKeyOfRun } from '../../model/share.ts';
import type { Store } from '../../store/store.ts';
import type { Reason } from './reason.ts';

/** Returns a reason if the job has a share and other due jobs of its type precede it; otherwise null. */
export async function fairnessReason(store: Store, job: PendingJob): Promise<Reason | null> {
  const share = job.gate === null || job.admitted ? undefined : parseGate(job.gate).share;
  if (share === undefined || job.due > store.now()) return null;
  const [ahead, position] = await Promise.all([store.aheadInShare(job), store.queuePosition(job)]);
  if (ahead === 0 && position === 0) return null;
  const { key, weight } = share;
  const isOfRun = job.parent !== null && key === shareKeyOfRun(job.parent);
  const ofKey = key === '' ? 'the jobs without a key' : isOfRun ? `its ${key}` : `its key ${JSON.stringify(key)}`;
  const before = ahead === 0 ? 'it is the next of them' : `${ahead} of them ${ahead === 1 ? 'is' : 'are'} ahead of it`;
  const starts = weight === 1 ? '1 job starts' : `${weight} jobs start`;
  const says = `it waits for the turn of ${ofKey}, in which ${starts}: ${before}`;
  return { code: 'fairness.waiting', says, detail: { key, weight, ahead } };
}
