// The table of bad input: what is asked, and the code with which it must be refused.
import { expect } from 'vitest';
import type { Command } from '../../src/model/command.ts';
import type { Job, RunningJob } from '../../src/model/job.ts';
import { isRefusal, type RefusalCode } from '../../src/refusal.ts';
import { durationMs } from '../../src/time/duration.ts';
import { at, checkSchedule, cron, every } from '../../src/time/schedule.ts';
import { broken, refusalOf, tester, type World } from './world.ts';

/** A world with something in it that bad input could spoil. */
export interface Scene {
  readonly world: World;
  readonly waiting: Job;
  readonly running: RunningJob;
}

export interface Row {
  readonly title: string;
  readonly code: RefusalCode;
  readonly ask: (scene: Scene) => Promise<unknown>;
}

export const mebibyte = 1_048_576;
export const timeMax = 253_402_300_799_999;

export const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

/** With own keys that an object literal could not have. */
const parsed = (text: string): object => JSON.parse(text) as object;
const hostile = (key: string): object => parsed(`{"a":{"${key}":{"polluted":true}}}`);

const badNames = [
  '', 'x'.repeat(256), '😀'.repeat(64), 'ü'.repeat(128), 'a\0b', 'a\nb', '\u001b[31m', '\u007f', '\u0085', '\ud800',
  'a\udc00b', '\ufffe', '\uffff', 5, true, {}, ['a'],
];
const noNames = [...badNames, null, undefined];
const badKeys = ['', 'x'.repeat(513), 'a\0b', '\ud800', 5, {}, ['a']];
const badWholes = [NaN, Infinity, -Infinity, 0.5, 2 ** 53, '1', '', true, [], {}, new Date(0)];
const noWholes = [...badWholes, null];
const badIds = [0, -1, 1.5, 2 ** 53, -0, NaN, Infinity, '1', '', {}, [1], 1n, true];
const noIds = [...badIds, null, undefined];
const badJson = [
  nested(65), { a: nested(64) }, 'a'.repeat(mebibyte - 1), 'ü'.repeat(mebibyte / 2), hostile('__proto__'),
  hostile('constructor'), hostile('prototype'), NaN, [Infinity], { a: -Infinity }, 1n, () => 1, Symbol('s'), new Map(),
  new Set([1]), /x/, cyclic, new Date(NaN), Promise.resolve(1),
];
const badJsonTexts = [
  '', ' ', 'no', '{', '{a:1}', "{'a':1}", '[1,]', '1e999', '{"__proto__":1}', '{"a":[{"constructor":1}]}',
  '{"\\u005f_proto__":1}', '"\u0001"', 'NaN', '1 2', '['.repeat(65) + ']'.repeat(65), '['.repeat(1_000_000),
  `"${'a'.repeat(mebibyte - 1)}"`, 5, null, {}, ['1'],
];
const badPatterns = ['?'.repeat(257), '*a'.repeat(9), '[a'.repeat(200), 'a\0*', '\ud800*', '\ufffe*', 5, null, {}];
const badCursors = [
  '', ' ', 'abc', '1e3', '-1', '+1', '0x1', '1.2.3', '1.', '.1', '1.5e3', '1,0', '9'.repeat(201),
  "1'; drop table feed; --", '\0', '1\n', '١', '1:2', ':::', '1:2:3:4', 'NaN', 'Infinity', '[object Object]', 5,
  undefined, {}, [], ['1'], true,
];
const badCrons = [
  '', '* * * *', '* * * * * * *', '61 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '*/0 * * * *',
  '5-1-2 * * * *', 'a b c d e', '@often', '١ * * * *', '* * * * * \0', '*'.repeat(1_000_000), 5, null,
];
const badRepeats = [
  '', ' ', 'YEARLY', 'FINISHED', 'FINISHED,', 'FINISHED, 1 DAY', 'FINISHED, +1 FORTNIGHT', 'FINISHED, + 1 DAY',
  'TOMORROW, +1 DAY', 'x'.repeat(100_000), 5, null, {},
];
const badModifiers = ['tomorrow', '1 HOUR', '+1 FORTNIGHT', 'START OF HOUR', 'FINISHED, +1 DAY', 5, {}];
const badDurations = [
  '', '5 m', 'm5', '-5m', '5y', '1m1h', '1e3s', 'NaNs', '5m '.repeat(100_000), '٣s', NaN, Infinity, -1, 0.5,
  3_155_760_000_001, null, {}, undefined,
];

