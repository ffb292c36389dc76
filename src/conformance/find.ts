/** Search: find and count return exactly the jobs that match the query, and pages neither repeat nor omit one. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { seededRandom } from '../random.ts';
import type { Job, Tags } from '../model/job.ts';
import { kinds } from '../model/state.ts';
import {
  matchesQuery, pageLimitMax, standingOf, standings, type PageRequest, type Query, type Tally,
} from '../store/query.ts';
import { oddPayloads, oddTexts, textsForJson } from './odd-texts.ts';
import { byId, same, sameMembers } from './same.ts';
import { childOf, type JobSpec, type Topic, type World } from './world.ts';

const types = [
  'mail/send', 'mail/fetch', 'Mail', 'größe', '日本', "it's", '100%', 'a_b', 'back\\slash', 'x*y', '[set]', 'ÄRGER',
];
const defs = ['nightly', 'Nightly', 'nächtlich', '%', '_', "o'clock", 'a\\b'];
const inputs = [
  '{"n":1,"s":"1","b":true,"z":null,"deep":{"er":{"est":"x"}},"list":[10,[20]]}',
  '{"n":1.0,"s":"","b":false}', '{"n":1e0}', '{"n":-0}', '{"n":"1"}', '{"n":12345678901234567890}', '{"n":0.1}',
  '{"a.b":1,"a":{"b":2},"":3,"a\\"b":4,"it\'s":5,"$":6,"ü":"ü"}',
  '{"n":5,"n":6}', '[1,2,3]', '7', '"7"', 'null', 'true',
  '{"nul":"a\\u0000b","n":1}', '{"s":"\\ud83d\\ude00"}',
];
const paths = [
  [], ['n'], ['s'], ['b'], ['z'], ['nul'], ['deep'], ['deep', 'er', 'est'], ['deep', 'none'], ['list', '0'],
  ['list', '1', '0'], ['0'],  ['-1'], ['01'], ['a.b'], ['a', 'b'], [''], ['a"b'], ["it's"], ['$'], ['ü'], ['n', 'n'],
];
const scalars = [
  1, '1', true, false, null, '', 'x', 0, 6, 10, 20, 2, 3, 4, 5, 7, '7', 'ü', '😀', 0.1, Number('12345678901234567890'),
];
const oddlyNamed = { A: 'x', '%': 'y', 'a.b': 'z' };
const globs = ['*', 'mail/*', '?ail', '[A-Z]*', '*%', "*'*", 'a_b', 'x[*]y', '[[]set]', 'größ?', 'none', '*\\*', ''];

export const find: Topic = {
  name: 'find and count',
  examples: {
    'random queries find the same jobs as the reference implementation of queries': async (world) => {
      const population = await populate(world);
      const random = seededRandom(20_260_105);
      for (let round = 0; round < 400; round += 1) {
        const query = randomQuery(population, () => random.next());
        const wanted = population.filter((job) => matchesQuery(job, query));
        const shown = JSON.stringify(query);
        const { jobs } = await world.store.find(query, { limit: 1000 });
        deepEqual(idsOf(byId(jobs)), idsOf(wanted), `find ${shown}`);
        sameMembers(await world.store.count(query), talliesOf(wanted), `count ${shown}`);
      }
    },

    'each single filter finds the same jobs as the reference implementation of queries': async (world) => {
      const population = await populate(world);
      for (const query of singleQueries(population)) {
        const wanted = population.filter((job) => matchesQuery(job, query));
        const { jobs } = await world.store.find(query, { limit: 1000 });
        deepEqual(idsOf(byId(jobs)), idsOf(wanted), JSON.stringify(query));
      }
    },

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
      const jobs = await world.createAll(specs);
      for (const [index, job] of jobs.entries()) {
        if (index % 5 > 0) jobs[index] = await world.apply(job, { do: 'stop', code: 'admin' });
      }
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

const idsOf = (jobs: readonly Job[]): number[] => jobs.map(({ id }) => id);

async function idsOfPages({ store }: World, query: Query, page: PageRequest): Promise<number[]> {
  const ids: number[] = [];
  for (let after: number | null | undefined; after !== null;) {
    const { jobs, next } = await store.find(query, { ...page, ...(after === undefined ? {} : { after }) });
    ids.push(...idsOf(jobs));
    after = next;
  }
  return ids;
}

/** Creates more than a hundred jobs that differ in every searchable field; returns them sorted by id. */
async function populate(world: World): Promise<Job[]> {
  const random = seededRandom(4711);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
  const specs = Array.from({ length: 120 }, (): JobSpec => ({
    kind: pick(kinds),
    type: pick(types),
    def: pick([null, ...defs]),
    key: pick([null, 'Key', ...textsForJson]),
    tags: pick([null, {}, { a: pick(textsForJson) }, { a: pick(oddTexts), "it's": pick(oddTexts) }, oddlyNamed]),
    input: pick([...inputs, ...inputs, pick(oddPayloads)]),
    due: world.now() + Math.floor(random.next() * 10) - 8,
    ...pick([{}, {}, {}, { hold: pick(['pause', 'parent'] as const) }]),
  }));
  for (const spec of specs) {
    await world.create(spec);
    if (random.next() < 0.3) await world.advance(1);
  }
  const family = await world.createFamily(5, { type: types[0]! }, { type: types[1]! });
  await world.create({ ...childOf(family.parent), parent: 424_242 });
  await world.claim({ limit: 60, leaseMs: 1000 });
  for (const job of (await world.store.find({ standings: ['running'] }, { limit: 1000 })).jobs) {
    const error = { code: 'unknown', message: pick(textsForJson) } as const;
    const end = Math.floor(random.next() * 6);
    if (end === 0 && job.phase !== 'prepare') await world.apply(job, { do: 'succeed', fence: job.fence, result: '1' });
    if (end === 1) await world.apply(job, { do: 'fail', fence: job.fence, error, retryable: false });
    if (end === 2) await world.apply(job, { do: 'fail', fence: job.fence, error, retryable: true });
    if (end === 3) await world.apply(job, { do: 'stop', code: 'admin' });
    if (end === 4) await world.apply(job, { do: 'cancel', code: 'user' });
  }
  const { jobs, next } = await world.store.find({}, { limit: 1000 });
  equal(next, null);
  return byId(jobs);
}

