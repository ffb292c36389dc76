/** Versions of types: a claim takes only jobs of versions that it knows, and others do not slow it down. */
import { deepEqual, equal } from 'node:assert/strict';
import { gateText } from '../model/gate.ts';
import type { JobSpec, Taking, Topic, World } from './world.ts';

const knowing = (from: number, to: number, type = 'mail'): Taking =>
  ({ kinds: ['run', 'task'], names: { exact: [type, 'other'], versions: [{ type, from, to }] } });

const mail = (typeVersion: number, more: JobSpec = {}): JobSpec => ({ type: 'mail', typeVersion, ...more });

const gate = (key: string): string => gateText({ type: 'mail', def: null, key, leaderOnly: false });

async function ids(world: World, specs: readonly JobSpec[]): Promise<number[]> {
  return (await world.createAll(specs)).map(({ id }) => id);
}

export const versions: Topic = {
  name: 'versions',
  examples: {
    'a claim takes only jobs of versions that it knows': async (world) => {
      const [first, second, third] = await ids(world, [mail(1), mail(2), mail(3)]);
      deepEqual(await world.offered(knowing(1, 1)), [first]);
      deepEqual(await world.offered(knowing(2, 3)), [second, third]);
      deepEqual(await world.offered(knowing(4, 9)), []);
      deepEqual(await world.claimIds(knowing(1, 2)), [first, second]);
      deepEqual(await world.claimIds(knowing(3, 3)), [third]);
    },

    'a claim that states no versions, or a pattern, takes jobs of the first version': async (world) => {
      const [first] = await ids(world, [mail(1), mail(2)]);
      deepEqual(await world.offered({ kinds: ['run'], names: { exact: ['mail'] } }), [first]);
      deepEqual(await world.offered({ kinds: ['run'], names: { glob: 'm*' } }), [first]);
      deepEqual(await world.offered({ kinds: ['run'], names: { glob: 'mail' } }), [first]);
    },

    'jobs of several versions are claimed in claim order': async (world) => {
      const [late, low, high] = await ids(world, [
        mail(1, { due: world.now() - 1 }), mail(2, { due: world.now() - 5 }), mail(3, { priority: 9 }),
      ]);
      deepEqual(await world.claimIds({ ...knowing(1, 3), limit: 2 }), [high, low]);
      deepEqual(await world.claimIds(knowing(1, 3)), [late]);
    },

    'the versions of one type say nothing about another': async (world) => {
      const [other] = await ids(world, [{ type: 'other' }, { type: 'other', typeVersion: 2 }]);
      deepEqual(await world.claimIds(knowing(2, 2)), [other]);
    },

    'tasks of unknown versions wait, and so do jobs at gates': async (world) => {
      const { children } = await world.createFamily(2, {}, mail(2));
      const gated = await ids(world, [mail(2, { gate: gate('a') }), mail(2, { gate: gate('b') })]);
      deepEqual(await world.offered(knowing(1, 1)), []);
      deepEqual((await world.claimIds(knowing(2, 2))).toSorted((a, b) => a - b), [...children.map(({ id }) => id), ...gated]);
    },

    'full gates of one version leave the jobs of another claimable': async (world) => {
      const limits = { types: new Map(), defs: new Map(), keys: new Map([['mail', 1]]) };
      await world.createRunning(mail(1, { gate: gate('full') }), { limits });
      await ids(world, Array.from({ length: 300 }, () => mail(1, { gate: gate('full') })));
      const [free] = await ids(world, [mail(2, { gate: gate('free') })]);
      deepEqual(await world.claimIds({ ...knowing(1, 2), limits, limit: 5 }), [free]);
    },

    'a walk over gates passes those at which only unknown versions wait': async (world) => {
      const limits = { types: new Map(), defs: new Map(), keys: new Map([['mail', 1]]) };
      await world.createRunning(mail(1, { gate: gate('full') }), { limits });
      await ids(world, Array.from({ length: 300 }, () => mail(1, { gate: gate('full') })));
      await ids(world, [mail(3, { gate: gate('b') })]);
      const [known] = await ids(world, [mail(1, { gate: gate('c') })]);
      deepEqual(await world.claimIds({ ...knowing(1, 2), limits, limit: 5 }), [known]);
      deepEqual(await world.claimIds({ ...knowing(1, 2), limits, limit: 5 }), []);
    },

    'the next due time and the longest wait consider only known versions': async (world) => {
      const [first, second] = await ids(world, [mail(1), mail(2, { due: world.now() - 10 })]);
      await ids(world, [mail(2, { due: world.now() + 50 }), mail(1, { due: world.now() + 90, gate: gate('a') })]);
      const asked = (from: number, to: number) => knowing(from, to) as Required<Pick<Taking, 'kinds' | 'names'>>;
      equal(await world.store.nextDue(asked(1, 1)), world.now() + 90);
      equal(await world.store.nextDue(asked(1, 2)), world.now() + 50);
      equal(await world.store.nextDue(asked(3, 3)), null);
      equal((await world.store.oldestDue(asked(1, 1))).get('mail')?.id, first);
      equal((await world.store.oldestDue(asked(1, 2))).get('mail')?.id, second);
      equal((await world.store.oldestDue(asked(3, 3))).size, 0);
    },

    'waiting jobs are counted by version, at gates and due later, too': async (world) => {
      await world.createRunning(mail(1), knowing(1, 1));
      await ids(world, [mail(2), mail(1), mail(2, { due: world.now() + 9 }), mail(2, { gate: gate('a') }), { type: 'other' }]);
      await world.createFamily(1, {}, mail(5));
      deepEqual(await world.store.waitingVersions(['mail']), [
        { type: 'mail', typeVersion: 1, count: 1 }, { type: 'mail', typeVersion: 2, count: 3 },
        { type: 'mail', typeVersion: 5, count: 1 },
      ]);
    },

    'a job keeps its version when it runs, ends and is reopened, and an edit changes it': async (world) => {
      const versionOf = async (id: number) => (await world.load(id))?.typeVersion;
      const jobs = await world.createAll([mail(3), mail(3), mail(3, { gate: gate('a') })]);
      for (const { id, fence } of await world.claim(knowing(3, 3))) {
        equal(await versionOf(id), 3);
        const ended = await world.apply((await world.load(id))!, { do: 'fail', fence, error: { code: 'unknown', message: '' }, retryable: false });
        equal(await versionOf(id), 3);
        await world.apply(ended, { do: 'retry', reopens: 0 });
        equal(await versionOf(id), 3);
      }
      const [job] = await world.store.load([jobs[0]!.id]);
      await world.apply(job!, { do: 'edit', edit: { input: '[]', typeVersion: 4 } });
      deepEqual(await world.claimIds(knowing(4, 4)), [job!.id]);
      equal((await world.claimIds(knowing(3, 3))).length, 2);
    },

    'claims that go on where the last one ended take no unknown versions': async (world) => {
      const known = await ids(world, Array.from({ length: 30 }, (_, index) => mail(1 + (index % 2), { priority: index % 3 })));
      await ids(world, Array.from({ length: 30 }, () => mail(3, { priority: 9 })));
      const claimed: number[] = [];
      for (let round = 0; round < 10; round += 1) claimed.push(...(await world.claimIds({ ...knowing(1, 2), limit: 3 })));
      deepEqual(claimed.toSorted((a, b) => a - b), known);
      deepEqual(await world.claimIds({ ...knowing(1, 2), limit: 3 }), []);
    },
  },
};
