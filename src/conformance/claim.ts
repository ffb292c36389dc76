/** Claims: which jobs are claimed, in which order, and how they change. */
import { deepEqual, equal, fail, ok, rejects } from 'node:assert/strict';
import type { Job } from '../model/job.ts';
import { kinds } from '../model/state.ts';
import { seededRandom } from '../random.ts';
import { same, sameMembers } from './same.ts';
import { askOf, childOf, claimAll, type JobSpec, type Topic, type World } from './world.ts';

const ids = (jobs: readonly Job[]): number[] => jobs.map(({ id }) => id);

export const claim: Topic = {
  name: 'claim',
  examples: {
    'the highest priority goes first, then the earliest due, then the lowest id': async (world) => {
      const due = world.now() - 100;
      const specs: JobSpec[] = [
        { due: due + 5 }, { due }, { priority: -1, due: due - 50 }, { priority: 10, due: due + 9 },
        { due }, { priority: 10, due: due + 9 }, { priority: 2, due: due + 99 }, { priority: 10, due: due + 8 },
      ];
      const jobs = await world.createAll(specs);
      const wanted = [7, 3, 5, 6, 1, 4, 0, 2].map((index) => jobs[index]!.id);
      deepEqual(await claimOneByOne(world), wanted);
    },

    'the order holds across many types, kinds, priorities and due times': async (world) => {
      const random = seededRandom(7);
      const pick = (count: number): number => Math.floor(random.next() * count);
      const spec = (): JobSpec => ({
        type: `type ${pick(9)}`, kind: kinds[pick(4)]!, priority: pick(5) - 2, due: world.now() - pick(4),
      });
      const jobs = await world.createAll(Array.from({ length: 80 }, spec));
      const wanted = [...jobs].sort((a, b) => b.priority - a.priority || a.due - b.due || a.id - b.id);
      for (let from = 0; from < jobs.length; from += 16) {
        sameMembers(await world.claimIds({ limit: 16 }), ids(wanted.slice(from, from + 16)));
      }
    },

    'a claim returns at most as many jobs as requested': async (world) => {
      await world.createAll([{}, {}, {}, {}, {}]);
      equal((await world.claim({ limit: 2 })).length, 2);
      equal((await world.claim({ limit: 2 })).length, 2);
      equal((await world.claim({ limit: 2 })).length, 1);
      equal((await world.claim({ limit: 2 })).length, 0);
    },

    'a job can be claimed from its due time on, and not before': async (world) => {
      const job = await world.create({ due: world.now() + 1000 });
      await world.advance(999);
      deepEqual(await world.claimIds(), []);
      await world.advance(1);
      deepEqual(await world.claimIds(), [job.id]);
    },

    'only pending jobs are claimed': async (world) => {
      await world.createAll([{ hold: 'pause' }, { hold: 'parent' }]);
      await world.createRunning();
      await world.createEnded();
      const { children } = await world.createFamily(1);
      deepEqual(await world.claimIds({ kinds: ['run'], names: { exact: ['plain', 'running'] } }), []);
      deepEqual(await world.claimIds({ kinds: ['task'] }), ids(children));
    },

    'only jobs of the requested kinds are claimed': async (world) => {
      const [run, task] = await world.createAll(kinds.map((kind) => ({ kind })));
      deepEqual(await world.claimIds({ kinds: [] }), []);
      sameMembers(await world.claimIds({ kinds: ['task', 'run'] }), [run?.id, task?.id]);
      equal((await world.claimIds()).length, kinds.length - 2);
    },

    'only jobs of the requested types are claimed': async (world) => {
      const types = ['a', 'b', 'A', 'a ', 'ä', 'a%', 'a_', "a'"];
      const jobs = await world.createAll(types.map((type) => ({ type })));
      deepEqual(await world.claimIds({ names: { exact: [] } }), []);
      deepEqual(await world.claimIds({ names: { exact: ['c', 'a*', '?'] } }), []);
      sameMembers(await world.claimIds({ names: { exact: ['a', 'ä', 'none'] } }), [jobs[0]!.id, jobs[4]!.id]);
      for (const index of [1, 2, 3, 5, 6, 7]) {
        deepEqual(await world.claimIds({ names: { exact: [types[index]!] } }), [jobs[index]!.id]);
      }
    },

    'a type that is requested twice gives each job once': async (world) => {
      const job = await world.create({ type: 'a' });
      deepEqual(await world.claimIds({ names: { exact: ['a', 'a'] }, kinds: ['run', 'run'] }), [job.id]);
    },

    'a GLOB pattern claims jobs of the matching types': async (world) => {
      const types = [
        'mail/send', 'mail/fetch', 'Mail/send', 'mailx', 'x*y', 'x1y', 'größe', 'a]b', 'a-b', '日本', 'm%l', '[m]ail',
      ];
      const jobs = await world.createAll(types.map((type) => ({ type })));
      const patterns: [string, string[]][] = [
        ['mail/*', ['mail/send', 'mail/fetch']],
        ['mail?', ['mailx']],
        ['[Mm]ail/s*', ['mail/send', 'Mail/send']],
        ['x[*]y', ['x*y']],
        ['x?y', ['x*y', 'x1y']],
        ['gr?ße', ['größe']],
        ['a[]]b', ['a]b']],
        ['a[^]]b', ['a-b']],
        ['??', ['日本']],
        ['*%*', ['m%l']],
        ['[[]m*', ['[m]ail']],
        ['*/send', ['mail/send', 'Mail/send']],
        ['mailx', ['mailx']],
        ['MAIL*', []],
        ['', []],
        ['*', types],
      ];
      for (const [glob, wanted] of patterns) {
        const matching = wanted.map((type) => jobs[types.indexOf(type)]!.id);
        sameMembers(await world.offered({ names: { glob } }), matching, glob);
      }
    },

    'a pattern over hundreds of types hands out in claim order, and passes over those that are due later': async (world) => {
      const random = seededRandom(11);
      const pick = (count: number): number => Math.floor(random.next() * count);
      const spec = (index: number): JobSpec => ({
        kind: 'bedrock', type: `${index % 3 === 0 ? 'd' : 'e'}/${index}`, priority: pick(3) * 500,
        due: world.now() + (index % 7 === 0 ? 1000 + index : -pick(50)),
      });
      const jobs = await world.createAll(Array.from({ length: 600 }, (_, index) => spec(index)));
      const isWanted = ({ type, due }: Job): boolean => type.startsWith('d/') && due <= world.now();
      const wanted = jobs.filter(isWanted).sort((a, b) => b.priority - a.priority || a.due - b.due || a.id - b.id);
      const request = { kinds: ['bedrock'], names: { glob: 'd/*' } } as const;
      for (let from = 0; from < wanted.length; from += 50) {
        sameMembers(await world.claimIds({ ...request, limit: 50 }), ids(wanted.slice(from, from + 50)));
      }
      deepEqual(await world.claimIds(request), []);
      equal(await world.store.nextDue(request), world.now() + 1000);
    },

    'a pattern finds a job behind a thousand due jobs of hundreds of other types': async (world) => {
      const others = Array.from(
        { length: 1200 }, (_, index) => ({ kind: 'bedrock', type: `x${index % 150}` }) as const,
      );
      await world.createAll(others);
      const wanted = await world.createAll([{ kind: 'bedrock', type: 'y/send' }, { kind: 'mock', type: 'y/send', priority: -1 }]);
      const request = { kinds: ['bedrock', 'mock'], names: { glob: '*/send' } } as const;
      deepEqual(await world.claimIds({ ...request, limit: 1 }), [wanted[0]!.id]);
      deepEqual(await world.claimIds({ ...request, priorities: [7] }), []);
      deepEqual(await world.claimIds({ ...request, priorities: [-1] }), [wanted[1]!.id]);
      deepEqual(await world.claimIds(request), []);
      equal(await world.store.nextDue(request), null);
    },

    'only jobs of the requested priorities are claimed': async (world) => {
      const jobs = await world.createAll([{ priority: 0 }, { priority: 5 }, { priority: -3 }, { priority: 5 }]);
      deepEqual(await world.claimIds({ priorities: [] }), []);
      deepEqual(await world.claimIds({ priorities: [4, -3] }), [jobs[2]!.id]);
      sameMembers(await world.claimIds({ priorities: [5] }), [jobs[1]!.id, jobs[3]!.id]);
      deepEqual(await world.claimIds(), [jobs[0]!.id]);
    },

    'the changes of a decision are stored, in the feed, and returned': async (world) => {
      const job = await world.create();
      const end = await world.store.feedEnd();
      const changes = await world.store.claim(askOf({}), claimAll({ holder: 'me', leaseMs: 500 }));
      equal(changes.length, 1);
      const running = await world.load(job.id);
      same(changes[0]?.after, running);
      same(running?.state === 'running' && running.lease, { holder: 'me', until: world.now() + 500 });
      equal(running?.fence, 1);
      same((await world.store.history(job.id)).slice(1), changes[0]?.events);
      same((await world.store.eventsAfter(end, 10)).events.map(({ event }) => event), changes[0]?.events);
    },

    'the decision gets each stored job and the store time': async (world) => {
      const job = await world.create({ input: '"shown"', tags: { a: 'b' }, policy: { timeoutMs: 5 } });
      await world.advance(77);
      await world.store.claim(askOf({}), (candidates, now) => {
        equal(now, world.now());
        same(candidates, [{ job, parentCancelled: false }]);
        return [];
      });
    },

    'jobs that the decision leaves out stay unchanged': async (world) => {
      const [a, b] = await world.createAll([{}, {}]) as [Job, Job];
      const changes = await world.store.claim(askOf({}), (candidates, now) =>
        claimAll()(candidates.filter(({ job }) => job.id === a.id), now));
      deepEqual(changes.map(({ after }) => after?.id), [a.id]);
      same(await world.load(b.id), b);
      deepEqual(await world.claimIds(), [b.id]);
    },

    'a decision may end a job instead of starting it': async (world) => {
      const job = await world.create({ policy: { startBy: world.now() } });
      await world.advance(1);
      deepEqual(await world.claim(), []);
      equal((await world.load(job.id))?.state, 'ended');
    },

    'a decision that throws writes nothing, and the caller gets its error': async (world) => {
      const job = await world.create();
      const thrown = new Error('undecided');
      await rejects(async () => world.store.claim(askOf({}), () => { throw thrown; }), thrown);
      same(await world.load(job.id), job);
      deepEqual(await world.claimIds(), [job.id]);
    },

    'the decision learns whether the parent of a task was cancelled': async (world) => {
      const calm = await world.createFamily(1);
      const cancelled = await world.createFamily(1);
      await world.apply(cancelled.parent, { do: 'cancel', code: 'user' });
      const orphan = await world.create({ ...childOf(calm.parent), parent: 1_000_000 });
      const shown = new Map<number, boolean>();
      await world.store.claim(askOf({ kinds: ['task'] }), (candidates) => {
        for (const { job, parentCancelled } of candidates) shown.set(job.id, parentCancelled);
        return [];
      });
      same(shown, new Map([[calm.children[0]!.id, false], [cancelled.children[0]!.id, true], [orphan.id, false]]));
    },

    'the decision learns of a cancel of a running parent, too': async (world) => {
      const parent = await world.createRunning({ type: 'parent' });
      await world.create(childOf(parent));
      await world.apply(parent, { do: 'cancel', code: 'user' });
      deepEqual(await world.claim({ kinds: ['task'] }), []);
      equal((await world.store.find({ parent: parent.id })).jobs[0]?.state, 'ended');
    },

    'the decision learns whether an ended parent was cancelled': async (world) => {
      const { parent: stopped, children: [orphan] } = await world.createFamily(1);
      await world.apply(stopped, { do: 'stop', code: 'user' });
      const parent = await world.createRunning({ type: 'parent' });
      const child = await world.create(childOf(parent));
      await world.apply(parent, { do: 'succeed', fence: parent.fence });
      deepEqual(await world.claimIds({ kinds: ['task'] }), [child.id]);
      equal((await world.load(orphan!.id))?.state, 'ended');
    },

    'a released job is claimed again under a higher fence': async (world) => {
      const first = await world.createRunning();
      await world.apply(first, { do: 'release', fence: first.fence });
      const [second] = await world.claim();
      deepEqual([second?.id, second?.fence], [first.id, first.fence + 1]);
    },

    'a change of priority or due time changes the order': async (world) => {
      const [a, b, c] = await world.createAll([{}, {}, {}]) as [Job, Job, Job];
      await world.apply(c, { do: 'edit', edit: { priority: 1 } });
      await world.apply(a, { do: 'edit', edit: { due: world.now() + 10 } });
      deepEqual(await claimOneByOne(world), [c.id, b.id]);
      await world.advance(10);
      deepEqual(await world.claimIds(), [a.id]);
    },

    'two connections that claim at once get distinct jobs': async (world) => {
      const other = await world.again();
      const jobs = await world.createAll(Array.from({ length: 60 }, () => ({})));
      const turns = Array.from({ length: 16 }, (_, turn) =>
        world.claimIds({ limit: 5, holder: `worker ${turn}` }, turn % 2 ? other : world.store));
      const taken = (await Promise.all(turns)).flat();
      taken.push(...(await world.claimIds()));
      sameMembers(taken, ids(jobs));
    },

    'a claim that finds no job returns none': async (world) => {
      deepEqual(await world.store.claim(askOf({}), claimAll()), []);
    },

    'the next due time is that of the first job to come due': async (world) => {
      equal(await world.store.nextDue(askOf({})), null);
      const due = [500, 90, 7000].map((ms) => world.now() + ms);
      await world.createAll([...due.map((at) => ({ due: at })), { due: world.now() }, { due: world.now() - 10 }]);
      equal(await world.store.nextDue(askOf({})), due[1]);
      await world.advance(90);
      equal(await world.store.nextDue(askOf({})), due[0], 'jobs that are due now do not count');
      await world.advance(10_000);
      equal(await world.store.nextDue(askOf({})), null);
    },

    'the next due time includes a job that was created just after a claim found none': async (world) => {
      deepEqual(await world.store.claim(askOf({}), claimAll()), []);
      const due = world.now() + 500;
      const [, created] = await Promise.all([
        world.store.claim(askOf({}), claimAll()), world.create({ due }), world.store.claim(askOf({}), claimAll()),
      ]);
      equal(created.due, due);
      equal(await world.store.nextDue(askOf({})), due);
    },

    'a job that becomes due between a search and the question for the next due time is not missed': async (world) => {
      const due = world.now() + 10;
      await world.create({ due });
      let searchedAt = NaN;
      deepEqual(await world.store.claim(askOf({}), (candidates, now, since) => {
        deepEqual(candidates, []);
        ok(since <= now, 'the search is not in the future');
        searchedAt = since;
        return [];
      }), []);
      ok(searchedAt < due, 'the decision is asked although there is no candidate');
      await world.advance(50);
      equal(await world.store.nextDue(askOf({}), searchedAt), due);
      equal(await world.store.nextDue(askOf({})), null);
    },

    'the next due time considers only pending jobs of the requested kinds and types': async (world) => {
      const at = (ms: number): number => world.now() + ms;
      await world.createAll([
        { type: 'a', due: at(10) }, { type: 'b', kind: 'task', due: at(20) }, { type: 'b', due: at(30), priority: 5 },
        { type: 'b', due: at(25), hold: 'pause' }, { type: 'g', gate: 'any/g//', due: at(5) },
      ]);
      const next = (kind: 'run' | 'task', names: { exact: string[] } | { glob: string }) =>
        world.store.nextDue({ kinds: [kind], names });
      equal(await next('run', { exact: ['a', 'b'] }), at(10));
      equal(await next('run', { exact: ['b'] }), at(30));
      equal(await next('task', { glob: '*' }), at(20));
      equal(await next('run', { glob: '[b-z]' }), at(5), 'a job at a gate comes due like any other');
      equal(await next('task', { exact: ['a'] }), null);
      equal(await next('run', { exact: [] }), null);
    },

    'the oldest due job of a type is the one that has been due longest, at a gate or not': async (world) => {
      const at = (ms: number): number => world.now() + ms;
      const jobs = await world.createAll([
        { type: 'a', due: at(-10), priority: 5 }, { type: 'a', due: at(-30) }, { type: 'a', due: at(-40), hold: 'pause'
        },
        { type: 'a', kind: 'task', due: at(-50) }, { type: 'b', due: at(10) }, { type: 'c', due: at(-5) },
        { type: 'c', gate: 'any/c//', due: at(-7) },
      ]);
      const request = { kinds: ['run'], names: { exact: ['a', 'b', 'c', 'none'] } } as const;
      const oldest = (index: number) => ({ id: jobs[index]!.id, due: jobs[index]!.due });
      same(await world.store.oldestDue(request), new Map([['a', oldest(1)], ['c', oldest(6)]]));
      same(await world.store.oldestDue({ ...request, names: { glob: 'c*' } }), new Map([['c', oldest(6)]]));
    },

    'listeners are woken when a job may have become claimable, until they unsubscribe': async (world) => {
      let calls = 0;
      const unlisten = world.store.onWake(() => { calls += 1; });
      await world.create();
      unlisten();
      const callsBefore = calls;
      await world.create();
      equal(calls, callsBefore);
      ok(callsBefore >= 0, 'a hint may be lost: nothing is promised of their number');
    },
  },
};

async function claimOneByOne(world: World): Promise<number[]> {
  const order: number[] = [];
  while (order.length < 1000) {
    const [id] = await world.claimIds({ limit: 1 });
    if (id === undefined) return order;
    order.push(id);
  }
  return fail('the same jobs are claimed again and again');
}
