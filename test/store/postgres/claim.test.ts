// Claims on many connections: no job is shared, no cancelled run hands out a task, and no backlog slows the front.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { ScanCursors, type LaneCursor } from '../../../src/store/postgres/claim/scan-cursor.ts';
import { PostgresGateMemory } from '../../../src/store/postgres/claim/gate-memory.ts';
import { gateText } from '../../../src/model/gate.ts';
import type { LimitContent } from '../../../src/model/limit-record.ts';
import { recordId } from '../../../src/store/record-id.ts';
import { gatedRows } from '../../../src/store/postgres/claim/gates.ts';
import { nextDue } from '../../../src/store/postgres/claim/next-due.ts';
import { StatementNames } from '../../../src/store/postgres/sql/statement-names.ts';
import { sessionOn } from '../../../src/store/postgres/sql/caller-transaction.ts';
import { freeRows } from '../../../src/store/postgres/claim/free-jobs.ts';
import { lockAndRead, lockedNames } from '../../../src/store/postgres/claim/lanes.ts';
import { jobOfPending } from '../../../src/store/row.ts';
import { rowTypes } from '../../../src/store/postgres/sql/clients.ts';
import { JobClaims } from '../../../src/store/postgres/sql/job-claims.ts';
import { ServerClock } from '../../../src/store/postgres/sql/server-clock.ts';
import { transactionSettings, type Session } from '../../../src/store/postgres/sql/database.ts';
import { systemRandom } from '../../../src/random.ts';
import { systemClock, VirtualClock } from '../../../src/time/clock.ts';
import { detail } from '../../support/detail.ts';
import { claimed, connect, decided, everything, freshStore, made, many, openStore, type Said } from './ground.ts';

