/**
 * Queries: the store under test must find and count the same jobs as the reference implementation, `matchesQuery`. Half of
 * the queries have one filter, of which there is one for each value worth trying; the others combine several at random.
 */
import { deepEqual, equal } from 'node:assert/strict';
import { seededRandom, type Random } from '../random.ts';
import type { Job, Tags } from '../model/job.ts';
import { kinds } from '../model/state.ts';
import { matchesQuery, standingOf, standings, type Query, type Tally } from '../store/query.ts';
import { oddPayloads, oddTexts, textsForJson } from './odd-texts.ts';
import { byId, idsOf, sameMembers } from './same.ts';
import { childOf, type JobSpec, type World } from './world.ts';

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

/** Compares `count` queries; throws at the first that differs. */
export async function checkQueries(world: World, count: number): Promise<void> {
  const population = await populate(world);
  for (const query of queriesOf(population, count)) {
    const wanted = population.filter((job) => matchesQuery(job, query));
    const shown = JSON.stringify(query);
    const { jobs } = await world.store.find(query, { limit: 1000 });
    deepEqual(idsOf(byId(jobs)), idsOf(wanted), `find ${shown}`);
    sameMembers(await world.store.count(query), talliesOf(wanted), `count ${shown}`);
  }
}

function queriesOf(population: readonly Job[], count: number): Query[] {
  const random = seededRandom(20_260_105);
  const single = sampleOf([...singleQueries(population)], Math.ceil(count / 2), random);
  const combined = Array.from({ length: count - single.length }, () => randomQuery(population, () => random.next()));
  return [...single, ...combined];
}

function sampleOf<T>(all: readonly T[], count: number, random: Random): T[] {
  const drawn = all.map((each) => ({ each, at: random.next() })).sort((a, b) => a.at - b.at);
  return drawn.slice(0, count).map(({ each }) => each);
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
