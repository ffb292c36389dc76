// Commands on a server: each command that can ask one prints there what it prints on the store of that server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../../src/cli/program.ts';
import { Engine, jobType } from '../../src/index.ts';
import { until } from '../http/world.ts';
import { Place, type Ended, type Started } from './stint.ts';

const place = new Place();
const store = ['--store', `sqlite:${join(place.folder, '.stint/jobs.db')}`];
let server: Started;
let url: string[];
/** The ids of runs that have ended: one without and one with tasks, and one that has failed. */
let [greeted, squared, failed]: number[] = [];

const jobs = `
import { jobType } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
export const greet = jobType('greet', { run: async ({ input, log, output }) => {
  log.info('hello');
  await output.write('hel');
  await output.write('lo\\n');
  await output.write({ done: true });
  return { greeting: input };
} });
export const squares = jobType('squares', {
  *taskDetails() { yield 1; yield 2; },
  taskResults: ({ task }) => task * task,
  jobResults: () => null,
});
export const broken = jobType('broken', { run: ({ log }) => { log.warn('oh'); throw new TypeError('no such file'); } });
export const ask = jobType('ask', { run: (context) => context.waitFor('who', { ask: 'Who?' }) });
export const handed = jobType('handed', { run: (context) => context.handOff() });
`;

beforeAll(async () => {
  writeFileSync(join(place.folder, 'jobs.ts'), jobs);
  writeFileSync(join(place.folder, 'flow.yaml'), 'runs:\n  - { name: b, type: mail, after: [a] }\n  - { name: a, type: mail }\n');
  writeFileSync(join(place.folder, 'defs.yaml'), 'definitions:\n  - { name: applied, type: mail, priority: 4 }\n');
  writeFileSync(join(place.folder, 'wrong.yaml'), 'definitions:\n  - { name: applied, type: mail, priority: high }\n');
  const created = await place.stint('tokens', 'create', 'ops', '--role', 'operator');
  const token = created.out.trim().split('\n').at(-1)!;
  server = place.start('serve', '--jobs', 'jobs.ts', '--http', '127.0.0.1:0', '--bedrock', 'off', ...store);
  const [, address] = await server.says(/HTTP +(\S+)/);
  url = ['--url', address!, '--token', token];
  [greeted, squared, failed] = await Promise.all(['greet', 'squares', 'broken'].map(async (type) => {
    const { out } = await place.stint('runs', 'create', type, '--input', '{"name":"Ada"}', ...store, '--json');
    return (JSON.parse(out) as { id: number }).id;
  }));
  for (const id of [greeted, squared, failed]) await place.stint('runs', 'watch', String(id), ...store);
});

afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

/** What differs by nature: times, who acts, and what is said about the instance that answers. */
const normal = ({ code, out, err }: Ended, names: readonly string[] = []): Ended => {
  const plain = (text: string): string => {
    const timeless = text
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b1[789]\d{11}\b/g, 'TIME')
      .replaceAll(/cli \w+|http:ops/g, 'WHO')
      .replaceAll(/\d+s ago|in \d+\w*|\bnow\b/g, 'AGE')
      .replaceAll(/"(isSelf|isLocal)": \w+/g, '"$1": ANY')
      .replaceAll(/ +/g, ' ');
    // After the times: a short id can be the minute of one.
    return names.reduce((all, name) => all.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), 'SUBJECT'), timeless);
  };
  return { code, out: plain(out), err: plain(err) };
};