test('concurrent claimers never share a job and leave none', async () => {
  const { url, store } = await freshStore();
  const stores = Array.from({ length: 4 }, () => openStore(url));
  const said = Array.from({ length: 400 }, (_, index) => ({ type: `type ${index % 7}`, priority: index % 3 }));
  const jobs = await made(store, ...said);
  const taken: number[] = [];
  await Promise.all(stores.flatMap((each, place) => Array.from({ length: 3 }, async () => {
    for (;;) {
      const running = await claimed(each, { limit: 9 }, `claimer ${place}`);
      if (running.length === 0) return;
      taken.push(...running.map(({ id }) => id));
    }
  })));
  expect(taken.toSorted((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
});

test('of several lanes the first jobs in claim order are taken, however many rows others have locked', async () => {
  const { url, store } = await freshStore();
  const said = Array.from({ length: 300 }, (_, index) => ({ type: `type ${index % 5}`, priority: index % 4 }));
  const jobs = await made(store, ...said);
  const best = jobs.toSorted((a, b) => b.priority - a.priority || a.due - b.due || a.id - b.id);
  const client = await connect(url);
  await client.query('begin');
  await client.query('select 1 from stint.job where id = any($1) for update', [best.slice(0, 250).map(({ id }) => id)]);
  for (let from = 250; from < 300; from += 10) {
    const taken = await claimed(store, { limit: 10 });
    expect(new Set(taken.map(({ id }) => id))).toEqual(new Set(best.slice(from, from + 10).map(({ id }) => id)));
  }
  expect(await claimed(store)).toEqual([]);
  await client.query('rollback');
});

test.each([1, 49, 50])('jobs that differ in each column are read as stored if %i are expected', async (expected) => {
  const { url, store } = await freshStore();
  const now = store.now();
  const other = { kind: 'task', type: 'b', typeVersion: 2, tags: { x: 'y' }, input: '[1]' } as const;
  const task = { ...other, created: now - 9, due: now - 5, priority: 1 };
  const jobs = await made(store, { def: 'd' }, task, {}, task);
  const client = await connect(url, { types: rowTypes });
  const session = sessionOn(client, { schema: 'stint', time: new ServerClock(), claims: new JobClaims() }, new StatementNames(false));
  const tables = `best as materialized (select ${lockedNames} from stint.job order by id for update)`;
  const { rows } = await lockAndRead(session, tables, `'more', 1`, [null], { expected });
  expect(rows.map(jobOfPending).toSorted((a, b) => a.id - b.id)).toEqual(jobs);
  expect(rows.every((row) => row.is_fresh)).toBe(true);
});

test('jobs whose feed entry has a higher xid than the claim are claimed one by one, with a later entry', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const jobs = await made(store, ...many(3));
  // So far ahead that the other tests on this server do not catch up with it.
  await client.query(`update stint.job set xid = (pg_current_xact_id()::text::bigint + 1000000000)::text::xid8`);
  expect(await claimed(store)).toHaveLength(jobs.length);
  const { rows } = await client.query(`select (select count(*)::int from stint.claim) as claims,
    (select bool_and(feed.xid = job.xid) from stint.job, (select xid from stint.feed order by seq desc limit 1) feed) as later`);
  expect(rows).toEqual([{ claims: 0, later: true }]);
});

test('once a cancel has committed, no task of the run is claimed', async () => {
  const { url, store } = await freshStore();
  const others = [openStore(url), openStore(url)];
  for (let round = 0; round < 15; round += 1) {
    const [run] = await made(store, { type: 'run' });
    await made(store, ...many(30, { kind: 'task', type: 'task', parent: run!.id }));
    const [running] = await claimed(store, { kinds: ['run'] });
    let isCancelled = false;
    const claimedLate: number[] = [];
    const claiming = Promise.all(others.map(async (other) => {
      for (;;) {
        const wasCancelled = isCancelled;
        const tasks = await claimed(other, { kinds: ['task'], limit: 2 });
        if (wasCancelled) claimedLate.push(...tasks.map(({ id }) => id));
        if (wasCancelled && tasks.length === 0) return;
      }
    }));
    await claimed(store, { kinds: ['task'], limit: 1 + (round % 5) });
    const cancel = decided(running!, { do: 'cancel', code: 'user' }, store.now());
    expect(await store.commit({ changes: [cancel] })).toEqual([true]);
    isCancelled = true;
    await claiming;
    expect(claimedLate).toEqual([]);
    await store.commit({ changes: [decided(cancel.after, { do: 'stop', code: 'admin' }, store.now())] });
  }
});

test('a task whose parent is being changed waits for the outcome', async () => {
  const { url, store } = await freshStore();
  const [run] = await made(store, { type: 'run' });
  const [task] = await made(store, { kind: 'task', parent: run!.id });
  const client = await connect(url);
  await client.query('begin');
  await client.query('select 1 from stint.job where id = $1 for no key update', [run!.id]);
  expect(await claimed(store, { kinds: ['task'] })).toEqual([]);
  const claiming = claimed(store, { kinds: ['task'] });
  await client.query('rollback');
  const taken = [...(await claiming), ...(await claimed(store, { kinds: ['task'] }))];
  expect(taken.map(({ id }) => id)).toEqual([task!.id]);
});

test('a task of a parent that was stopped is shown as one whose parent gave up', async () => {
  const { store } = await freshStore();
  const [run] = await made(store, { type: 'run' });
  const [task] = await made(store, { kind: 'task', parent: run!.id });
  await store.commit({ changes: [decided(run!, { do: 'stop', code: 'admin' }, store.now())] });
  expect(await claimed(store)).toEqual([]);
  expect((await store.load([task!.id]))[0]).toMatchObject({ state: 'ended', fate: 'cancelled' });
});

detail('under load claims resume where the last one ended, and jobs added before that are not forgotten', async () => {
  const { url, store } = await freshStore();
  const idle = await connect(url);
  await idle.query('begin isolation level repeatable read');
  await idle.query('select pg_current_xact_id()'); // nothing that is claimed from now on can be vacuumed away
  const client = await connect(url);
  await fill(client, `1000000 + n, 0, ${store.now()} - 1000 + n / 30, 'deep'`);
  const taken = new Set<number>();
  const surprises = new Set<number>();
  for (let round = 0; taken.size < 30_000 + surprises.size; round += 1) {
    const running = await claimed(store, { limit: 300 });
    for (const { id } of running) taken.add(id);
    await store.commit({ changes: running.map((job) => decided(job, { do: 'stop', code: 'admin' }, store.now())) });
    if (round > 90 || round % 10 > 0) continue;
    const said = [{ type: 'deep', due: 1 }, { type: 'deep', priority: round }, { type: `new ${round}` }];
    for (const { id } of await made(store, ...said)) surprises.add(id);
  }
  expect([...surprises].every((id) => taken.has(id))).toBe(true);
  expect(await claimed(store)).toEqual([]);
  await idle.query('rollback');
});

for (const [where, gate] of [['without a gate', null], ['at a gate', 'any/deep//k//']] as const) {
  detail(`if scans are slow, a job ${where} before the cursor is found immediately by its writer, and soon by others`, () =>
    expectFoundBeforeCursor({ type: 'deep', gate }));
}

async function expectFoundBeforeCursor(said: Said): Promise<void> {
  const { url, store } = await freshStore();
  const slow = openStore(await slowed(url));
  await made(store, ...many(2_500, said));
  for (let taken = 0; taken < 2_500; taken += 500) expect(await claimed(slow, { limit: 500 })).toHaveLength(500);
  const [own] = await made(slow, { ...said, due: 2 });
  expect((await claimed(slow)).map(({ id }) => id)).toEqual([own!.id]);
  const [others] = await made(store, { ...said, due: 1 });
  expect(await claimed(slow)).toEqual([]);
  const next = await slow.nextDue(everything);
  expect(next).toBeLessThanOrEqual(slow.now() + 3_000);
  await systemClock.sleep(next! - slow.now() + 1);
  expect((await claimed(slow)).map(({ id }) => id)).toEqual([others!.id]);
}

test('once no job waits at a gate, an instance does not wake for a search there', async () => {
  const { url, store } = await freshStore();
  const slow = openStore(await slowed(url));
  const ask = { kinds: ['bedrock'], names: { glob: '*' }, limit: 500 } as const;
  const atGate = { kind: 'bedrock', type: 'deep', gate: 'any/deep//k//' } as const;
  const later = store.now() + 3_600_000;
  // So many types that claims by the pattern do not always walk through them, and then keep no cursor.
  await made(store, ...many(70).map((_, n) => ({ kind: 'bedrock' as const, type: `later ${n}`, due: later })));
  await made(store, ...many(2_500, atGate));
  for (let taken = 0; taken < 2_500; taken += 500) expect(await claimed(slow, ask)).toHaveLength(500);
  await made(store, { ...atGate, due: 1 });
  expect(await claimed(slow, ask)).toEqual([]); // the job is before the cursor
  expect(await slow.nextDue(ask)).toBeLessThan(later);
  expect(await claimed(store, ask)).toHaveLength(1);
  expect(await claimed(slow, ask)).toEqual([]);
  expect(await slow.nextDue(ask)).toBe(later);
});

/** A way to the same database on which a statement takes long, by the clock that it sees. */
async function slowed(url: string): Promise<string> {
  const client = await connect(url);
  await client.query(`create schema slow; create function slow.clock_timestamp() returns timestamptz volatile
    language sql as $$ select pg_catalog.clock_timestamp() + interval '1 s' $$`);
  return `${url}?options=${encodeURIComponent('-c search_path=slow,pg_catalog')}`;
}

test('a job with a share that another transaction has locked does not hold back the other keys', async () => {
  const { url, store } = await freshStore();
  const gateOf = (key: string): string =>
    gateText({ type: 'fair', def: null, key: null, leaderOnly: false, share: { key, weight: 1 } });
  const [locked, other] = await made(store, { type: 'fair', gate: gateOf('a') }, { type: 'fair', gate: gateOf('b') });
  const client = await connect(url);
  await client.query('begin');
  await client.query('select from stint.job where id = $1 for update', [locked!.id]);
  const taken = [...(await claimed(store, { limit: 1 })), ...(await claimed(store, { limit: 1 }))];
  expect(taken.map(({ id }) => id)).toEqual([other!.id]);
  await client.query('rollback');
});

test('a claim reads only its own lanes of the index', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const later = store.now() + 3_600_000;
  await fill(client, `1000000 + n, 0, 0, 'other ' || n % 50`);
  await fill(client, `2000000 + n, n % 5, ${later}, 'wanted'`);
  await made(store, ...many(3, { type: 'wanted', priority: 2 }));
  await client.query('set plan_cache_mode = force_generic_plan');
  for (const names of [{ exact: ['wanted', 'absent'] }, { glob: 'wan*' }]) {
    for (const lanes of [1, 5]) {
      const seen: string[] = [];
      const fronts = new ScanCursors();
      const ask = { ...everything, names, limit: 10 };
      fronts.recordScan(ask, { lanes: lanesOf(lanes), hasJobsAtGates: false, hasPauses: false, tookMs: 0 }, 0);
      await freeRows(explaining(client, seen), fronts, ask);
      const plan = seen.join('\n');
      expect(plan).toMatch(/Index (Only )?Scan using job_lane/);
      expect(plan).not.toMatch(/Seq Scan on \w*job/);
      expect(most(plan, /Rows Removed by Filter: (\d+)/g)).toBeLessThan(50);
      expect(most(plan, /shared hit=(\d+)/g)).toBeLessThan(400);
    }
    expect(await claimed(store, { names, limit: 1 })).toHaveLength(1);
  }
  expect(await store.nextDue({ kinds: ['run'], names: { exact: ['wanted'] } })).toBe(later);
});

detail('a claim by a pattern reads what it takes, whatever the number of types, due or not', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const later = store.now() + 3_600_000;
  await fill(client, `1000000 + n, 0, ${later} + n, 'later/' || n`, 'bedrock');
  await fill(client, `2000000 + n, n % 3, n, 'due/' || n`, 'bedrock');
  await fill(client, `3000000 + n, -1, 0, 'other'`, 'bedrock');
  const ask = { ...everything, kinds: ['bedrock'], limit: 1 } as const;
  for (const [glob, id] of [['*', 2_000_002], ['due/*', 2_000_002], ['other*', 3_000_001]] as const) {
    const { session, pages } = metered(client);
    const { rows } = await freeRows(session, new ScanCursors(), { ...ask, names: { glob } });
    expect(rows.map((row) => row.id)).toEqual([id]);
    expect(pages(), glob).toBeLessThan(1_500);
  }
  for (const glob of ['*', 'later/*', 'other*']) {
    const { session, pages } = metered(client);
    const due = await nextDue(session, { kinds: ['bedrock'], names: { glob } });
    expect(due).toBe(glob === 'other*' ? null : later + 1);
    expect(pages(), glob).toBeLessThan(1_500);
  }
});

