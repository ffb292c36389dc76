/** One run per type at a time: the clear answer to a run by hand while one is under way. The lock is its key and gate. */
import type { Jobs } from '../jobs.ts';
import { parseGate } from '../model/gate.ts';
import { Refusal } from '../refusal.ts';

export async function refuseWhileBusy(jobs: Jobs, type: string): Promise<void> {
  const behind = await jobs.store.behindGates([type]);
  const isBusy = [...behind].some(([gate, count]) => count > 0 && parseGate(gate).type === type);
  if (!isBusy) return;
  const { jobs: open } = await jobs.find({ types: [type], kinds: ['run'], standings: ['running', 'held', 'pending'] });
  throw busyType(type, open.find(({ admitted }) => admitted)?.id);
}

export const busyType = (type: string, id?: number): Refusal =>
  new Refusal('busy.type', `${id === undefined ? 'a run' : `run ${id}`} of ${type} is under way and only one may be: wait for it, or cancel it`, {
    type,
    ...(id === undefined ? {} : { id }),
  });