const reading: readonly (() => string[])[] = [
  () => ['runs', 'ls'],
  () => ['runs', 'ls', '--state', 'failed', '--limit', '1'],
  () => ['runs', 'ls', '--type', 'greet', '--text', 'greet', '--tag', 'a=b'],
  () => ['runs', 'ls', '--state', 'nonsense'],
  () => ['runs', 'show', String(greeted)],
  () => ['runs', 'show', String(squared)],
  () => ['runs', 'show', String(failed)],
  () => ['runs', 'show', '4711'],
  () => ['runs', 'show', '0'],
  () => ['runs', 'events', String(failed)],
  () => ['runs', 'tasks', String(squared)],
  () => ['runs', 'log', String(failed)],
  () => ['runs', 'output', String(greeted)],
  () => ['runs', 'output', String(greeted), '--after', '1.1'],
  () => ['runs', 'output', String(greeted), '--after', 'x'],
  () => ['runs', 'output', String(greeted), '--follow'],
  () => ['runs', 'output', '4711', '--follow'],
  () => ['runs', 'steps', String(greeted)],
  () => ['runs', 'explain', String(failed)],
  () => ['runs', 'watch', String(failed)],
  () => ['runs', 'questions'],
  () => ['flows', 'ls'],
  () => ['flows', 'show', '4711'],
  () => ['defs', 'ls', '--match', 'x*'],
  () => ['defs', 'show', 'nothing'],
  () => ['defs', 'ticks', 'nothing'],
  () => ['defs', 'export'],
  () => ['defs', 'diff', 'defs.yaml', '--exit-code'],
  () => ['defs', 'diff', 'wrong.yaml'],
  () => ['inbox', 'ls', '--refused'],
  () => ['instances', 'ls'],
  () => ['limits', 'ls'],
  () => ['limits', 'show', 'nothing'],
  () => ['alerts', 'ls'],
  () => ['alerts', 'show', 'nothing'],
  () => ['alerts', 'history', 'nothing'],
  () => ['views', 'ls'],
  () => ['views', 'ls', '--page', 'nothing'],
  () => ['types', 'ls'],
  () => ['types', 'show', 'squares'],
  () => ['types', 'pauses'],
  () => ['schedule', 'calendar', '--from', '2026-01-01T00:00Z', '--hours', '3', '--zone', 'Europe/Berlin'],
  () => ['audit', 'ls', '--limit', '5'],
];

test('a command that reads prints the same on a server and on its store', async () => {
  for (const words of reading.map((each) => each())) {
    for (const json of [[], ['--json']]) {
      const [there, here] = [await place.stint(...words, ...json, ...url), await place.stint(...words, ...json, ...store)];
      expect(normal(there), [...words, ...json].join(' ')).toEqual(normal(here));
      expect(there.out + there.err, words.join(' ')).not.toBe('');
    }
  }
});

type Subject = (ways: string[], json: string[]) => Promise<string>;

const newRun = (type: string): Subject => async (ways) => {
  const { out } = await place.stint('runs', 'create', type, ...ways, '--json');
  return String((JSON.parse(out) as { id: number }).id);
};
const newRunIn = (type: string, state: string): Subject => async (ways) => {
  const id = await newRun(type)(ways, []);
  await until(async () => (await place.stint('runs', 'show', id, ...store)).out.split('\n')[0]!.includes(state));
  return id;
};
/** Its type is paused, or a run that is answered could run before its answer is printed. */
const newQuestion: Subject = async (ways) => {
  await place.stint('types', 'resume', 'ask', ...store);
  const id = await newRun('ask')(ways, []);
  await until(async () => new RegExp(`^${id} +ask`, 'm').test((await place.stint('runs', 'questions', ...store)).out));
  const paused = await place.stint('types', 'pause', 'ask', '--why', 'test', ...store);
  expect(paused, paused.err).toMatchObject({ code: 0 });
  return id;
};
let names = 0;
const newName: Subject = async () => `name${(names += 1)}`;
const newFlow: Subject = async (ways) => {
  const { out } = await place.stint('flows', 'create', 'flow.yaml', ...ways, '--json');
  return String((JSON.parse(out) as { id: number }).id);
};

