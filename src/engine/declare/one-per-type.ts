/**
 * One run per type: refuses a manual run that is due now while another run of the type is admitted. The gate of the
 * type also enforces the limit, but it would make the new run wait instead of refusing it.
 */
import type { Jobs } from '../../jobs.ts';
import type { Draft } from '../../jobs/draft.ts';
import { parseGate } from '../../model/gate.ts';
import { Refusal } from '../../refusal.ts';

/**
 * Returns the drafts that would create a run that is due now. A draft whose unique key is taken creates no run: the
 * request returns the job that has the key.
 */
export async function newToStart(jobs: Jobs, drafts: readonly Draft[], now: number): Promise<readonly Draft[]> {
  const starting = drafts.filter(({ due }) => due! <= now);
  const taken = await jobs.store.jobsByKey(starting.flatMap(({ unique }) => unique?.key ?? []));
  return starting.filter(({ unique }) => unique === undefined || !taken.has(unique.key));
}

export async function refuseIfAdmitted(jobs: Jobs, type: string): Promise<void> {
  const admitted = await jobs.store.admittedPerGate([type]);
  const isBusy = [...admitted].some(([gate, count]) => count > 0 && parseGate(gate).type === type);
  if (!isBusy) return;
  const { jobs: open } = await jobs.find({ types: [type], kinds: ['run'], standings: ['running', 'held', 'pending'] });
  throw busyType(type, open.find(({ admitted }) => admitted)?.id);
}

export function busyType(type: string, id?: number): Refusal {
  const run = id === undefined ? 'a run' : `run ${id}`;
  const message = `${run} of type ${type} is open, and only one may be at a time: wait for it or cancel it`;
  return new Refusal('busy.type', message, { type, ...(id === undefined ? {} : { id }) });
}
