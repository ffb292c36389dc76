/** Stint without its engine: the door of jobs on a store, and a bare loop that claims and finishes. */
import type { EngineName } from '../../contender.ts';
import { ownType } from '../../payload.ts';
import type { Entrant, Queue } from '../entrant.ts';

const claimLimit = 1_000;

export const stintStoreOn = (ground: EngineName): Entrant => ({
  name: `Stint store on ${ground === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
  ground,
  peer: 'ours',
  settings: `defaults; a loop that claims and finishes ${claimLimit.toLocaleString('en')} at a time`,
  pace: 'fast',
  open: (at) => open(ground, at),
});

async function open(ground: EngineName, at: string): Promise<Queue> {
  const { openStint } = await import('../../stint.ts');
  const { Worker } = await import('../../worker.ts');
  const contender = await openStint(ground, at);
  let worker: InstanceType<typeof Worker> | undefined;
  return {
    create: (inputs) => contender.create(inputs.map((input) => ({ type: ownType, input }))),
    work: async (handle) => {
      worker = new Worker(contender, handle, claimLimit);
      worker.wake();
    },
    unfinished: () => contender.unfinished(),
    close: async () => {
      await worker?.stop();
      await contender.close();
    },
  };
}