/** A value in a title, whatever it is. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 30 ? `${value.slice(0, 12)}… (${value.length})` : value);
  }
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return typeof value;
  try {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
  } catch {
    return 'something that cannot be written';
  }
}

/** A row for each value; it is `never`, so that it fits wherever it is tried. */
function each(
  title: string,
  values: readonly unknown[],
  code: RefusalCode,
  ask: (scene: Scene, value: never) => Promise<unknown>,
): Row[] {
  return values.map((value) => ({
    title: `${title} ${shown(value)}`,
    code,
    ask: (scene) => ask(scene, value as never),
  }));
}

const one = (title: string, code: RefusalCode, ask: Row['ask']): Row => ({ title, code, ask });

const creating = (title: string, code: RefusalCode, part: object): Row =>
  one(title, code, ({ world }) => world.jobs.create({ type: 'plain', ...part }, 'producer'));

const field = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(name, values, code, ({ world }, value) => world.jobs.create({ type: 'plain', [name]: value }, 'producer'));

const policy = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(`policy.${name}`, values, code, ({ world }, value) => world.ask({ policy: { [name]: value } }));

const unique = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(`unique.${name}`, values, code, ({ world }, value) => world.ask({ unique: { key: 'k', [name]: value } }));

/** `conclude` answers refusals; here they count as thrown. */
async function command({ world, running }: Scene, said: object): Promise<void> {
  const asked = { do: 'succeed', fence: running.fence, ...said } as Command;
  for (const answer of await world.jobs.conclude([{ job: running, command: asked }], tester)) {
    if (isRefusal(answer)) throw answer;
  }
}

const failing = (scene: Scene, part: object): Promise<void> =>
  command(scene, { do: 'fail', error: broken, retryable: true, ...part });

const claim = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(`claim with ${name}`, values, code, ({ world }, value) => world.claim({ [name]: value }));

const edit = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(`edit ${name} to`, values, code, ({ world, waiting }, value) =>
    world.jobs.edit(waiting.id, { [name]: value }, tester));

const query = (name: string, values: readonly unknown[], code: RefusalCode): Row[] =>
  each(`query for ${name}`, values, code, async ({ world }, value) => {
    const counted = await refusalOf(world.jobs.count({ [name]: value }));
    expect(counted.code, 'counting is refused alike').toBe(code);
    return world.jobs.find({ [name]: value });
  });

const say = (title: string, values: readonly unknown[], code: RefusalCode, said: (value: never) => unknown): Row[] =>
  each(title, values, code, async (_, value) => said(value));

const ids = {
  get: ({ world }: Scene, id: number) => world.jobs.get(id),
  'history of': ({ world }: Scene, id: number) => world.jobs.history(id),
  cancel: ({ world }: Scene, id: number) => world.jobs.cancel(id, tester),
  stop: ({ world }: Scene, id: number) => world.jobs.stop(id, tester),
  pause: ({ world }: Scene, id: number) => world.jobs.pause(id, tester),
  resume: ({ world }: Scene, id: number) => world.jobs.resume(id, tester),
  retry: ({ world }: Scene, id: number) => world.jobs.retry(id, tester),
  requeue: ({ world }: Scene, id: number) => world.jobs.requeue(id, 0, tester),
  edit: ({ world }: Scene, id: number) => world.jobs.edit(id, {}, tester),
  delete: ({ world }: Scene, id: number) => world.jobs.delete(id),
  succeed: ({ world }: Scene, id: number) => world.jobs.succeed(id, 1, tester),
  'children of': ({ world }: Scene, id: number) => world.jobs.createChildren(id, [{ type: 'plain' }], 'producer'),
  extend: ({ world }: Scene, id: number) => world.jobs.extend([{ id, fence: 1 }], 1000),
};