/** Each line acts on a subject of its own, which it makes; `_` is its place. */
const acting: readonly (readonly [Subject, ...string[]])[] = [
  [newName, 'runs create mail --input {} --priority 2 --tag a=b --unique _', 'runs create mail --unique _'],
  [newRun('mail'), 'runs pause _ --why once', 'runs pause _', 'runs resume _', 'runs edit _ --priority 3 --tag c=d', 'runs edit _ --due 2099-01-01T00:00Z',
    'runs cancel _ --why wrong', 'runs retry _', 'runs stop _', 'runs stop _', 'runs delete _ --why done', 'runs delete _'],
  [newRunIn('handed', 'running'), 'runs complete _ --result 7'],
  [newRunIn('handed', 'running'), 'runs fail _ --error oh'],
  [newName, 'runs complete 1.nonsense', 'runs fail 1.nonsense --error oh'],
  [newQuestion, 'runs answer _ who {}', 'runs answer _ who {}'],
  [newName, 'defs create _ --type mail --every 1h --params {}', 'defs create _ --type mail', 'defs edit _ --priority 7', 'defs edit _',
    'defs show _', 'defs disable _ --why now', 'defs enable _', 'defs run _ --input {}', 'defs run _ --alone', 'defs ticks _ --from 2026-01-01T00:00Z --to 2026-01-02T00:00Z',
    'defs backfill _ --from 2020-01-01T00:00Z --to 2020-01-01T03:00Z --alone --dry-run', 'defs reset _', 'defs clone _ _clone --disabled',
    'defs disable --match _* --dry-run', 'defs enable --match _clone', 'defs rename _clone _other', 'defs delete _other', 'defs delete _other'],
  [newName, 'defs apply wrong.yaml --yes', 'defs apply defs.yaml --dry-run'],
  [newName, 'limits set _ --create --rate 5/1m --why busy', 'limits set _ --concurrency 2', 'limits pause _ --why stop', 'limits resume _ --spread 10m',
    'limits reopen _', 'limits reset _', 'limits delete _', 'limits delete _'],
  [newName, 'alerts create _ --when failed:3 --definition nothing --webhook https://example.com/secret', 'alerts edit _ --every 5m',
    'alerts edit _ --smtp smtps://ada:secret@mail.example.com?from=stint@example.com&to=ops@example.com', 'alerts edit _ --smtp smtp://nowhere',
    'alerts edit _', 'alerts history _', 'alerts delete _', 'alerts test _'],
  [newName, 'views save _ --page runs --query search=state%3Afailed --why once', 'views save _ --page nothing --query a=b',
    'views save _ --page runs --query ?a=b', 'views rename _ _other', 'views rename _ _clone', 'views ls --page runs', 'views delete _other',
    'views delete _other'],
  [newName, 'types pause mail --key _ --why stop --until 2h', 'types resume mail --key _ --spread 10m', 'types resume mail --key _'],
  [newFlow, 'flows cancel _ --why wrong', 'flows retry _', 'flows stop _'],
  [newName, 'flows create nothing.yaml', 'flows create defs.yaml'],
  [newName, 'inbox retry 4711', 'inbox rm 4711', 'instances drain nothing', 'instances resume nothing'],
];

test('a command that acts prints the same and has the same effect on a server and on its store', async () => {
  const perform = async (subject: Subject, lines: readonly string[], ways: string[], json: string[]): Promise<Ended[]> => {
    const made = await subject(ways, json);
    const ended: Ended[] = [];
    for (const line of lines) {
      const one = await place.stint(...line.replaceAll('_', made).split(' '), ...json, ...ways);
      const ids = [...one.out.matchAll(/"(?:id|operation)": (\d+)|[Rr]un (\d+)/g)].map(([, id, run]) => (id ?? run)!);
      ended.push(normal(one, [made, `${made}clone`, `${made}other`, ...ids]));
    }
    return ended;
  };
  for (const [subject, ...lines] of acting) {
    for (const json of [[], ['--json']]) {
      const [there, here] = [await perform(subject, lines, url, json), await perform(subject, lines, store, json)];
      lines.forEach((line, index) => expect(there[index], `${line} ${json.join('')}`).toEqual(here[index]));
      expect(JSON.stringify(there)).not.toContain('secret');
    }
  }
});

test('a definition file is applied once, whichever way it takes', async () => {
  const there = await place.stint('defs', 'apply', 'defs.yaml', '--yes', ...url, '--why', 'rollout');
  expect(there).toMatchObject({ code: 0, out: expect.stringContaining('Applied 1 change') as unknown });
  expect((await place.stint('defs', 'diff', 'defs.yaml', ...store)).out).toContain('Plan: 0 to create, 0 to change');
  expect((await place.stint('audit', 'ls', ...store)).out).toMatch(/http:ops .*applied +rollout/);
});

