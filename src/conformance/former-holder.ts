/** Tries to write a note under fences that hold the job no more; returns the id of the job, which has ended. */
import { deepEqual } from 'node:assert/strict';
import type { Note } from '../store/store.ts';
import type { World } from './world.ts';

export async function writeAsFormerHolder(world: World, what: Omit<Note, 'id' | 'fence'>): Promise<number> {
  const job = await world.createRunning();
  const note = { ...what, id: job.id, fence: job.fence };
  await world.apply(job, { do: 'release', fence: job.fence });
  deepEqual(await world.store.writeNotes([note]), [false], 'given back');
  const [again] = await world.claim();
  deepEqual(await world.store.writeNotes([note]), [false], 'held by another');
  await world.apply(again!, { do: 'succeed', fence: again!.fence });
  deepEqual(await world.store.writeNotes([{ ...note, fence: again!.fence }]), [false], 'ended');
  return job.id;
}