/** Begins a transaction with the settings of claims, without which a plan depends on when the server last analysed the table. */
async function beginAsClaims(client: pg.Client): Promise<void> {
  await client.query('begin');
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set local ${name} = '${value}'`);
}

test('a claim at gates reads what it takes, whatever the number of gates and of jobs at a full one', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const [free] = await made(store, { type: 'keyed', due: 1, gate: 'any/keyed//free//' });
  await fill(client, `1000000 + n, 0, 0, 'keyed'`, 'run', `'any/keyed//full//'`);
  await fill(client, `2000000 + n, 0, 2, 'keyed'`, 'run', `'any/keyed//' || n || '//'`);
  const limits = { types: new Map(), defs: new Map(), keys: new Map([['keyed', 1]]) };
  const ask = { ...everything, kinds: ['run'], names: { exact: ['keyed'] }, limit: 10, limits } as const;
  const memory = new PostgresGateMemory();
  await beginAsClaims(client);
  for (const isFirst of [true, false]) {
    const { session, pages } = metered(client);
    const locked = await gatedRows(session, ask, memory);
    expect(locked.jobs!.rows).toHaveLength(10);
    expect(new Set(locked.jobs!.rows.map(({ gate }) => gate)).size).toBe(10);
    if (isFirst) expect(locked.jobs!.rows[0]!.id).toBe(1_000_001);
    expect(pages()).toBeLessThan(3_000);
  }
  expect(await store.load([free!.id])).toHaveLength(1);
});

test('a claim takes from a rate in its own transaction, so that no other claim sees what is already spent as left', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const code = { rate: { count: 6, per: 60_000, burst: 2 }, concurrency: null };
  const content: LimitContent = { name: 'api', code, keyed: false, override: null, by: null, why: null };
  const gate = gateText({ type: 'limited', def: null, key: null, leaderOnly: false, uses: [{ name: 'api', key: null, cost: 1 }] });
  await made(
    store, { id: recordId('limit', 'api'), kind: 'limit', type: 'stint.limit', key: 'api', input: JSON.stringify(content) },
    { type: 'limited', gate },
  );
  expect(await claimed(store)).toHaveLength(1);
  const writers = `select (select xmin::text from stint.rate) as spent, (select xmin::text from stint.job where state = 'running') as started`;
  const { rows: [written] } = await client.query<{ spent: string; started: string }>(writers);
  expect(written!.spent).toBe(written!.started);
});

detail('a claim at a closed limit reads what it takes, whatever the number of different costs', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const uses = [{ name: 'api', key: null, cost: 1 }];
  const gate = gateText({ type: 'costly', def: null, key: null, leaderOnly: false, uses });
  await fill(client, `1000000 + n, 0, 0, 'costly'`, 'run', `'${gate}#' || n`);
  await store.closeLimit('api', null, store.now() + 3_600_000);
  const ask = { ...everything, kinds: ['run'], names: { exact: ['costly'] }, limit: 10 } as const;
  await beginAsClaims(client);
  const { session, pages } = metered(client);
  expect((await gatedRows(session, ask, new PostgresGateMemory())).jobs).toBeNull();
  expect(pages()).toBeLessThan(3_000);
});

test.each([
  ['plain', `'any/keyed//' || n || '//'`], ['shared', `'any/keyed////#@' || n || ':2'`],
  ['shared and full', `'any/keyed//full' || n % 2 || '//#@' || n || ':2'`],
])('a claim at %s gates sorts no waiting jobs if the table was nearly empty when last analyzed', async (_, gate) => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await made(store, { type: 'keyed', gate: gateText({ type: 'keyed', def: null, key: null, leaderOnly: false }) });
  await client.query('vacuum analyze stint.job');
  await fill(client, `1000000 + n, 0, 0, 'keyed'`, 'run', gate);
  const limits = { types: new Map(), defs: new Map(), keys: new Map([['keyed', 1]]) };
  const ask = { ...everything, kinds: ['run'], names: { exact: ['keyed'] }, limit: 10, limits } as const;
  const memory = new PostgresGateMemory();
  await beginAsClaims(client);
  for (let n = 0; n < 3; n++) {
    const { session, pages } = metered(client);
    expect((await gatedRows(session, ask, memory)).jobs!.rows.length).toBeGreaterThan(0);
    expect(pages()).toBeLessThan(8_000);
  }
});

test.each([
  ['plain', `'any/keyed//k//'`, 0.25],
  ['shared', `'any/keyed////#@' || n % 2 || ':2'`, 0.75], // the keys are found in an index of their own, from its beginning
])('a claim at %s gates continues behind the jobs that were claimed, past their dead index entries', async (_, gate, part) => {
  const { url } = await freshStore();
  const client = await connect(url);
  await fill(client, `1000000 + n, 0, n, 'keyed'`, 'run', gate);
  const ask = { ...everything, kinds: ['run'], names: { exact: ['keyed'] }, limit: 10 } as const;
  const memory = new PostgresGateMemory(systemRandom, new VirtualClock(0)); // no cursor expires
  await beginAsClaims(client);
  await gatedRows(metered(client).session, ask, memory);
  const claimedBefore = await client.query<LaneCursor>(`delete from stint.job where due <= 20000
    returning kind, type, type_version::int, priority::int, due::int, id::int`);
  memory.cursors.recordClaim(ask, claimedBefore.rows.sort((a, b) => a.due - b.due), () => true);
  const pagesOf = async (known: PostgresGateMemory): Promise<number> => {
    const { session, pages } = metered(client);
    const { jobs } = await gatedRows(session, ask, known);
    expect(jobs!.rows).toHaveLength(10);
    expect(jobs!.rows.every(({ due }) => due > 20_000 && due < 20_015)).toBe(true);
    return pages();
  };
  expect(await pagesOf(memory)).toBeLessThan((await pagesOf(new PostgresGateMemory())) * part);
});

test('a job that a claim leaves at a full gate is claimed when the gate opens, however many others were claimed since', async () => {
  const { store } = await freshStore();
  const keyed = (type: string): string => gateText({ type, def: null, key: 'k', leaderOnly: false });
  const [first, second] = await made(store, ...many(2, { type: 'narrow', gate: keyed('narrow'), due: 1 }));
  await made(store, ...many(4_000, { type: 'wide', gate: keyed('wide'), due: 2 }));
  const ask = { limits: { types: new Map(), defs: new Map(), keys: new Map([['narrow', 1]]) } };
  const started = await claimed(store, { ...ask, limit: 500 });
  expect(started[0]!.id).toBe(first!.id);
  for (let n = 0; n < 5; n++) expect(await claimed(store, { ...ask, limit: 500 })).toHaveLength(500);
  await store.commit({ changes: [decided(started[0]!, { do: 'stop', code: 'admin' }, store.now())] });
  expect((await claimed(store, { ...ask, limit: 10 })).map(({ id }) => id)).toContain(second!.id);
});

test('keys whose jobs are all due later cost a claim of one job few statements', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const gateOf = (key: string): string =>
    gateText({ type: 'fair', def: null, key: null, leaderOnly: false, share: { key, weight: 1 } });
  const later = many(200).map((_, n) => ({ type: 'fair', gate: gateOf(`k${n}`), due: store.now() + 3_600_000 }));
  await made(store, ...many(300, { type: 'fair', gate: gateOf('z') }), ...later);
  const memory = new PostgresGateMemory();
  memory.shareStops.stopAt('0 run fair', { key: '', taken: 0 });
  const own = sessionOn(client, { schema: 'stint', time: new ServerClock(), claims: new JobClaims() }, new StatementNames(false));
  let statements = 0;
  const run: Session['run'] = (text, values) => {
    statements += 1;
    return own.run(text, values);
  };
  const ask = { ...everything, kinds: ['run'], names: { exact: ['fair'] }, limit: 1 } as const;
  const { jobs } = await gatedRows({ ...own, run }, ask, memory);
  expect(jobs!.rows).toHaveLength(1);
  expect(statements).toBeLessThan(25);
});

/** Carries statements out, and counts the pages that they read. */
function metered(client: pg.Client): { readonly session: Session; readonly pages: () => number } {
  let total = 0;
  const own = sessionOn(client, { schema: 'stint', time: new ServerClock(), claims: new JobClaims() }, new StatementNames(false));
  const run = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const [plan, rows] = await Promise.all([
      own.run<Record<string, string>>(`explain (analyze, buffers, costs off) ${text}`, values), own.run<Row>(text,
      values),
    ]);
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
    total += Number(/shared hit=(\d+)/.exec(lines)?.[1] ?? 0) + Number(/ read=(\d+)/.exec(lines)?.[1] ?? 0);
    return rows;
  };
  return { session: { ...own, run, runUnprepared: run }, pages: () => total };
}

const lanesOf = (count: number): ['run', 'wanted', number, number][] =>
  Array.from({ length: count }, (_, priority) => ['run', 'wanted', 1, priority]);

const most = (plan: string, pattern: RegExp): number =>
  Math.max(0, ...[...plan.matchAll(pattern)].map(([, count]) => Number(count)));

/** Thousands of pending jobs, made by the server itself; `what` gives their id, priority, due time and type. */
async function fill(client: pg.Client, what: string, kind = 'run', gate = 'null'): Promise<void> {
  await client.query(`insert into stint.job (id, priority, due, type, version, created, fence, admitted, cancel_asked,
      kind, state, phase, input, body, history, gate)
    select ${what}, 1, 0, 0, 0, 0, '${kind}', 'pending', 'run', '{}', '{"changed":0}', '[]', ${gate}
    from generate_series(1, 30000) n`);
}

/** Records the executed plan of each statement, and returns no rows. */
function explaining(client: pg.Client, seen: string[]): Session {
  const run = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const question = `explain (analyze, buffers, costs off) ${text}`;
    const { rows } = await client.query<Record<string, string>>(question, [...values]);
    const lines = rows.map((row) => row['QUERY PLAN']!);
    // What planning reads of the catalogue grows with the number of indexes.
    seen.push(...lines.slice(0, lines.indexOf('Planning:')));
    const told = { now: 0, lanes: [], near: 0, hasJobsAtGates: false, parents: [] };
    return [{ summary: JSON.stringify(told) } as unknown as Row];
  };
  return { schema: 'stint', time: new ServerClock(), claims: new JobClaims(), run, runUnprepared: run };
}
