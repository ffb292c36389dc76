/** Stint without an engine: `Jobs` on a store, and a loop that claims and finishes. */
import type { DatabaseName } from '../../target.ts';
import { ownType } from '../../payload.ts';
import type { Peer, Queue } from '../peer.ts';

const claimLimit = 1_000;

export const stintStoreOn = (database: DatabaseName): Peer => ({
  name: `Stint store on ${database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
  database,
  package: 'ours',
  settings: `defaults; a loop that claims and finishes ${claimLimit.toLocaleString('en')} at a time`,
  pace: 'fast',
  open: (location) => open(database, location),
});

async function open(database: DatabaseName, location: string): Promise<Queue> {
  const { openStint } = await import('../../stint.ts');
  const { Worker } = await import('../../worker.ts');
  const target = await openStint(database, location);
  let worker: InstanceType<typeof Worker> | undefined;
  return {
    create: (inputs) => target.create(inputs.map((input) => ({ type: ownType, input }))),
    work: async (handle) => {
      worker = new Worker(target, handle, claimLimit);
      worker.wake();
    },
    unfinished: () => target.unfinished(),
    close: async () => {
      await worker?.stop();
      await target.close();
    },
  };
}
