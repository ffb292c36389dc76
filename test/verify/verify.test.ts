// `verify` finds nothing in a store that Stint wrote, and names each planted defect, on SQLite and PostgreSQL.
import type { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { createLimit, overrideLimit, reopenLimit } from '../../src/jobs/limits.ts';
import { pause } from '../../src/jobs/pauses.ts';
import { followingRule } from '../../src/model/following.ts';
import { verify, type VerifyOptions, type Violation } from '../../src/verify.ts';
import { checkFeed } from '../../src/verify/feed.ts';
import type { Store } from '../../src/store/store.ts';
import { readPages, type ReadPage } from '../../src/verify/paging.ts';
import { findSharedKey } from '../../src/verify/shared-key.ts';
import { minute, tester, World } from '../jobs/world.ts';
import { stores } from '../support/stores.ts';
import { defects, type Sql } from './planted.ts';

const oneAnHour = { count: 1, per: 3_600_000, burst: 1 };

const findings = (world: World, options: VerifyOptions = {}): Promise<Violation[]> =>
  Array.fromAsync(verify(world.store, { patienceMs: 0, ...options }));

/** As if other processes could write. */
const live: VerifyOptions = { patienceMs: 10, clock: { sleep: async () => {} } };

/** Executes statements directly on the tables, without the checks of Stint. */
async function sqlOn(world: World, work: (sql: Sql) => Promise<void>): Promise<void> {
  const callers = await world.begin();
  const { transaction } = callers;
  const sql = transaction instanceof pg.Client ? await postgresSql(transaction) : sqliteSql(transaction as DatabaseSync);
  await work(sql);
  await callers.commit();
}

const sqliteSql = (db: DatabaseSync): Sql => async (statement) => db.exec(statement);

async function postgresSql(client: pg.Client): Promise<Sql> {
  const sql = `select schemaname as schema from pg_tables where tablename = 'job'`;
  const { rows } = await client.query<{ schema: string }>(sql);
  await client.query(`set local search_path to ${rows[0]!.schema}`);
  for (const table of ['job', 'ended']) await client.query(withoutOrigins(table));
  await client.query('delete from origin');
  return async (statement) => void (await client.query(statement));
}

/** Gives the rows the form of the versions before table `origin`, so that a statement finds all of a job in its row. */
const withoutOrigins = (table: string): string => `update ${table} set input = coalesce(${table}.input, origin.input),
  body = coalesce(${table}.body, origin.body), history = concat_ws(E'\\n', origin.history, ${table}.history)
  from origin where origin.id = ${table}.id`;

for (const kind of stores.filter(({ name }) => name !== 'memory')) {
  describe(`on ${kind.name}`, () => {
    for (const { invariant, title, prepare } of defects) {
      test(`${invariant} names ${title}`, async () => {
        const world = await World.open(kind);
        try {
          const plant = await prepare(world);
          expect(await findings(world)).toEqual([]);
          await sqlOn(world, plant);
          for (const options of [{}, live]) {
            expect((await findings(world, options)).map((found) => found.invariant)).toContain(invariant);
          }
        } finally {
          await world.close();
        }
      });
    }
  });
}

test('jobs that started before a limit was created or lowered are no findings', async () => {
  const world = await World.open(stores[0]!);
  const uses = { limitUses: [{ name: 'api', key: null, cost: 1 }] };
  for (let jobs = 0; jobs < 3; jobs++) {
    const job = await world.create(uses);
    await world.clock.advance(1);
    await world.claimOne(job);
  }
  await createLimit(world.store, { name: 'api', keyed: false, override: { rate: oneAnHour, concurrency: 5 } }, tester);
  expect(await findings(world)).toEqual([]);
  await overrideLimit(world.store, 'api', { rate: oneAnHour, concurrency: 1 }, tester);
  expect(await findings(world)).toEqual([]);
  await world.close();
});

test('jobs that start again after a limit was reopened are no findings', async () => {
  const world = await World.open(stores[0]!);
  const uses = { limitUses: [{ name: 'api', key: null, cost: 1 }] };
  await createLimit(world.store, { name: 'api', keyed: false, override: { rate: oneAnHour } }, tester);
  await world.clock.advance(2 * minute);
  for (let jobs = 0; jobs < 3; jobs++) {
    const job = await world.create(uses);
    await world.clock.advance(minute);
    await world.claimOne(job);
    await reopenLimit(world.store, 'api', null, tester);
  }
  expect(await findings(world)).toEqual([]);
  await world.close();
});

describe.each(stores.filter(({ name }) => name !== 'memory'))('an unreadable row on $name', (kind) => {
  test('of a task is the only finding about its run', async () => {
    const world = await World.open(kind);
    const { tasks } = await world.family(2);
    await world.ended();
    await sqlOn(world, (sql) => sql(`update job set body = '{' where id = ${tasks[0]!.id}`));
    expect((await findings(world)).map(({ invariant, job }) => [invariant, job])).toEqual([['S36', tasks[0]!.id]]);
    await world.close();
  });

  test('of a run with tasks is the only finding about it and its tasks', async () => {
    const world = await World.open(kind);
    const { run } = await world.family(2);
    await sqlOn(world, (sql) => sql(`update job set body = '{' where id = ${run.id}`));
    expect((await findings(world)).map(({ invariant, job }) => [invariant, job])).toEqual([['S36', run.id]]);
    await world.close();
  });
});

describe.each(stores.filter(({ name }) => name !== 'memory'))('an unreadable history on $name', (kind) => {
  test.each([{}, live])('of a run with tasks hides no other finding', async (options) => {
    const world = await World.open(kind);
    const [{ run }, wrong] = [await world.family(2), await world.create()];
    await sqlOn(world, async (sql) => {
      await sql(`update job set history = '{' where id = ${run.id}`);
      await sql(`update job set priority = 77 where id = ${wrong.id}`);
    });
    const found = (await findings(world, options)).map(({ invariant, job }) => `${invariant} ${job}`);
    expect(found).toEqual(expect.arrayContaining([`S36 ${run.id}`, `S26 ${wrong.id}`]));
    expect(found.filter((each) => each.startsWith('S36 ') && each !== `S36 ${run.id}`)).toEqual([]);
    await world.close();
  });

  test('of a pause hides no other finding', async () => {
    const world = await World.open(kind);
    const wrong = await world.create();
    const { job: record } = await pauseRecord(world);
    await sqlOn(world, async (sql) => {
      await sql(`update job set history = '{' where id = ${record}`);
      await sql(`update job set priority = 77 where id = ${wrong.id}`);
    });
    const found = (await findings(world)).map(({ invariant, job }) => `${invariant} ${job}`);
    expect(found).toEqual(expect.arrayContaining([`S36 ${record}`, `S26 ${wrong.id}`]));
    await world.close();
  });
});

async function pauseRecord(world: World): Promise<{ readonly job: number }> {
  await pause(world.store, { type: 'charge', key: null }, null, tester);
  const { jobs: [record] } = await world.jobs.find({ kinds: ['pause'] }, { order: 'oldest' });
  return { job: record!.id };
}

/** A store in which what one job needs cannot be read. */
const damaged = (store: Store, name: 'steps' | 'tallyEdges', bad: number): Store => new Proxy(store, {
  get: (target, called: keyof Store) => {
    const member = target[called] as unknown;
    if (typeof member !== 'function') return member;
    const method = member.bind(target) as (ids: readonly number[], ...rest: unknown[]) => Promise<unknown>;
    if (called !== name) return method;
    return async (ids: readonly number[], ...rest: unknown[]) => {
      if (ids.includes(bad)) throw new Error('not in JSON');
      return method(ids, ...rest);
    };
  },
});

test.each(['steps', 'tallyEdges'] as const)('a job whose %s cannot be read hides no finding about another', async (name) => {
  const world = await World.open(stores[0]!);
  const [bad, wrong] = [await world.running(), await world.running()];
  const rule = followingRule(undefined, undefined);
  const [, follower] = await world.jobs.createFlow([
    { draft: { type: 'first' }, after: [], follows: rule },
    { draft: { type: 'second' }, after: [{ run: { index: 0 }, links: [] }], follows: rule },
  ], 'producer');
  await world.store.commit({ changes: [{ before: wrong, after: { ...wrong, priority: 9 }, events: [] }] });
  const unreadable = name === 'steps' ? bad.id : follower!.id;
  const found = await Array.fromAsync(verify(damaged(world.store, name, unreadable), { patienceMs: 0 }));
  expect(found.map(({ invariant, job }) => `${invariant} ${job}`).toSorted()).toEqual([`S26 ${wrong.id}`, `S36 ${unreadable}`]);
});

test('jobs before an unreadable row are checked, however far apart the ids are', async () => {
  const world = await World.open(stores[0]!);
  const job = await world.create();
  const bad = 1201;
  const reader = {
    find: () => Promise.reject(new Error('a row of the page cannot be read')),
    load: async (ids: readonly number[]) => {
      if (ids.includes(bad)) throw new Error('cannot be read');
      return ids.flatMap((id) => ([3, 1202].includes(id) ? [{ ...job, id }] : []));
    },
  };
  const { value: page } = (await readPages(reader).next()) as IteratorYieldResult<ReadPage>;
  expect(page.jobs.map(({ id }) => id)).toEqual([3, 1202]);
  expect(page.unreadable).toEqual([{ id: bad, why: 'cannot be read' }]);
});

test('two keys with the same hash are not taken for one', async () => {
  const keys = (...some: (string | null)[]) => async function* read(): AsyncGenerator<readonly (string | null)[]> {
    yield some.slice(0, 2);
    yield some.slice(2);
  };
  const collide = (): number => 1;
  expect(await findSharedKey(keys('a', null, 'b', null), collide)).toBeNull();
  expect(await findSharedKey(keys('a', 'b', 'a'), collide)).toBe('a');
  expect(await findSharedKey(keys('a', 'b', 'b'))).toBe('b');
  expect(await findSharedKey(keys('a', 'b', 'c'))).toBeNull();
});

test('the check of the feed needs no memory for ended jobs, even if they are edited later', async () => {
  const world = await World.open(stores[0]!);
  const job = await world.ended();
  await world.jobs.edit(job.id, { tags: { read: 'yes' } }, tester);
  const open = await world.create();
  const seen = new Map<number, number>();
  expect(await Array.fromAsync(checkFeed(world.store, { seen }))).toEqual([]);
  expect([...seen]).toEqual([[open.id, 1]]);
});

test('a pause that was purged and begins again has a new history', async () => {
  const world = await World.open(stores[0]!);
  const target = { type: 'charge', key: null };
  await pause(world.store, target, world.store.now() + 1000, tester);
  await world.clock.advance(2000);
  await world.store.purge({ limit: 10, feedKeptMs: 1e12, retentionMs: 0 });
  await pause(world.store, target, null, tester);
  expect(await findings(world)).toEqual([]);
});

describe('evidence of handlers and producers', () => {
  const seen = async (evidence: VerifyOptions['evidence']): Promise<string[]> => {
    const world = await World.open(stores[0]!);
    await world.ended();
    const found = await findings(world, { evidence: evidence! });
    return found.map(({ invariant }) => invariant);
  };

  test('is confirmed by the store', async () => {
    expect(await seen({ acknowledged: [1], starts: [{ job: 1, fence: 1 }] })).toEqual([]);
  });

  test('S8 names a job that was acknowledged and does not exist', async () => {
    expect(await seen({ acknowledged: [1, 2], starts: [] })).toEqual(['S8']);
  });

  test('S9 names a start without a claim, and a start of a job that never existed', async () => {
    expect(await seen({ acknowledged: [], starts: [{ job: 1, fence: 2 }] })).toEqual(['S9']);
    expect(await seen({ acknowledged: [], starts: [{ job: 2, fence: 1 }] })).toEqual(['S9']);
  });

  test('S3 and P5 name a second start of one claim', async () => {
    const starts = [{ job: 1, fence: 1 }, { job: 1, fence: 1 }];
    expect(await seen({ acknowledged: [], starts })).toEqual(['S3', 'P5']);
  });

  test('P4 names a transactional effect that happened twice', async () => {
    const effects = [{ job: 1, fence: 1 }, { job: 1, fence: 1 }];
    expect(await seen({ acknowledged: [], starts: [], effects })).toEqual(['P4']);
  });

  test('P4 names a transactional effect of a job that does not exist', async () => {
    expect(await seen({ acknowledged: [], starts: [], effects: [{ job: 2, fence: 1 }] })).toEqual(['P4']);
  });
});

test('a violation that is gone at the second check is not reported', async () => {
  const world = await World.open(stores[0]!);
  const { run, tasks } = await world.family(1);
  await world.jobs.stop(tasks[0]!.id, tester);
  const stopped = await world.get(run);
  await world.store.commit({ changes: [{ before: stopped, after: { ...stopped, priority: 9 }, events: [] }] });
  let sleeps = 0;
  const sleep = async (): Promise<void> => {
    sleeps += 1;
    const [wrong] = await world.store.load([run.id]);
    await world.store.commit({ changes: [{ before: wrong!, after: stopped, events: [] }] });
  };
  expect(await findings(world, { patienceMs: 10, clock: { sleep } })).toEqual([]);
  expect(sleeps).toBe(1);
});

test('a store of many pages is checked completely, and progress is reported', async () => {
  const world = await World.open(stores[0]!);
  await world.jobs.createMany(Array.from({ length: 1234 }, () => ({ type: 'plain' })), 'producer');
  const seen: number[] = [];
  const verifying = verify(world.store, { patienceMs: 0, onProgress: ({ jobs }) => seen.push(jobs) });
  expect(await verifying.next()).toEqual({ done: true, value: { jobs: 1234, events: 1234 } });
  expect(seen).toEqual([500, 1000, 1234]);
});
