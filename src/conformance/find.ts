/** Search: find and count return exactly the jobs that match the query, and pages neither repeat nor omit one. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { Job } from '../model/job.ts';
import { matchesQuery, pageLimitMax, type PageRequest, type Query } from '../store/query.ts';
import { checkQueries } from './queries.ts';
import { idsOf, same, sameMembers } from './same.ts';
import { childOf, type JobSpec, type Topic, type World } from './world.ts';

export const find: Topic = {
  name: 'find and count',
  examples: {
    'random queries find the same jobs as the reference implementation of queries': (world) => checkQueries(world, 120),

    'text is searched literally, without wildcards': async (world) => {
      const odd = ['a%c', 'a_c', 'abc', 'a\\c', "a'c", 'a"c', 'a*c', 'a?c', 'a[b]c'];
      await world.createAll(odd.map((type) => ({ type })));
      for (const text of ['%', '_', '\\', "'", '"', '*', '?', '[', 'b', '[b]', 'a%c']) {
        const found = (await world.store.find({ text })).jobs.map(({ type }) => type);
        ok(found.length > 0 && found.every((type) => type.includes(text)), `${text} in ${found.join(' ')}`);
      }
    },

    'jobs are sorted newest first, or oldest first on request': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 5 }, () => ({})));
      same((await world.store.find({})).jobs, jobs.toReversed());
      same((await world.store.find({}, { order: 'newest' })).jobs, jobs.toReversed());
      same((await world.store.find({}, { order: 'oldest' })).jobs, jobs);
    },

    'open and ended jobs are sorted together': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 6 }, () => ({})));
      for (const index of [0, 3, 5]) jobs[index] = await world.apply(jobs[index]!, { do: 'stop', code: 'admin' });
      same((await world.store.find({}, { order: 'oldest' })).jobs, jobs);
      same((await world.store.find({}, { limit: 2, after: jobs[4]!.id })).jobs, [jobs[3], jobs[2]]);
    },

    'pages neither repeat nor omit a job, even while jobs are created, ended and deleted': async (world) => {
      for (const order of ['newest', 'oldest'] as const) {
        const type = `paged ${order}`;
        const jobs = await world.createAll(Array.from({ length: 11 }, () => ({ type })));
        const seen: number[] = [];
        for (let after: number | undefined; ; ) {
          const page = await world.store.find({ types: [type] }, { order, limit: 3, ...(after ? { after } : {}) });
          seen.push(...page.jobs.map(({ id }) => id));
          if (page.next === null) break;
          equal(page.jobs.length, 3);
          after = page.next;
          await world.apply((await world.load(seen.at(-1)!))!, { do: 'stop', code: 'admin' });
          if (order === 'newest') await world.create({ type });
        }
        deepEqual(seen, jobs.map(({ id }) => id).sort((a, b) => (order === 'newest' ? b - a : a - b)));
      }
    },

    'open and ended runs of many types are sorted together on every page': async (world) => {
      const specs = Array.from({ length: 230 }, (_, n) => ({ type: `${n < 10 ? 'few' : 'many'}/${n % 7}${n < 30 ? '' : n}` }));
      const created = await world.createAll(specs);
      const jobs = await Promise.all(created.map(async (job, index) =>
        index % 5 > 0 ? await world.apply(job, { do: 'stop', code: 'admin' }) : job));
      const kinds = ['run'] as const;
      const few = ['few/1', 'few/2', 'few/1', 'none'];
      const queries: Query[] = [
        { kinds, glob: 'many/*' }, { kinds, glob: 'few/*' }, { kinds, types: few }, { kinds, standings: ['cancelled'] },
        { kinds, types: few, standings: ['cancelled', 'failed'] }, { kinds, glob: 'f*', standings: ['cancelled', 'pending'] },
        { kinds, glob: 'many/*', standings: ['cancelled'] }, { kinds, types: few, glob: '*1' },
      ];
      for (const query of queries) {
        const wanted = idsOf(jobs.filter((job) => matchesQuery(job, query)));
        for (const order of ['newest', 'oldest'] as const) {
          const pages = await idsOfPages(world, query, { order, limit: 7 });
          deepEqual(pages, order === 'oldest' ? wanted : wanted.toReversed(), `${order} ${JSON.stringify(query)}`);
        }
      }
    },

    'runs created since a time are found, whatever their retention and parent': async (world) => {
      const parent = await world.create({ type: 'parent' });
      const specs: JobSpec[] = [{}, { policy: { retentionMs: 1000 } }, { kind: 'run', parent: parent.id }, childOf(parent)];
      const jobs: Job[] = [];
      for (let round = 0; round < 4; round += 1) {
        for (const spec of specs) jobs.push(await world.create(spec));
        await world.advance(10);
      }
      for (const job of jobs.slice(0, 12)) await world.apply(job, { do: 'stop', code: 'admin' });
      for (const { created } of [jobs[4]!, jobs[8]!, jobs[12]!]) {
        for (const kinds of [['run'], ['run', 'task']] as const) {
          const query = { kinds, createdFrom: created, createdBefore: created + 25 };
          const wanted = jobs.filter((job) => matchesQuery(job, query));
          deepEqual(await idsOfPages(world, query, { order: 'oldest', limit: 3 }), idsOf(wanted));
          equal((await world.store.count(query)).reduce((sum, { count }) => sum + count, 0), wanted.length);
        }
      }
    },

    'the last page has no cursor, even if it is full': async (world) => {
      await world.createAll([{}, {}, {}, {}]);
      equal((await world.store.find({}, { limit: 4 })).next, null);
      equal((await world.store.find({}, { limit: 5 })).next, null);
      const first = await world.store.find({}, { limit: 2 });
      equal(first.next, first.jobs.at(-1)?.id);
      equal((await world.store.find({}, { limit: 2, after: first.next })).next, null);
      same(await world.store.find({ types: ['none'] }), { jobs: [], next: null });
    },

    'a page has a hundred jobs by default, and at most a thousand': async (world) => {
      await world.createAll(Array.from({ length: pageLimitMax + 5 }, () => ({})));
      const page = await world.store.find({});
      deepEqual([page.jobs.length, page.next], [100, page.jobs.at(-1)!.id]);
      const most = await world.store.find({}, { limit: 5000 });
      deepEqual([most.jobs.length, most.next], [pageLimitMax, most.jobs.at(-1)!.id]);
    },

    'jobs are counted by kind, type and standing': async (world) => {
      await world.createAll([{ type: 'a' }, { type: 'a' }, { type: 'a', hold: 'pause' }, { type: 'b', kind: 'task' }]);
      await world.createEnded({ type: 'a' });
      const tallies = [
        { kind: 'run', type: 'a', standing: 'pending', count: 2 },
        { kind: 'run', type: 'a', standing: 'held', count: 1 },
        { kind: 'run', type: 'a', standing: 'cancelled', count: 1 },
        { kind: 'task', type: 'b', standing: 'pending', count: 1 },
      ];
      sameMembers(await world.store.count({}), tallies);
      sameMembers(await world.store.count({ standings: ['pending'] }), [tallies[0], tallies[3]]);
      deepEqual(await world.store.count({ types: ['none'] }), []);
    },

    'a count shows how many of the jobs are pending and due before a time': async (world) => {
      const now = world.store.now();
      await world.createAll([
        { type: 'a', due: now - 2_000 }, { type: 'a', due: now }, { type: 'a', due: now + 2_000 },
        { type: 'a', due: now - 2_000, hold: 'pause' }, { type: 'b', kind: 'task', due: now - 2_000 },
      ]);
      await world.createEnded({ type: 'a' });
      sameMembers(await world.store.count({}, now), [
        { kind: 'run', type: 'a', standing: 'pending', count: 3, due: 1 },
        { kind: 'run', type: 'a', standing: 'held', count: 1, due: 0 },
        { kind: 'run', type: 'a', standing: 'cancelled', count: 1, due: 0 },
        { kind: 'task', type: 'b', standing: 'pending', count: 1, due: 1 },
      ]);
      deepEqual(await world.store.count({ tags: { none: 'x' } }, now), []);
    },

    'a query sees commits of another connection': async (world) => {
      const other = await world.again();
      const job = await world.create({ tags: { a: '1' } });
      same((await other.find({ tags: { a: '1' } })).jobs, [job]);
      const ended = await world.apply(job, { do: 'stop', code: 'user' });
      same((await other.find({ standings: ['cancelled'] })).jobs, [ended]);
    },
  },
};

async function idsOfPages({ store }: World, query: Query, page: PageRequest): Promise<number[]> {
  const ids: number[] = [];
  for (let after: number | null | undefined; after !== null;) {
    const { jobs, next } = await store.find(query, { ...page, ...(after === undefined ? {} : { after }) });
    ids.push(...idsOf(jobs));
    after = next;
  }
  return ids;
}