export const badInput: Readonly<Record<string, readonly Row[]>> = {
  'a draft as a whole': [
    ...each('draft', [null, undefined, 'mail', 5, [], true], 'malformed.option', ({ world }, draft) =>
      world.jobs.create(draft, 'producer'),
    ),
    ...each('drafts', [null, undefined, 'mail', 5, {}], 'malformed.option', ({ world }, drafts) =>
      world.jobs.createMany(drafts, 'producer'),
    ),
    creating('an unknown field', 'malformed.option', { prioritty: 1 }),
    creating('a field that is not for users', 'malformed.option', { state: 'ended' }),
    creating('__proto__ as a field', 'malformed.option', parsed('{"__proto__":{"polluted":true}}')),
    ...field('kind', ['robot', '', 5, null, '__proto__', 'constructor'], 'malformed.option'),
    ...field('phase', ['later', '', 5, null], 'malformed.option'),
    ...field('tick', ['now', []], 'malformed.option'),
    ...field('tick', [{}, { def: 0, schedule: 0, nominal: 0, isAwaited: false }], 'malformed.id'),
    ...field('tick', [{ def: 1, schedule: -1, nominal: 0, isAwaited: false }], 'malformed.number'),
    ...field('gate', ['mail', { other: 1 }], 'malformed.option'),
    ...field('gate', [{ typeMax: 0 }, { defMax: 0.5 }], 'malformed.number'),
    one('a bad draft beside a good one', 'malformed.name', ({ world }) =>
      world.jobs.createMany([{ type: 'good' }, { type: '' }], 'producer'),
    ),
  ],
  names: [
    ...field('type', noNames, 'malformed.name'),
    ...field('def', badNames, 'malformed.name'),
    ...field('key', badKeys, 'malformed.name'),
    ...field('limitKey', badKeys, 'malformed.name'),
    ...each('producer', noNames, 'malformed.name', ({ world }, by) => world.jobs.create({ type: 'plain' }, by)),
    ...each('asker', noNames, 'malformed.name', ({ world, waiting }, by) => world.jobs.pause(waiting.id, { by })),
    ...each('reason', ['', 'x'.repeat(4097), '\ud800', 5], 'malformed.name', ({ world, waiting }, why) =>
      world.jobs.pause(waiting.id, { by: 'me', why }),
    ),
    ...each('asker', [null, undefined, 'me', []], 'malformed.option', ({ world, waiting }, asker) =>
      world.jobs.pause(waiting.id, asker),
    ),
  ],
  'priority and due time': [
    ...field('priority', [...noWholes, 1_000_001, -1_000_001], 'malformed.number'),
    ...field('due', [...noWholes, -1, timeMax + 1], 'malformed.number'),
    ...each('requeue until', [...noWholes, undefined, -1], 'malformed.number', ({ world, waiting }, due) =>
      world.jobs.requeue(waiting.id, due, tester),
    ),
  ],
  payloads: [
    ...field('input', badJson, 'malformed.json'),
    ...field('inputText', badJsonTexts, 'malformed.json'),
    ...each('result', badJsonTexts, 'malformed.json', (scene, result) => command(scene, { result })),
    ...each('error.data', badJson, 'malformed.json', (scene, data) => failing(scene, { error: { ...broken, data } })),
    ...each('error.message', ['x'.repeat(mebibyte)], 'malformed.json', (scene, message) =>
      failing(scene, { error: { ...broken, message } }),
    ),
    ...each('error.message', [undefined, null, 5, {}], 'malformed.option', (scene, message) =>
      failing(scene, { error: { ...broken, message } }),
    ),
    ...each('error.code', ['oops', '', undefined, 5], 'malformed.option', (scene, code) =>
      failing(scene, { error: { ...broken, code } }),
    ),
    ...each('error', [null, 'broken', [], { ...broken, extra: 1 }], 'malformed.option', (scene, error) =>
      failing(scene, { error }),
    ),
  ],
  'unique keys': [
    ...unique('key', [...badKeys, null, undefined], 'malformed.name'),
    ...unique('forMs', [...noWholes, 0, -1, timeMax + 1], 'malformed.number'),
    ...unique('onTaken', ['replace', '', 5, null, true], 'malformed.option'),
    ...unique('untilMs', [5], 'malformed.option'),
    ...field('unique', ['k', 5, true, ['k']], 'malformed.option'),
  ],
  tags: [
    ...field('tags', [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`tag ${n}`, '']))], 'malformed.option'),
    ...field('tags', ['tag', 5, true, ['tag']], 'malformed.option'),
    ...field('tags', [{ '': 'x' }, { ['x'.repeat(256)]: 'x' }, { 'a\nb': 'x' }, { '\ud800': 'x' }], 'malformed.name'),
    ...field(
      'tags',
      ['__proto__', 'constructor', 'prototype'].map((name) => parsed(`{"${name}":"x"}`)),
      'malformed.name',
    ),
    ...['x'.repeat(256), 'a\0b', '\ud800', 5, null, undefined, {}, ['x']].flatMap((value) =>
      field('tags', [{ tag: value }], 'malformed.name'),
    ),
  ],
  policies: [
    ...policy('attemptsMax', [...badWholes, 0, -1, 1_000_001], 'malformed.number'),
    ...policy('crashesMax', [NaN, -1, 1001, 1.5, '1'], 'malformed.number'),
    ...policy('baseMs', [NaN, -1, 0.5, Infinity, '1s', 366 * 86_400_000], 'malformed.number'),
    ...policy('maxMs', [NaN, -1, 0.5, Infinity, '1s'], 'malformed.number'),
    creating('a base above the maximum', 'malformed.option', { policy: { baseMs: 5000, maxMs: 1000 } }),
    ...policy('jitter', [NaN, -0.1, 1.1, '0.5', Infinity], 'malformed.number'),
    ...policy('backoff', ['random', '', 5, '__proto__', 'toString'], 'malformed.option'),
    ...policy('timeoutMs', [...noWholes, -1], 'malformed.number'),
    ...policy('prepareTimeoutMs', [...noWholes, -1], 'malformed.number'),
    ...policy('retentionMs', [...noWholes, -1], 'malformed.number'),
    ...policy('startBy', [...noWholes, -1], 'malformed.number'),
    ...policy('leaderOnly', ['yes', 1, null], 'malformed.option'),
    ...policy('onTaskFailure', ['never', '', null, [], {}, 5, { other: 1 }], 'malformed.option'),
    ...policy('onTaskFailure', [{ tolerate: 1, toleratePercent: 1 }], 'malformed.option'),
    ...policy('onTaskFailure', [{ tolerate: -1 }, { tolerate: 1.5 }, { tolerate: '1' }], 'malformed.number'),
    ...policy('onTaskFailure', [{ toleratePercent: 101 }, { toleratePercent: NaN }], 'malformed.number'),
    ...policy('repeat', badRepeats, 'malformed.repeat'),
    ...policy('repeat', [`FINISHED${', +999 YEARS'.repeat(9)}`], 'impossible.schedule'),
    ...policy('retryAfter', badModifiers, 'malformed.repeat'),
    ...policy('retries', [3], 'malformed.option'),
    ...field('policy', [parsed('{"__proto__":{"attemptsMax":9}}'), 'strict', 5, true, [], ['x']], 'malformed.option'),
  ],
  ids: Object.entries(ids).flatMap(([title, ask]) => each(title, noIds, 'malformed.id', ask)),
  'fences and leases': [
    ...each('finish under fence', [...noWholes, undefined, 0, -1], 'malformed.number', (scene, fence) =>
      command(scene, { fence }),
    ),
    ...each('extend under fence', [...noWholes, undefined, 0, -1], 'malformed.number', ({ world, running }, fence) =>
      world.jobs.extend([{ id: running.id, fence }], 1000),
    ),
    ...each('extend by', [...noWholes, undefined, 0, -1], 'malformed.number', ({ world, running }, leaseMs) =>
      world.jobs.extend([{ id: running.id, fence: running.fence }], leaseMs),
    ),
    ...each('extend', [null, 'x', {}, [null]], 'malformed.option', ({ world }, list) => world.jobs.extend(list, 1000)),
    ...each('children under fence', [...noWholes, 0], 'malformed.number', ({ world, running }, fence) =>
      world.jobs.createChildren(running.id, [{ type: 'plain' }], 'producer', fence),
    ),
  ],
  claims: [
    ...claim('leaseMs', [...badWholes, undefined, 0, -1], 'malformed.number'),
    ...claim('limit', [...noWholes, undefined, -1, 10_001], 'malformed.number'),
    ...claim('holder', noNames, 'malformed.name'),
    ...claim('kinds', [null, undefined, 'run', ['robot'], [5], {}], 'malformed.option'),
    ...claim(
      'names',
      [null, undefined, 'mail', [], { exact: 'mail' }, { exact: null }, { like: '%' }],
      'malformed.option',
    ),
    ...claim('names', [{ exact: [''] }, { exact: ['\0'] }, { exact: [5] }], 'malformed.name'),
    ...claim('names', [{}, ...badPatterns.map((glob) => ({ glob }))], 'malformed.pattern'),
    ...claim('priorities', [[1.5], [NaN], ['1'], [1_000_001]], 'malformed.number'),
    ...claim('priorities', ['1) OR (1=1', {}, null], 'malformed.option'),
    ...claim('isLeader', ['yes', 1, null], 'malformed.option'),
    ...claim('limits', ['none', { others: 1 }, null], 'malformed.option'),
    ...claim('unknown', [true], 'malformed.option'),
  ],
  commands: [
    ...each(
      'do',
      ['explode', '', undefined, 5, '__proto__', 'constructor', 'toString'],
      'malformed.option',
      (scene, name) => command(scene, { do: name }),
    ),
    ...each('release until', [...noWholes, -1], 'malformed.number', (scene, due) =>
      command(scene, { do: 'release', due }),
    ),
    ...each('try again at', [...noWholes, -1], 'malformed.number', (scene, retryAt) => failing(scene, { retryAt })),
    ...each('retryable', ['maybe', 1, null, undefined], 'malformed.option', (scene, retryable) =>
      failing(scene, { retryable }),
    ),
    ...each('hand off to', noNames, 'malformed.name', (scene, holder) =>
      command(scene, { do: 'handOff', holder, until: null }),
    ),
    ...each('hand off until', [...badWholes, undefined, -1], 'malformed.number', (scene, until) =>
      command(scene, { do: 'handOff', holder: 'other', until }),
    ),
    ...each('plan so many tasks:', [...noWholes, undefined, -1], 'malformed.number', (scene, tasks) =>
      command(scene, { do: 'plan', tasks }),
    ),
    ...each('asks', ['all', null, {}, [null], [5]], 'malformed.option', ({ world }, asks) =>
      world.jobs.conclude(asks, tester),
    ),
  ],
  operators: [
    ...each('cancel with grace', [...noWholes, -1], 'malformed.number', ({ world, running }, graceMs) =>
      world.jobs.cancel(running.id, tester, graceMs),
    ),
    ...each('cancel with code', ['friend', '', 5, null, '__proto__'], 'malformed.option', ({ world, running }, code) =>
      world.jobs.cancel(running.id, { by: 'me', code }),
    ),
    ...each('stop with code', ['friend', '', 5, null, '__proto__'], 'malformed.option', ({ world, running }, code) =>
      world.jobs.stop(running.id, { by: 'me', code }),
    ),
    ...each('retry only', ['all', '', 5, null], 'malformed.option', ({ world, waiting }, only) =>
      world.jobs.retry(waiting.id, tester, { only }),
    ),
    ...each('retry downstream', ['some', '', 5, null], 'malformed.option', ({ world, waiting }, downstream) =>
      world.jobs.retry(waiting.id, tester, { downstream }),
    ),
    ...each('retry', ['all', 5, null], 'malformed.option', ({ world, waiting }, scope) =>
      world.jobs.retry(waiting.id, tester, scope),
    ),
    ...each(
      'edit',
      [null, undefined, 'x', [], parsed('{"__proto__":{}}')],
      'malformed.option',
      ({ world, waiting }, said) => world.jobs.edit(waiting.id, said, tester),
    ),
    ...edit('state', ['ended'], 'malformed.option'),
    ...edit('id', [1], 'malformed.option'),
    ...edit('plan', [{}, null], 'malformed.option'),
    ...edit('type', [...badNames, null], 'malformed.name'),
    ...edit('priority', noWholes, 'malformed.number'),
    ...edit('due', [...noWholes, -1], 'malformed.number'),
    ...edit('input', badJsonTexts, 'malformed.json'),
    ...edit('policy', [{ attemptsMax: 0 }], 'malformed.number'),
    ...edit('policy', [{ repeat: 'never' }], 'malformed.repeat'),
    ...edit('policy', [null, 'x'], 'malformed.option'),
    ...edit('tags', ['x', []], 'malformed.option'),
    ...edit('tags', [{ a: 5 }, { constructor: 'x' }], 'malformed.name'),
  ],
  queries: [
    ...each('find', [null, 'x', 5, []], 'malformed.option', ({ world }, asked) => world.jobs.find(asked)),
    ...each('count', [null, 'x', 5, []], 'malformed.option', ({ world }, asked) => world.jobs.count(asked)),
    ...query('state', ['pending'], 'malformed.option'),
    ...query(
      'standings',
      ['pending', ['done'], [''], [null], [5], ['pending', 'PENDING'], {}, null],
      'malformed.option',
    ),
    ...query('standings', [['__proto__'], ["x') OR 1=1 --"]], 'malformed.option'),
    ...query('kinds', ['run', ['robot'], [null], {}, null], 'malformed.option'),
    ...query('types', ['mail', {}, null, Array(1001).fill('a')], 'malformed.option'),
    ...query('types', [[''], [5], ['a\0'], ['\ud800']], 'malformed.name'),
    ...query('glob', badPatterns, 'malformed.pattern'),
    ...query('def', [...badNames, null], 'malformed.name'),
    ...query('parent', badIds, 'malformed.id'),
    ...query('tags', ['x', ['x'], 5, null], 'malformed.option'),
    ...query('tags', [{ a: 5 }, { a: null }, { '': 'x' }, { a: '\0' }, parsed('{"__proto__":"x"}')], 'malformed.name'),
    ...query('createdFrom', [...noWholes, -1], 'malformed.number'),
    ...query('createdBefore', [...noWholes, -1], 'malformed.number'),
    ...query('dueBefore', [...noWholes, -1], 'malformed.number'),
    ...query('error', ['', 'x'.repeat(1001), '\0', '\ud800', 5, null, {}], 'malformed.name'),
    ...query('text', ['', 'x'.repeat(1001), '\0', '\ud800', 5, null, {}], 'malformed.name'),
    ...query('input', ['x', [], null, { path: ['a'], equals: 1, like: 1 }], 'malformed.option'),
    ...query(
      'input',
      ['a', null, Array(65).fill('a')].map((path) => ({ path, equals: 1 })),
      'malformed.option',
    ),
    ...query(
      'input',
      [{}, [1], undefined, NaN, 1n].map((equals) => ({ path: ['a'], equals })),
      'malformed.option',
    ),
    ...query(
      'input',
      ['', 5, '\ud800', '\0'].map((name) => ({ path: [name], equals: 1 })),
      'malformed.name',
    ),
    ...query(
      'input',
      ['\0', 'x'.repeat(1001)].map((equals) => ({ path: ['a'], equals })),
      'malformed.name',
    ),
  ],
  'pages, histories and the feed': [
    ...each('page', [null, 'x', 5, [], { page: 2 }], 'malformed.option', ({ world }, page) =>
      world.jobs.find({}, page),
    ),
    ...each('page of', [...noWholes, 0, -1, 1001], 'malformed.number', ({ world }, limit) =>
      world.jobs.find({}, { limit }),
    ),
    ...each('page after', [...badIds, null], 'malformed.id', ({ world }, after) => world.jobs.find({}, { after })),
    ...each(
      'page in order',
      ['random', '', 5, null, 'newest; drop table job'],
      'malformed.option',
      ({ world }, order) => world.jobs.find({}, { order }),
    ),
    ...each('history from', [...noWholes, 0, -1], 'malformed.number', ({ world, waiting }, from) =>
      world.jobs.history(waiting.id, from),
    ),
    ...each('history of', [...noWholes, 0, -1], 'malformed.number', ({ world, waiting }, limit) =>
      world.jobs.history(waiting.id, 1, limit),
    ),
    ...each('feed of', [...noWholes, 0, -1, 10_001], 'malformed.number', ({ world }, limit) =>
      world.jobs.events(null, limit),
    ),
    ...each('cursor', badCursors, 'malformed.cursor', ({ world }, cursor) => world.jobs.events(cursor)),
  ],
  'times and schedules': [
    ...say('cron', badCrons, 'malformed.cron', (text) => cron(text)),
    ...say('cron', ['0 0 31 4 *', '0 0 30 2 *'], 'impossible.schedule', (text) => cron(text)),
    ...say('zone', ['Mars/Olympus', '', 5], 'malformed.zone', (zone) => cron('* * * * *', { zone })),
    ...say('duration', badDurations, 'malformed.duration', (duration) => durationMs(duration)),
    ...say('every', [0], 'impossible.schedule', (interval) => every(interval)),
    ...say(
      'at',
      ['soon', '2026-02-30T00:00:00Z', '2026-03-29T02:30', NaN, Infinity, new Date(NaN)],
      'malformed.time',
      (time) => at(time),
    ),
    ...say('schedule', [null, [], 'x', {}, { kind: '__proto__' }], 'malformed.schedule', (json) => checkSchedule(json)),
    ...say('schedule', [{ kind: 'every', everyMs: 1000, extra: 1 }], 'malformed.schedule', (json) =>
      checkSchedule(json),
    ),
  ],
};