test('events and the live view are followed on a server', async () => {
  const tail = place.start('events', 'tail', ...url);
  let hasSaid = false;
  void tail.says(/ mail created by cli /).then(() => (hasSaid = true));
  // It follows what happens after it has connected.
  await until(async () => (await newRun('mail')(store, []), hasSaid));
  await tail.stop();
  const top = await place.stint('top', '--every', '0.2', ...url);
  expect(top).toMatchObject({ code: 0, out: expect.stringMatching(/instances 1 .*[^]*mail +\d/) as unknown });
  const [there, here] = [await place.stint('top', '--json', ...url), await place.stint('top', '--json', ...store)]
    .map((ended) => normal(ended).out.replace(/"store": ".*"/, ''));
  expect(there).toBe(here);
});

test('every command that can ask a server is compared', () => {
  const leaves = (command: Command, path: string): [string, Command][] =>
    (command.commands.length === 0 ? [[path, command]] : command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`.trim())));
  const able = leaves(program(), '').filter(([, { options }]) => options.some(({ long, hidden }) => long === '--url' && !hidden));
  const compared = [...reading.map((each) => each().join(' ')), ...acting.flatMap(([, ...lines]) => lines), 'events tail', 'top'];
  expect(able.map(([path]) => path).filter((path) => !compared.some((line) => `${line} `.startsWith(`${path} `)))).toEqual([]);
  expect(able.length).toBeGreaterThan(60);
});

test('commands that need the database or this machine refuse a server', async () => {
  for (const words of [['verify'], ['doctor'], ['migrate'], ['backup', 'copy.db'], ['tokens', 'ls'], ['work']]) {
    const refused = await place.alone(...words, '--url', url[1]!);
    expect(refused, words.join(' ')).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`stint ${words.slice(0, words[0] === 'tokens' ? 2 : 1).join(' ')} works on`) as unknown });
    expect(refused.err).toContain('(needs.database)');
  }
  const unnamed = await place.startWith({ STINT_URL: url[1]! }, 'verify').ended();
  expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining('needs.database') as unknown });
});

test('the server and its token come from flags or variables, and wrong ones are refused', async () => {
  const asked = await place.startWith({ STINT_URL: url[1]!, STINT_TOKEN: url[3]! }, 'runs', 'show', String(greeted)).ended();
  expect(normal(asked)).toEqual(normal(await place.stint('runs', 'show', String(greeted), ...store)));
  const refusals: [string[], string][] = [
    [['runs', 'ls', '--url', url[1]!, '--token', 'wrong'], 'unauthenticated'],
    [['runs', 'ls', '--url', url[1]!], 'unauthenticated'],
    [['runs', 'ls', ...url, ...store], 'use only one of --url and --store'],
    [['runs', 'ls', ...store, '--token', 'x'], '--token needs --url'],
    [['runs', 'ls', '--url', 'localhost'], '--url must begin with http'],
    [['runs', 'ls', '--url', url[1]!.replace('//', '//ada:s3cret@')], '--url must have no user and no password'],
    [['runs', 'ls', '--url', url[1]!, '--token', 's3cret\r'], 'the access token has a character that no token has'],
    [['runs', 'ls', ...url, '--encryption-keys', 'keys.json'], 'a server has its own keys'],
    [['defs', 'enable', 'applied', ...url, '--by', 'eve'], 'a server records the name of the token'],
    [['runs', 'cancel', '1', '--url', 'http://127.0.0.1:1'], 'unavailable.server'],
  ];
  for (const [words, says] of refusals) {
    const refused = await place.stint(...words);
    expect(refused, words.join(' ')).toMatchObject({ code: 2, out: '', err: expect.stringContaining(says) as unknown });
    expect(refused.err).not.toContain('s3cret');
  }
});

test('a refused act through a server changes nothing and is not repeated', async () => {
  const { out } = await place.stint('runs', 'create', 'mail', '--json', ...url);
  const { id } = JSON.parse(out) as { id: number };
  await using engine = new Engine({ store: store[1]!, types: [jobType('known', { run: () => {} })] });
  expect((await place.stint('runs', 'retry', String(id), ...url)).code).toBe(2);
  expect((await engine.history(id)).map(({ kind }) => kind)).toEqual(['created']);
});
