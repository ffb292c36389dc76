/** Fair share: the keys of a type take turns, whatever waits under each of them. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { never } from '../model/definition.ts';
import { gateText, parseGate, type Gate, type Limits } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import { gateLaneRows } from '../store/gate-admission.ts';
import type { JobSpec, Taking, Topic, World } from './world.ts';

const work = { kinds: ['run', 'task'], names: { exact: ['fair'] } } satisfies Taking;

function shared(key: string, more: JobSpec = {}, weight = 1, fields: Partial<Gate> = {}): JobSpec {
  const gate = { type: 'fair', def: null, key: null, leaderOnly: false, share: { key, weight }, ...fields };
  return { type: gate.type, gate: gateText(gate), ...more };
}

const many = (count: number, spec: JobSpec): JobSpec[] => Array.from({ length: count }, () => spec);

/** More jobs than a claim of this many reads from a lane, so that the keys are found by seeks. */
const beyond = (limit: number): number => gateLaneRows(limit) + 10;

const keyOf = ({ gate }: Job): string => parseGate(gate!).share!.key;

/** Claims up to `limit` jobs, and returns how many of each key. */
async function claimedPerKey(world: World, limit: number, taking: Taking = {}): Promise<Record<string, number>> {
  const jobs = await world.claim({ ...work, ...taking, limit });
  const counts = [...Map.groupBy(jobs, keyOf)].map(([key, same]) => [key, same.length] as const);
  return Object.fromEntries(counts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Claims one job at a time, and returns their keys. */
async function keysInTurn(world: World, count: number, taking: Taking = {}): Promise<string> {
  const keys: string[] = [];
  for (let n = 0; n < count; n++) keys.push(...(await world.claim({ ...work, ...taking, limit: 1 })).map(keyOf));
  return keys.join(' ');
}

/** Asserts that the keys came in this order; an instance begins at any of them. */
function equalInTurns(keys: string, round: string, rounds: number): void {
  const [taken, order] = [keys.split(' '), round.split(' ')];
  const starts = order.flatMap((key, n) => (n === 0 || key !== order[n - 1] ? [n] : []));
  const expected = starts.map((start) =>
    Array.from({ length: rounds }, () => [...order.slice(start), ...order.slice(0, start)]).flat().join(' '));
  ok(expected.includes(taken.join(' ')), `${keys} is not ${expected.join(', nor ')}`);
}

/** Tries the example with few jobs, which one statement reads, and with many. */
const fewAndMany = (example: (world: World, count: number) => Promise<void>) => async (world: World) => {
  await example(world, 4);
  await world.claim({ ...work, limit: 10_000 });
  await example(world, beyond(10));
};

async function admittedCount({ store }: World): Promise<number> {
  return [...(await store.admittedPerGate(['fair'])).values()].reduce((sum, count) => sum + count, 0);
}

const unlimited: Limits = { types: new Map(), defs: new Map(), keys: new Map() };

export const fairness: Topic = {
  name: 'fairness',
  examples: {
    'keys take turns, one job at a time': async (world) => {
      await world.createAll([...many(4, shared('a')), ...many(2, shared('b')), ...many(3, shared('c'))]);
      equalInTurns(await keysInTurn(world, 6), 'a b c', 2);
      equal((await keysInTurn(world, 2)).split(' ').sort().join(' '), 'a c');
      equal(await keysInTurn(world, 2), 'a');
    },

    'a round takes as many jobs of each key as it has weight': async (world) => {
      await world.createAll([...many(6, shared('a', {}, 3)), ...many(6, shared('b')), ...many(6, shared('c', {}, 2))]);
      equalInTurns(await keysInTurn(world, 12), 'a a a b c c', 2);
    },

    'a claim of several jobs takes turns, too, and the next claim goes on where it stopped': async (world) => {
      await world.createAll([...many(9, shared('a', {}, 2)), ...many(9, shared('b'))]);
      const first = await claimedPerKey(world, 4);
      ok(first.a === 3 || first.a === 2, `${first.a} of a and ${first.b} of b`);
      const next = await claimedPerKey(world, 2);
      deepEqual([(first.a ?? 0) + (next.a ?? 0), (first.b ?? 0) + (next.b ?? 0)], [4, 2]);
    },

    'the only job of a key is claimed within one round, whatever waits before it': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('large', { due: 1 })), ...many(count, shared('more', { due: 1 }))]);
      await world.createAll([shared('small')]);
      equal((await keysInTurn(world, 3)).split(' ').sort().join(' '), 'large more small');
    }),

    'a claim beyond the number of keys takes several rounds': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('large', { due: 1 }, 2)), ...many(3, shared('small'))]);
      deepEqual(await claimedPerKey(world, 6), { large: 4, small: 2 });
    }),

    'many keys take turns across claims': async (world) => {
      const keys = Array.from({ length: beyond(10) }, (_, n) => `k${n}`);
      await world.createAll(keys.map((key) => shared(key)));
      await world.createAll(keys.map((key) => shared(key)));
      const taken = new Set<string>();
      for (let n = 0; n < keys.length; n += 10) {
        for (const job of await world.claim({ ...work, limit: Math.min(10, keys.length - n) })) taken.add(keyOf(job));
      }
      equal(taken.size, keys.length);
    },

    'tasks take turns under the keys of their runs, whatever runs wait': fewAndMany(async (world, count) => {
      const [large, small] = await world.createAll(many(2, { type: 'parent' })) as [Job, Job];
      const taskOf = ({ id }: Job, due: number): JobSpec => shared(`run ${id}`, { kind: 'task', parent: id, due });
      await world.createAll([...many(count, taskOf(large, 1)), taskOf(small, 2)]);
      const keys = await keysInTurn(world, 2);
      deepEqual([`run ${large.id} run ${small.id}`, `run ${small.id} run ${large.id}`].filter((both) => both === keys), [keys]);
    }),

    'priority is above share': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('a')), ...many(count, shared('b')), ...many(3, shared('a', { priority: 5 }))]);
      equal(await keysInTurn(world, 3), 'a a a');
      equal((await keysInTurn(world, 2)).split(' ').sort().join(' '), 'a b');
    }),

    'jobs that are due later have no turn': fewAndMany(async (world, count) => {
      const due = world.now() + 60_000;
      await world.createAll([...many(count, shared('a')), ...many(3, shared('later', { due })), ...many(2, shared('z'))]);
      deepEqual(await claimedPerKey(world, 4), { a: 2, z: 2 });
    }),

    'many keys without a due job delay neither the claim nor another key for long': async (world) => {
      const due = world.now() + 60_000;
      await world.createAll(Array.from({ length: 600 }, (_, n) => shared(`later${n}`, { due })));
      await world.createAll([...many(beyond(1), shared('a')), shared('z')]);
      equal((await keysInTurn(world, 6)).split(' ').filter((key) => key === 'z').length, 1);
    },

    'all versions of a type take turns together': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('a', { due: 1 })), ...many(2, shared('b', { typeVersion: 2 }))]);
      const names = { exact: ['fair'], versions: [{ type: 'fair', from: 1, to: 2 }] };
      deepEqual(await claimedPerKey(world, 4, { names }), { a: 2, b: 2 });
    }),

    'a key at its limit loses its turn to the others': fewAndMany(async (world, count) => {
      const limited = (key: string): JobSpec => shared(key, {}, 1, { key });
      const [one, other] = [`a${count}`, `b${count}`];
      await world.createAll([...many(count, limited(one)), ...many(count, limited(other))]);
      const limits = { ...unlimited, keys: new Map([['fair', 1]]) };
      const running = await keysInTurn(world, 1);
      deepEqual(await claimedPerKey(world, 2, { limits }), { [running === one ? other : one]: 1 });
      deepEqual(await claimedPerKey(world, 2, { limits }), {});
    }),

    'a job at a full limit does not take the turn of its key': fewAndMany(async (world, count) => {
      const limited = (key: string, of: string): JobSpec => shared(key, {}, 1, { key: `${of} ${count}` });
      const limits = { ...unlimited, keys: new Map([['fair', 1]]) };
      await world.createAll([limited('a', 'full')]);
      await world.claim({ ...work, limit: 1 });
      await world.createAll(many(count, limited('a', 'full')));
      await world.createAll([limited('a', 'free'), ...Array.from({ length: 4 }, (_, n) => limited('b', `b${n}`))]);
      equal((await keysInTurn(world, 2, { limits })).split(' ').sort().join(' '), 'a b');
      equal(await keysInTurn(world, 3, { limits }), 'b b b');
      equal(await keysInTurn(world, 1, { limits }), '');
    }),

    'a limit that other keys have used up in the same claim does not take the turn of a key': fewAndMany(async (world, count) => {
      const limited = (key: string, of: string): JobSpec => shared(key, {}, 1, { key: `${of} ${count}` });
      const limits = { ...unlimited, keys: new Map([['fair', 1]]) };
      await world.createAll([...many(count, limited('a', 'both')), ...many(count, limited('b', 'both'))]);
      await world.createAll([limited('a', 'only a'), limited('b', 'only b')]);
      deepEqual(await claimedPerKey(world, 2, { limits }), { a: 1, b: 1 });
      deepEqual(await world.claim({ ...work, limits, limit: 2 }).then((jobs) => jobs.length), 1);
    }),

    'a type with many waiting jobs keeps its place among other types': async (world) => {
      await world.createAll(many(beyond(1), shared('large', { due: 1 })));
      await world.createAll(Array.from({ length: 8 }, (_, n) => shared(`small${n}`, { due: 60 })));
      await world.createAll(many(4, { type: 'plain', due: 50 }));
      const names = { exact: ['fair', 'plain'] };
      const types: string[] = [];
      for (let n = 0; n < 6; n++) types.push(...(await world.claim({ ...work, names, limit: 1 })).map(({ type }) => type));
      deepEqual(types, many(6, {}).map(() => 'fair'));
    },

    'claims that a full limit leaves empty do not move the turns': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('a')), ...many(3, shared('b')), ...many(3, shared('c'))]);
      const admitted = await admittedCount(world);
      const limited = (free: number): Taking => ({ limits: { ...unlimited, types: new Map([['fair', admitted + free]]) } });
      const keys: string[] = [];
      for (let free = 1; free <= 6; free++) {
        keys.push(await keysInTurn(world, 1, limited(free)));
        equal(await keysInTurn(world, 1, limited(free)), '');
      }
      deepEqual(keys.slice(3), keys.slice(0, 3), 'the second round is like the first');
      deepEqual(keys.slice(0, 3).sort(), ['a', 'b', 'c']);
    }),

    'a paused key loses its turn to the others': async (world) => {
      const limited = (key: string): JobSpec => shared(key, {}, 1, { key });
      await world.createAll([...many(beyond(2), limited('a')), ...many(4, limited('b'))]);
      await world.create({ kind: 'pause', type: 'fair', due: never, input: '{}',
        gate: gateText({ type: 'fair', key: 'a', def: null, leaderOnly: false }) });
      deepEqual(await claimedPerKey(world, 2), { b: 2 });
    },

    'the limit of a type holds': fewAndMany(async (world, count) => {
      await world.createAll([...many(count, shared('a')), ...many(count, shared('b'))]);
      const admitted = await admittedCount(world);
      const limits = { ...unlimited, types: new Map([['fair', admitted + 4]]) };
      deepEqual(await claimedPerKey(world, 9, { limits }), { a: 2, b: 2 });
    }),

    'jobs of other types are claimed by their due times': async (world) => {
      await world.createAll([shared('a', { due: 10 }), shared('a', { due: 30 }), shared('b', { due: 50 })]);
      const [early, late] = await world.createAll([{ type: 'plain', due: 20 }, { type: 'plain', due: 60 }]) as [Job, Job];
      const names = { exact: ['fair', 'plain'] };
      const taken: number[] = [];
      for (let n = 0; n < 5; n++) taken.push(...(await world.claimIds({ ...work, names, limit: 1 })));
      // If `b` has the first turn, the job of `a` that is due at 10 comes next.
      ok([1, 2].includes(taken.indexOf(early.id)), `the early job was claimed at ${taken.indexOf(early.id)}`);
      equal(taken.indexOf(late.id), 4);
    },

    'each connection has its own turns': async (world) => {
      await world.createAll([...many(4, shared('a')), ...many(4, shared('b'))]);
      const other = await world.again();
      if (other === world.store) return;
      const offered = async (): Promise<string> => {
        let key = '';
        await other.claim({ ...work, limit: 1 }, (candidates) => {
          key = candidates.map(({ job }) => keyOf(job)).join();
          return [];
        });
        return key;
      };
      const first = await offered();
      await keysInTurn(world, 1);
      equal(await offered(), first === 'a' ? 'b' : 'a');
    },

    'keys can have any characters, or be missing': async (world) => {
      const keys = ['@', ':', '#', '/', '%', 'ä €', '😀', ''];
      await world.createAll(keys.flatMap((key) => many(2, shared(key))));
      const jobs = await world.claim({ ...work, limit: keys.length });
      deepEqual(jobs.map(keyOf).sort(), [...keys].sort());
    },

    'the jobs of the same key that are ahead are counted': async (world) => {
      const jobs = await world.createAll([shared('a'), shared('b'), shared('a'), shared('a', { priority: 1 }), shared('a')]);
      const plain = await world.create({ type: 'fair' });
      deepEqual(await Promise.all([...jobs, plain].map((job) => world.store.aheadInShare(job))), [0, 0, 1, 0, 2, 0]);
      const ofVersions = await world.createAll([1, 2, 3].map((typeVersion) => shared('v', { typeVersion })));
      deepEqual(await Promise.all(ofVersions.map((job) => world.store.aheadInShare(job))), [0, 1, 2]);
    },
  },
};