function randomQuery(population: readonly Job[], next: () => number): Query {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const some = <T>(from: readonly T[]): T[] => from.filter(() => next() < 0.4);
  const job = pick(population);
  const filters: (() => Query)[] = [
    () => ({ kinds: some(kinds) }),
    () => ({ types: [...some(types), 'none'] }),
    () => ({ glob: pick(globs) }),
    () => ({ def: pick([...defs, 'none']) }),
    () => ({ parent: pick([null, job.parent, job.id]) }),
    () => ({ standings: some(standings) }),
    () => ({ tags: pick(tagsWanted(job)) }),
    () => ({ createdFrom: job.created }),
    () => ({ createdBefore: job.created }),
    () => ({ dueBefore: job.due + pick([0, 1]) }),
    () => ({ error: partOf(pick(population).error?.message ?? 'none', next) }),
    () => ({ input: { path: pick(paths), equals: pick(scalars) } }),
    () => ({ text: partOf(pick([job.type, job.def, job.key, ...Object.values(job.tags ?? {})]) ?? 'a', next) }),
  ];
  const count = 1 + Math.floor(next() * 2.5);
  return Object.assign({}, ...Array.from({ length: count }, () => pick(filters)())) as Query;
}

/** Whether every database accepts the text in a query: it has no NUL, unpaired surrogate, U+FFFE or U+FFFF. */
const isAskable = (text: string): boolean => text.isWellFormed() && !/[\0\ufffe\uffff]/.test(text);

function partOf(text: string, next: () => number): string {
  const chars = Array.from(text).filter(isAskable);
  const from = Math.floor(next() * chars.length);
  const part = chars.slice(from, from + 1 + Math.floor(next() * 4)).join('');
  return next() < 0.5 ? part : next() < 0.5 ? part.toUpperCase() : part.toLowerCase();
}

const tagsOf = (job: Job): Tags =>
  Object.fromEntries(Object.entries(job.tags ?? {}).filter(([, value]) => isAskable(value)));

const tagsWanted = (job: Job): Tags[] =>
  [{}, tagsOf(job), { a: '' }, { A: 'x', '%': 'y' }, { 'a.b': 'z' }, { a: 'none' }, { "it's": '' }];

function* singleQueries(population: readonly Job[]): Generator<Query> {
  for (const path of paths) for (const equals of scalars) yield { input: { path, equals } };
  for (const glob of globs) yield { glob };
  for (const type of types) yield { types: [type] };
  for (const def of defs) yield { def };
  for (const standing of standings) yield { standings: [standing] };
  for (const kind of kinds) yield { kinds: [kind] };
  for (const text of oddTexts) yield* [{ text }, { error: text }, { tags: { a: text } }];
  for (const job of population) yield* [{ parent: job.id }, { tags: tagsOf(job) }];
  yield* [{ parent: null }, { kinds: [] }, { types: [] }, { standings: [] }, { tags: {} }];
  yield* [{ text: 'ÄR' }, { text: 'är' }, { text: 'MAIL' }];
}

function talliesOf(jobs: readonly Job[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const job of jobs) {
    const standing = standingOf(job);
    const name = `${job.kind} ${job.type} ${standing}`;
    tallies.set(name, { kind: job.kind, type: job.type, standing, count: (tallies.get(name)?.count ?? 0) + 1 });
  }
  return [...tallies.values()];
}
