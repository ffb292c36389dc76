/** The versions of definitions, by which a caller knows which of them have changed. */
import { deepEqual } from 'node:assert/strict';
import type { Topic } from './world.ts';

export const definitionVersions: Topic = {
  name: 'definition versions',
  examples: {
    'definitions that have not ended are returned in the order of their ids, page by page': async (world) => {
      const defs = await world.createAll(['c', 'a', 'b'].map((def) => ({ kind: 'def', def })));
      await world.createAll([{ def: 'a' }, { kind: 'task', def: 'a' }, { kind: 'bedrock' }]);
      await world.createEnded({ kind: 'def', def: 'ended' });
      const ids = defs.map(({ id }) => id);
      const all = ids.map((id) => ({ id, version: 1 }));
      deepEqual(await world.store.definitionVersions(0, 10), all);
      deepEqual(await world.store.definitionVersions(0, 2), all.slice(0, 2));
      deepEqual(await world.store.definitionVersions(ids[1]!, 2), all.slice(2));
      deepEqual(await world.store.definitionVersions(ids[2]!, 2), []);
    },

    'the version of a definition changes with each change of it': async (world) => {
      const created = await world.create({ kind: 'def', def: 'a' });
      const paused = await world.apply(created, { do: 'pause' });
      deepEqual(await world.store.definitionVersions(0, 10), [{ id: created.id, version: paused.version }]);
      await world.apply(paused, { do: 'stop', code: 'user' });
      deepEqual(await world.store.definitionVersions(0, 10), []);
    },
  },
};
