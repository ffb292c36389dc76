// The inbox: what other programs write in SQL becomes runs, once each, by the checks of every other door.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { encrypt, Engine, jobType, limit, openStore, type NewRun } from '../../src/index.ts';
import { TypeRegistry } from '../../src/engine/declare/type-registry.ts';
import { InboxRuns } from '../../src/engine/inbox-runs.ts';
import { Stores } from '../../src/engine/stores.ts';
import { TypeCatalogue } from '../../src/engine/type-catalogue.ts';
import { Jobs } from '../../src/jobs.ts';
import { isRefusal } from '../../src/refusal.ts';
import { systemRandom } from '../../src/random.ts';
import { systemClock, turn, VirtualClock, type Clock } from '../../src/time/clock.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { verify } from '../../src/verify.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { waitMs } from '../support/patience.ts';
import { CrashingStore } from '../transactions/crashing-store.ts';
import { newYear } from './api/kit.ts';

/** A clock whose timers never fire, so that nothing polls. */
const frozen: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  after: () => () => {},
  sleep: () => new Promise(() => {}),
};

/** A program that writes to the inbox in plain SQL. */
interface Writer {
  readonly url: string;
  enqueue(type: string, input: string | null, options?: string): Promise<number>;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const writers: Readonly<Record<string, () => Promise<Writer>>> = {
  SQLite: async () => {
    const url = `sqlite:${join(await temporaryFolder(), 'jobs.db')}`;
    await using engine = new Engine({ store: url });
    await engine.ready();
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    onTestFinished(() => db.close());
    const insert = db.prepare('insert into inbox (type, input, options) values (?, ?, ?) returning id');
    return {
      url,
      enqueue: async (type, input, options = '{}') => Number(insert.get(type, input, options)!['id']),
    };
  },
  PostgreSQL: async () => {
    const url = await migratedDatabase();
    const client = await connected(url);
    return {
      url,
      enqueue: async (type, input, options) => {
        const values = options === undefined ? [type, input] : [type, input, options];
        const call = `stint.enqueue($1, $2${options === undefined ? '' : ', $3'})`;
        return Number((await client.query(`select ${call} as id`, values)).rows[0].id);
      },
    };
  },
};

const names = Object.keys(writers);

/** A type that passes each input on. */
function listening() {
  const inputs: unknown[] = [];
  const waiting: (() => void)[] = [];
  const type = jobType('mail', {
    input: z.object({ to: z.string() }),
    run: ({ input }) => {
      inputs.push(input.to);
      for (const resolve of waiting.splice(0)) resolve();
    },
  });
  const until = async (count: number): Promise<void> => {
    while (inputs.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { type, inputs, until };
}

test.each(names)('on %s, a request passes through the middleware', async (name) => {
  const writer = await writers[name]!();
  const { type, inputs, until } = listening();
  const create = (run: NewRun, next: (changes?: { input: unknown }) => Promise<void>) =>
    next({ input: { to: `${(run.input as { to: string }).to}, through ${run.by}` } });
  await using engine = new Engine({ store: writer.url, types: [type], middleware: [{ create }] });
  await engine.resume();
  await writer.enqueue('mail', '{"to": "ada"}');
  await until(1);
  expect(inputs).toEqual(['ada, through inbox']);
});

test.each(names)('on %s, an instance without a codec leaves requests to one that encrypts them', async (name) => {
  const writer = await writers[name]!();
  const { type, inputs, until } = listening();
  await using keyless = new Engine({ store: writer.url, instance: 'keyless' });
  await keyless.resume();
  const codec = encrypt({ keys: { one: Buffer.alloc(32, 7).toString('base64') }, current: 'one' });
  await using encrypting = new Engine({ store: writer.url, types: [type], codec, instance: 'encrypting' });
  await encrypting.resume();
  await expect.poll(() => keyless.jobs.store.instances(), { timeout: waitMs })
    .toContainEqual(expect.objectContaining({ about: expect.objectContaining({ encodes: true }) as object }));
  await writer.enqueue('mail', '{"to": "ada"}');
  await until(1);
  expect(inputs).toEqual(['ada']);
  const { jobs: [run] } = await keyless.find({ types: ['mail'] });
  expect(run!.input).not.toContain('ada');
});

test.each(names)('on %s, an instance without a codec takes requests if none with a codec is alive', async (name) => {
  const writer = await writers[name]!();
  const { type, inputs, until } = listening();
  const codec = encrypt({ keys: { one: Buffer.alloc(32, 7).toString('base64') }, current: 'one' });
  const encrypting = new Engine({ store: writer.url, codec, instance: 'encrypting' });
  await encrypting.resume();
  await encrypting.close();
  await using engine = new Engine({ store: writer.url, types: [type], clock: frozen });
  await engine.resume();
  await writer.enqueue('mail', '{"to": "ada"}');
  await until(1);
  expect(inputs).toEqual(['ada']);
});

test.each(names)('on %s, a request may cost as much as a burst that an override has raised', async (name) => {
  const writer = await writers[name]!();
  const started = Promise.withResolvers<number>();
  const ask = jobType('ask', {
    input: z.object({ tokens: z.number() }),
    limits: [limit('tokens', { rate: '60/1m', burst: 30 })],
    cost: 'tokens',
    run: ({ input }) => started.resolve(input.tokens),
  });
  await using engine = new Engine({ store: writer.url, types: [ask] });
  await engine.resume();
  await engine.overrideLimit('tokens', { rate: '60/1m', burst: 50 }, { by: 'ada' });
  await writer.enqueue('ask', '{"tokens": 50}');
  expect(await started.promise).toBe(50);
});

test.each(names)('on %s, a request becomes a run that starts without a poll', async (name) => {
  const writer = await writers[name]!();
  const { type, inputs, until } = listening();
  await using engine = new Engine({ store: writer.url, types: [type], clock: frozen });
  await engine.resume();
  await writer.enqueue('mail', '{"to": "ada"}', '{"priority": 7, "tags": {"order": "1"}, "unique": "order 1"}');
  await until(1);
  expect(inputs).toEqual(['ada']);
  const { jobs: [run] } = await engine.find({ types: ['mail'] });
  expect(run).toMatchObject({ priority: 7, tags: { order: '1' }, unique: { key: 'order 1' } });
  expect((await engine.history(run!.id))[0]).toMatchObject({ kind: 'created', by: 'inbox' });
  expect(await engine.countInbox()).toEqual({ waiting: 0, refused: 0, oldestWaitingAt: null });
});

test('on PostgreSQL, a request takes effect when its transaction commits', async () => {
  const url = await migratedDatabase();
  const client = await connected(url);
  const { type, inputs, until } = listening();
  await using engine = new Engine({ store: url, types: [type], clock: frozen });
  await engine.resume();
  await client.query('begin');
  await client.query(`select stint.enqueue('mail', '{"to": "nobody"}')`);
  await client.query('rollback');
  await client.query('begin');
  await client.query(`select stint.enqueue('mail', '{"to": "ada"}')`);
  await client.query('commit');
  await until(1);
  expect(inputs).toEqual(['ada']);
});

test('on PostgreSQL, a trigger enqueues a run for each of a thousand rows, and they keep their order', async () => {
  const url = await migratedDatabase();
  const client = await connected(url);
  await client.query(`create table orders (id int);
    create function confirm() returns trigger language plpgsql as $$
      begin perform stint.enqueue('mail', jsonb_build_object('to', new.id::text)); return new; end $$;
    create trigger confirm after insert on orders for each row execute function confirm()`);
  const { type, inputs, until } = listening();
  await using engine = new Engine({ store: url, types: [type] });
  await engine.resume();
  await client.query('insert into orders select generate_series(1, 1000)');
  await until(1000);
  expect(new Set(inputs).size).toBe(1000);
  const { jobs } = await engine.find({ types: ['mail'] }, { order: 'oldest', limit: 1000 });
  expect(jobs.map(({ input }) => JSON.parse(input).to)).toEqual(Array.from({ length: 1000 }, (_, n) => String(n + 1)));
});

test('on PostgreSQL, a role needs only the right to execute the function, whatever its search path', async () => {
  const url = await migratedDatabase();
  const owner = await connected(url);
  const role = `app_${systemRandom.hex(6)}`;
  await owner.query(`create role ${role} login; grant usage on schema stint to ${role}`);
  const guestUrl = new URL(url);
  guestUrl.username = role;
  const guest = await connected(guestUrl.href);
  await expect(guest.query(`select stint.enqueue('mail', '{}')`)).rejects.toThrow('permission denied');
  await owner.query(`grant execute on function stint.enqueue(text, jsonb, jsonb) to ${role}`);
  await guest.query(`set search_path = ''`);
  const { rows } = await guest.query(`select stint.enqueue('mail', '{}') as id`);
  expect(rows).toEqual([{ id: '1' }]);
  await expect(guest.query('select * from stint.inbox')).rejects.toThrow('permission denied');
});

test('on PostgreSQL, the function works in a schema of another name, and its notice wakes instances', async () => {
  const url = await migratedDatabase();
  const store = openStore(`${url}?schema=It%27s%20%22odd%22`);
  const { type, inputs, until } = listening();
  await using engine = new Engine({ store, types: [type], clock: frozen });
  await engine.resume();
  const client = await connected(url);
  await client.query(`select "It's ""odd""".enqueue('mail', '{"to": "ada"}')`);
  await until(1);
  expect(inputs).toEqual(['ada']);
});

test.each(names)('on %s, SQL itself refuses what has not the form of a request', async (name) => {
  const writer = await writers[name]!();
  await expect(writer.enqueue('', '{}')).rejects.toThrow(/constraint/i);
  await expect(writer.enqueue('mail', '{')).rejects.toThrow(/json|constraint/i);
  await expect(writer.enqueue('mail', '{}', 'nothing')).rejects.toThrow(/json|constraint/i);
});

const single = jobType('single', { onePerType: true, run: () => {} });
const typed = jobType('mail', { input: z.object({ to: z.string() }), run: () => {} });

/** What is refused: the input and the options. */
const wrong: readonly (readonly [input: unknown, options: Record<string, unknown>])[] = [
  [{ to: 5 }, {}],
  [undefined, {}],
  [{ to: 'ada' }, { prority: 1 }],
  [{ to: 'ada' }, { priority: 'high' }],
  [{ to: 'ada' }, { priority: 1e9 }],
  [{ to: 'ada' }, { delay: 'soon' }],
  [{ to: 'ada' }, { dueTime: 'tomorrow' }],
  [{ to: 'ada' }, { delay: '1s', dueTime: '2030-01-01T00:00:00Z' }],
  [{ to: 'ada' }, { unique: '' }],
  [{ to: 'ada' }, { unique: { key: 'a', onTaken: 'drop' } }],
  [{ to: 'ada' }, { tags: { a: 5 } }],
  [{ to: 'x'.repeat(1_100_000) }, {}],
];

test.each(names)('on %s, a wrong request is refused with the code of the library, and stays', async (name) => {
  const writer = await writers[name]!();
  await using engine = new Engine({ store: writer.url, types: [typed, single], logger: quiet });
  const expected = new Map<number, string>();
  for (const [input, options] of wrong) {
    const given = input === undefined ? null : JSON.stringify(input);
    const id = await writer.enqueue('mail', given, JSON.stringify(options));
    const request = { ...options, ...(input === undefined ? {} : { input }) };
    expected.set(id, await codeOf(engine.createJobRun(typed, request as never)));
  }
  await engine.createJobRun(single);
  expected.set(await writer.enqueue('single', null), await codeOf(engine.createJobRun(single)));
  expected.set(await writer.enqueue('a name with spaces', null), 'malformed.name');
  expected.set(await writer.enqueue('mail', '{}', '{"input": {"to": "ada"}}'), 'malformed.option');
  await writer.enqueue('mail', '{"to": "ada"}');
  await engine.resume();
  await vi.waitFor(async () => expect((await engine.countInbox()).waiting).toBe(0), { timeout: waitMs });
  const refused = await engine.inboxRequests({ standing: 'refused' });
  expect(new Map(refused.map(({ id, refused: why }) => [id, why?.code]))).toEqual(expected);
  expect((await engine.find({ types: ['mail'] })).jobs).toHaveLength(1);
});

test.each(names)('on %s, a taken unique key is kept or updated, and a type that nobody knows waits', async (name) => {
  const writer = await writers[name]!();
  await using engine = new Engine({ store: writer.url, logger: quiet });
  await writer.enqueue('later', '{"n": 1}', '{"unique": "order 7", "delay": "1h"}');
  await writer.enqueue('later', '{"n": 2}', '{"unique": "order 7"}');
  await writer.enqueue('later', '{"n": 3}', '{"unique": {"key": "order 7", "onTaken": "update"}, "priority": 3}');
  await writer.enqueue('later', null);
  await engine.resume();
  await vi.waitFor(async () => expect((await engine.countInbox()).waiting).toBe(0), { timeout: waitMs });
  const { jobs } = await engine.find({ types: ['later'] }, { order: 'oldest' });
  expect(jobs.map(({ input, priority }) => [input, priority])).toEqual([['{"n":3}', 3], ['null', 0]]);
  expect((await engine.countInbox()).refused).toBe(0);
});

test.each(names)('on %s, a refused request can be retried and removed, which is recorded', async (name) => {
  const writer = await writers[name]!();
  const [first, second] = [await writer.enqueue('mail', '{}'), await writer.enqueue('mail', '{"to": 1}')];
  await using old = new Engine({ store: writer.url, types: [typed], logger: quiet });
  await old.resume();
  await vi.waitFor(async () => expect((await old.countInbox()).refused).toBe(2), { timeout: waitMs });
  await old.suspend();
  const { type, until } = listening();
  const lenient = jobType('mail', { input: z.object({ to: z.string().default('all') }), run: type.options.run as never });
  await using engine = new Engine({ store: writer.url, types: [lenient], logger: quiet });
  await engine.resume();
  await engine.retryInboxRequest(first, { by: 'ada', why: 'the schema has a default now' });
  await until(1);
  await engine.removeInboxRequest(second, { by: 'ada' });
  expect(await engine.countInbox()).toMatchObject({ waiting: 0, refused: 0 });
  await expect(engine.removeInboxRequest(second)).rejects.toMatchObject({ code: 'unknown.request' });
  const { records } = await engine.jobs.audited({ by: 'ada' });
  expect(records.map(({ action, why }) => [action, why]).toReversed()).toEqual([
    ['inbox.retry', 'the schema has a default now'], ['inbox.remove', null],
  ]);
});

test.each(names)('on %s, instances that take the same requests at once create each run once', async (name) => {
  const writer = await writers[name]!();
  const total = 2_500;
  for (let n = 1; n <= 100; n += 1) await writer.enqueue('mail', `{"to": "${n}"}`);
  const engines = [1, 2, 3].map(() => new Engine({ store: writer.url, types: [typed], logger: quiet }));
  await engines[0]!.jobs.store.enqueue(
    Array.from({ length: total - 100 }, (_, n) => ({ type: 'mail', input: `{"to": "${n + 101}"}`, options: '{}' })),
  );
  await Promise.all(engines.map(({ jobs }) => drain(jobs)));
  const runs = await Array.fromAsync(allRuns(engines[0]!));
  expect(runs.map(({ input }) => Number(JSON.parse(input).to)).sort((a, b) => a - b))
    .toEqual(Array.from({ length: total }, (_, n) => n + 1));
  await Promise.all(engines.map((engine) => engine.close()));
});

test('a process that dies at any await while it takes requests leaves each run exactly once', async () => {
  const folder = await temporaryFolder();
  let isCrashed = true;
  for (let at = 1; isCrashed; at += 1) {
    const path = join(folder, `${at}.db`);
    const clock = new VirtualClock(newYear);
    const open = (): SqliteStore => new SqliteStore(path, { clock, durability: 'normal' });
    const survivor = open();
    await survivor.migrate();
    const optionsOf = (n: number): string => (n === 2 ? '{"unique": "2"}' : '{}');
    await survivor.enqueue([1, 2, 3].map((n) => ({ type: 'mail', input: `{"to":"${n}"}`, options: optionsOf(n) })));
    const crashing = new CrashingStore(open());
    crashing.arm(at);
    void drain(new Jobs(crashing.store)).catch(() => {});
    for (let turns = 0; turns < 20; turns += 1) await turn();
    isCrashed = crashing.isDead;
    await drain(new Jobs(survivor));
    const { jobs } = await survivor.find({ types: ['mail'] }, { order: 'oldest' });
    expect(jobs.map(({ input }) => input).sort()).toEqual(['{"to":"1"}', '{"to":"2"}', '{"to":"3"}']);
    expect(await survivor.countInbox()).toMatchObject({ waiting: 0, refused: 0 });
    expect(await Array.fromAsync(verify(survivor, { patienceMs: 0 }))).toEqual([]);
    await survivor.close();
    if (!isCrashed) await crashing.store.close();
  }
});

/** Takes the whole inbox as the loop of an instance does, without its pauses and without a leader. */
async function drain(jobs: Jobs): Promise<void> {
  const stores = new Stores(jobs, jobs);
  const registry = new TypeRegistry([typed], []);
  const catalogue = new TypeCatalogue({ stores, registry, clock: systemClock });
  const runs = new InboxRuns({ stores, catalogue, logger: quiet, encodes: false });
  while (await runs.takePage());
}

async function* allRuns(engine: Engine) {
  for (let after: number | undefined; ; ) {
    const start = after === undefined ? {} : { after };
    const page = await engine.find({ types: ['mail'] }, { order: 'oldest', limit: 1000, ...start });
    yield* page.jobs;
    if (page.next === null) return;
    after = page.next;
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(() => null, (thrown: unknown) => thrown);
  return isRefusal(error) ? error.code : 'none';
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-inbox-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
