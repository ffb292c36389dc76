/** One run per type at a time: the clear answer to a run by hand while one is under way. Its key and gate are the lock. */
import type { Jobs } from '../../jobs.ts';
import { parseGate } from '../../model/gate.ts';
import { Refusal } from '../../refusal.ts';

export async function refuseWhileBusy(jobs: Jobs, type: string): Promise<void> {
  const behind = await jobs.store.behindGates([type]);
  const isBusy = [...behind].some(([gate, count]) => count > 0 && parseGate(gate).type === type);
  if (!isBusy) return;
  const { jobs: open } = await jobs.find({ types: [type], kinds: ['run'], standings: ['running', 'held', 'pending'] });
  throw busyType(type, open.find(({ admitted }) => admitted)?.id);
}

export function busyType(type: string, id?: number): Refusal {
  const run = id === undefined ? 'a run' : `run ${id}`;
  const message = `${run} of ${type} is under way and only one may be: wait for it, or cancel it`;
  return new Refusal('busy.type', message, { type, ...(id === undefined ? {} : { id }) });
}
