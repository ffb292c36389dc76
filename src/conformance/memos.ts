/** Memos: a memo is written only under the version that was read, and in one commit with changes of jobs. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Topic, World } from './world.ts';

const first = { name: 'alert/a', version: 0, value: '{"n":1}' };

const valuesOf = async (world: World, prefix = ''): Promise<readonly (readonly unknown[])[]> =>
  (await world.store.memos(prefix)).map(({ name, version, value }) => [name, version, JSON.parse(value) as unknown]);

export const memos: Topic = {
  name: 'memos',
  examples: {
    'memos are returned as they were written, by the beginning of their names, in the order of names': async (world) => {
      const names = ['b', 'alert/b_', 'alert/b%', 'alert/ä', 'alert/B', 'Alert/b'];
      equal(await world.store.writeMemos(names.map((name) => ({ name, version: 0, value: '{"ü":"\'\\\\"}' }))), true);
      deepEqual((await world.store.memos('alert/')).map(({ name }) => name), ['alert/B', 'alert/b%', 'alert/b_', 'alert/ä']);
      deepEqual((await world.store.memos('alert/b_')).map(({ name }) => name), ['alert/b_']);
      deepEqual(await valuesOf(world, 'Alert'), [['Alert/b', 1, { ü: '\'\\' }]]);
    },

    'a memo is written under the version that was read only': async (world) => {
      equal(await world.store.writeMemos([first]), true);
      equal(await world.store.writeMemos([{ ...first, value: '{"n":2}' }]), false);
      equal(await world.store.writeMemos([{ ...first, version: 1, value: '{"n":3}' }]), true);
      equal(await world.store.writeMemos([{ ...first, version: 1, value: null }]), false);
      equal(await world.store.writeMemos([{ name: 'none', version: 1, value: '{}' }]), false);
      equal(await world.store.writeMemos([{ name: 'none', version: 1, value: null }]), false);
      deepEqual(await valuesOf(world), [['alert/a', 2, { n: 3 }]]);
      equal(await world.store.writeMemos([{ ...first, version: 2, value: null }]), true);
      equal(await world.store.writeMemos([first]), true);
      deepEqual(await valuesOf(world), [['alert/a', 1, { n: 1 }]]);
    },

    'memos and changes are written all or none': async (world) => {
      const job = await world.newJob({ type: 'mail' });
      equal(await world.store.writeMemos([first, { name: 'other', version: 7, value: '{}' }], [job]), false);
      deepEqual([await valuesOf(world), (await world.store.find({ types: ['mail'] })).jobs.length], [[], 0]);
      equal(await world.store.writeMemos([first], [job]), true);
      equal((await world.store.find({ types: ['mail'] })).jobs.length, 1);
      equal(await world.store.writeMemos([{ ...first, version: 1, value: '{"n":2}' }], [job]), false);
      deepEqual(await valuesOf(world), [['alert/a', 1, { n: 1 }]]);
    },

    'of connections that write the same memo at once, one succeeds': async (world) => {
      const stores = [world.store, await world.again(), await world.again()];
      const jobs = await Promise.all(stores.map(() => world.newJob({ type: 'mail' })));
      const written = await Promise.all(stores.map((store, index) => store.writeMemos([first], [jobs[index]!])));
      equal(written.filter(Boolean).length, 1);
      equal((await world.store.find({ types: ['mail'] })).jobs.length, 1);
    },
  },
};
