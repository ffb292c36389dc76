// Plans: whatever the statistics of a table, rows are looked up by index, one by one. The statistics may be those of an
// empty table that has a million rows now, and a cached plan stays.
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import { never } from '../../../src/model/definition.ts';
import { GateAdmissions, gateText, noLimits, unlimited } from '../../../src/model/gate.ts';
import type { OpenRow } from '../../../src/store/row.ts';
import type { ClaimRequest } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { transactionSettings, type Session } from '../../../src/store/postgres/sql/database.ts';
import { find, jobsByKey, load } from '../../../src/store/postgres/read/find.ts';
import { nextDueInOrder, scanInOrder } from '../../../src/store/postgres/claim/scan-in-order.ts';
import { ShareStops } from '../../../src/store/share-stops.ts';
import { PostgresGateMemory } from '../../../src/store/postgres/claim/gate-memory.ts';
import { aheadInShare, linesInTurns } from '../../../src/store/postgres/claim/shares.ts';
import { gatedRows } from '../../../src/store/postgres/claim/gates.ts';
import { closeLimit, readLimits, reopenLimit, spendRates } from '../../../src/store/postgres/claim/limits.ts';
import { ScanCursors } from '../../../src/store/postgres/claim/scan-cursor.ts';
import { nextDue } from '../../../src/store/postgres/claim/next-due.ts';
import { history } from '../../../src/store/postgres/read/history.ts';
import { definitionVersions } from '../../../src/store/postgres/read/definition-versions.ts';
import { latestEnds, startedRuns } from '../../../src/store/postgres/read/latest-runs.ts';
import { beat } from '../../../src/store/postgres/maintain/instances.ts';
import { freeRows } from '../../../src/store/postgres/claim/free-jobs.ts';
import { JobClaims } from '../../../src/store/postgres/sql/job-claims.ts';
import { ServerClock } from '../../../src/store/postgres/sql/server-clock.ts';
import { orphaned, settleable } from '../../../src/store/postgres/maintain/families.ts';
import { extendRows } from '../../../src/store/postgres/maintain/leases.ts';
import { claimBatch } from '../../../src/store/postgres/write/claim-batch.ts';
import { LockedRows } from '../../../src/store/postgres/write/locked-rows.ts';
import { excludeFromClaims, findClaims, leaveClaims, lockClaims } from '../../../src/store/postgres/maintain/leave-claim.ts';
import { unstageGroup } from '../../../src/store/postgres/write/staging.ts';
import { output, outputBytes } from '../../../src/store/postgres/write/output.ts';
import { noSpreads } from '../../../src/store/spreads.ts';
import { write, lockById } from '../../../src/store/postgres/write/statements.ts';
import { born, claimed, connect, decided, everything, freshStore, many } from './ground.ts';

let count = 0;

/** A search that found nothing. */
const scanned = {
  now: 0, searchedAt: 0, lanes: [], near: 0, hasJobsAtGates: false, hasPauses: false, isCut: false, tookMs: 0, parents: [],
};
const noneDue = { free: [false, null], gated: [false, null], due: null };

/** Plans statements as if they were prepared and used often, executes none of them, and returns the given rows. */
function planning(client: pg.Client, plans: Map<string, string>, ...answer: object[]): Session {
  const run = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const name = `planned_${(count += 1)}`;
    const literals = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(String(value as string | number))));
    const given = literals.length === 0 ? '' : `(${literals.join(', ')})`;
    await client.query(`prepare ${name} as ${text}`);
    const { rows } = await client.query<Record<string, string>>(`explain (costs off) execute ${name} ${given}`);
    plans.set(text, rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [...answer] as Row[];
  };
  return { schema: 'stint', time: new ServerClock(), claims: new JobClaims(), run, runUnprepared: run };
}

/** The parts of a plan that go through a whole table or index, and not just to the first that they find. */
function wholeReads(plan: string): string[] {
  const lines = plan.split('\n');
  return lines.filter((line, at) => {
    if (/Seq Scan on (job|ended|unique_key|origin|rate|output)/.test(line)) return true;
    const isFirst = /Limit/.test(lines[at - 1] ?? '');
    return /Index (Only )?Scan using/.test(line) && !isFirst && !/Index Cond/.test(lines[at + 1] ?? '');
  });
}

test('rows are looked up by index even when the planner believes their table to be empty', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  for (const table of ['job', 'ended', 'unique_key', 'origin', 'claim', 'rate', 'output']) await client.query(`vacuum analyze stint.${table}`);
  await client.query('set plan_cache_mode = force_generic_plan');
  const plans = new Map<string, string>();
  const row = { now: 0, is_beaten: true, ids: null, count: 1, wanted: 0, written: 0, ...noneDue };
  const session = planning(client, plans, row);
  // Later than the due time of every job below, however slow the machine is.
  const now = store.now() + 86_400_000;
  const fresh = await born(store, ...many(3, { unique: { key: 'k', forMs: null } }));
  const each = (changes: readonly Change[], command: Parameters<typeof decided>[1]): Change[] =>
    changes.map(({ after }) => decided(after!, command, now));
  const taken = each(fresh, { do: 'claim', holder: 'h', until: null });
  const ended = each(taken, { do: 'stop', code: 'user' });
  await write(session, 'fast', 'insert', await born(store, ...many(3)));
  await write(session, 'checked', 'insert', fresh);
  await write(session, 'fast', 'update', taken);
  await write(session, 'checked', 'update', taken, lockedRows(taken));
  await write(session, 'fast', 'end', ended);
  const [lone] = each(await born(store, {}), { do: 'claim', holder: 'h', until: null });
  await write(session, 'fast', 'update', [lone!]);
  await write(session, 'fast', 'end', each([lone!], { do: 'stop', code: 'user' }));
  const batch = each(await born(store, ...many(3)), { do: 'claim', holder: 'h', until: null });
  await claimBatch(planning(client, plans, { ...row, claim: null }), batch, lockedRows(batch));
  const inClaim = planning(client, plans, row);
  for (const { after } of batch) inClaim.claims.record(after!, 1);
  await write(inClaim, 'fast', 'endClaimed', each(batch, { do: 'stop', code: 'user' }));
  await leaveClaims(inClaim, batch.map(({ after }) => after!));
  await lockClaims(inClaim, [1, 2]);
  await findClaims(planning(client, plans), each(batch, { do: 'stop', code: 'user' }));
  await excludeFromClaims(inClaim, [1, 2]);
  await write(session, 'fast', 'reopen', each(ended, { do: 'retry', reopens: 0 }));
  await write(session, 'fast', 'amend', each(ended, { do: 'edit', edit: { priority: 1 } }));
  for (const insert_mode of ['fast', 'checked'] as const) {
    await unstageGroup(session, 1, 1, { insert_mode, varying_columns: 'id,input' });
  }
  await lockById(session, 'job', [1, 2, 3]);
  const uses = ['a', null].map((key) => ({ name: 'api', key, cost: 1 }));
  const values = { rate: { count: 1, per: 1000, burst: 1 }, concurrency: null };
  await readLimits(session, uses);
  await spendRates(session, { now, stateOf: () => ({ ...unlimited, values }) }, uses);
  await closeLimit(session, 'api', null, now);
  await reopenLimit(session, 'api', null);
  const reading = planning(client, plans);
  await load(reading, [1, 2, 3]);
  await jobsByKey(reading, ['a', 'b']);
  await latestEnds(reading, ['a', 'b']);
  await startedRuns(reading, ['a', 'b']);
  await history(reading, 1);
  await output(reading, 1, { fence: 1, n: 7 }, 16);
  await outputBytes(reading, 1);
  await extendRows(reading, [{ id: 1, fence: 1 }, { id: 2, fence: 1 }], now);
  await settleable(reading, 10, [1, 2, 3]);
  await orphaned(reading, 10);
  const about = { host: '', pid: 1, version: '', types: [], slots: 1, busy: 0, draining: false };
  await beat(session, { id: 'i', leaseMs: 1, about, holds: [{ id: 1, fence: 1 }, { id: 2, fence: 1 }] }, () => {});
  await nextDue(session, { kinds: ['run'], names: { exact: ['a'] } });
  const told = { summary: JSON.stringify(scanned) };
  for (const names of [{ exact: ['a', 'b'] }, { glob: 'a*' }]) {
    await freeRows(planning(client, plans, told), new ScanCursors(), { ...everything, names });
  }
  await scanInOrder(planning(client, plans, told), { ...everything, kinds: ['bedrock'], names: { glob: 'a*' } }, 1000);
  await nextDueInOrder(session, { kinds: ['bedrock', 'mock'], names: { glob: 'a*' } }, null);
  expect(plans.size).toBeGreaterThan(30);
  for (const [text, plan] of plans) expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
});

test('the keys of shares, and their jobs, are found by seeks in the index of shares', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('set plan_cache_mode = force_generic_plan');
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
  const gate = gateText({ type: 'a', def: null, key: null, leaderOnly: false, share: { key: 'k', weight: 5 } });
  const waiting = { id: 1, priority: 0, due: 0, gate };
  const lane = { kind: 'run', type: 'a', typeVersion: 1, priority: 0, jobs: [waiting], isCut: true };
  const [made] = await born(store, { type: 'a', gate });
  // For a few rows, any index will do.
  await client.query(`insert into stint.job (id, priority, due, type, version, created, fence, admitted, cancel_asked,
      kind, state, phase, input, body, history, gate)
    select n, 0, n, 'a', 1, 0, 0, 0, 0, 'run', 'pending', 'run', '{}', '{}', '[]', replace($1, '@k:', '@k' || n || ':')
    from generate_series(1, 5000) n`, [gate]);
  await client.query('analyze stint.job');
  const plans = new Map<string, string>();
  const found = { key: 'k', bare_gate: 'any/a////', ...waiting, is_due: true, first: 'k', last: 'k' };
  const admissions = new GateAdmissions(new Map(), noLimits, false);
  await linesInTurns(planning(client, plans, found), [lane],
    { stops: new ShareStops(), admissions, limits: { load: async () => {} }, spreads: noSpreads, limit: 10 });
  await aheadInShare(planning(client, plans, { count: 0 }), made!.after);
  expect(plans.size).toBe(4);
  for (const [text, plan] of plans) {
    expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
    expect(plan.match(/(using|on) job_\w+/g)?.every((index) => index.endsWith(' job_share')), plan).toBe(true);
  }
});

test('runs created since a time are read from the indexes of those that ended since, where these are few', async () => {
  const { url } = await freshStore();
  const client = await connect(url);
  await client.query(`insert into stint.ended (id, version, created, ended_at, purge_at, kind, type, fate, input, body, history)
    select n, 1, n, n, case when n % 2 = 0 then n + 1e6 end, 'run', 'a', 'succeeded', '', '', ''
    from generate_series(1, 50000) n`);
  await client.query('vacuum analyze stint.ended');
  const plans = new Map<string, string>();
  const answers = [[{ count: 0 }], [{ id: null }], []];
  const ask = async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    await planning(client, plans).runUnprepared(text, values);
    return answers.shift() as Row[];
  };
  const session = { ...planning(client, plans), runUnprepared: ask };
  await find(session, { kinds: ['run'], createdFrom: 49_990, types: ['a'] }, { limit: 50 });
  expect(plans.size).toBe(3);
  for (const plan of plans.values()) {
    for (const index of ['ended_at_default_retention', 'ended_at_own_retention']) expect(plan).toMatch(new RegExp(`(using|on) ${index}`));
    expect(plan).not.toMatch(/using ended_(top|type)|Seq Scan on ended/);
  }
});

test('the claims of given jobs are found by an index, and the statement is not planned again for each job', async () => {
  const { url } = await freshStore();
  const client = await connect(url);
  await client.query('vacuum analyze stint.claim');
  const plans = new Map<string, string>();
  const session = planning(client, plans);
  await load(session, [1, 2, 3]);
  await history(session, 1);
  for (const [text, plan] of plans) {
    expect(plan, text).toMatch(/Index Scan using claim_last/);
    expect(plan, text).not.toMatch(/Seq Scan/);
    expect(plan, text).not.toContain('{1,2,3}');
  }
  expect(plans.size).toBe(2);
});

test("a plan for the values of a batch starts with the batch, whatever the table's statistics", async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  const pending = await born(store, ...many(5_000));
  await store.commit({ changes: pending });
  for (const table of ['job', 'ended']) await client.query(`vacuum analyze stint.${table}`);
  // No job was claimed at the last ANALYZE: by the statistics, no job has the second version.
  await client.query('set plan_cache_mode = force_custom_plan');
  const plans = new Map<string, string>();
  const session = planning(client, plans, { now: 0, ids: null, count: 1 });
  const now = store.now() + 86_400_000;
  const claimed = pending.map(({ after }) => decided(after, { do: 'claim', holder: 'h', until: null }, now));
  const ended = claimed.map(({ after }) => decided(after, { do: 'stop', code: 'user' }, now));
  await write(session, 'fast', 'update', claimed);
  await write(session, 'checked', 'update', claimed, lockedRows(claimed));
  await write(session, 'fast', 'end', ended);
  await write(session, 'fast', 'update', claimed.slice(0, 1));
  await write(session, 'fast', 'end', ended.slice(0, 1));
  await claimBatch(planning(client, plans, { now: 0, ids: null, count: 1, claim: null }), claimed, lockedRows(claimed));
  for (const { after } of claimed) session.claims.record(after, 1);
  await write(session, 'fast', 'endClaimed', ended);
  await leaveClaims(session, claimed.map(({ after }) => after));
  await write(session, 'fast', 'reopen', ended.map(({ after }) => decided(after, { do: 'retry', reopens: 0 }, now)));
  await write(session, 'fast', 'amend', ended.map(({ after }) => decided(after, { do: 'edit', edit: { priority: 1 } }, now)));
  await write(session, 'fast', 'insert', pending);
  for (const [text, plan] of plans) expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
});

test('claims read their lanes until they have enough jobs, even if the statistics are of an empty queue', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  // It was long before, and its table still has that size.
  await store.commit({ changes: await born(store, ...many(20_000, { type: 'a' })) });
  await client.query('delete from stint.job');
  await store.commit({ changes: await born(store, ...many(10, { kind: 'def', type: 'd', def: 'd' })) });
  await client.query('vacuum analyze stint.job');
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
  const plans = new Map<string, string>();
  const session = planning(client, plans, { summary: JSON.stringify(scanned), ...noneDue });
  for (const lanes of [['a'], ['a', 'b']]) {
    const ask = { ...everything, names: { exact: lanes } };
    await freeRows(session, longFronts(ask, lanes), ask);
    await nextDue(session, ask);
  }
  expect(plans.size).toBe(5);
  for (const plan of plans.values()) {
    expect(plan).toContain('using job_lane');
    expect(plan).not.toContain('Bitmap');
    expect(plan).not.toMatch(/(LockRows|Limit)\n\s*->\s+Sort\n\s+Sort Key: job_\d+\.due, job_\d+\.id\n/);
  }
});

test('a claim of types with and without jobs at gates reads neither the whole table nor all jobs of a type', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await store.commit({ changes: await born(store, ...many(12_000, { type: 'a' }), ...many(8_000, { type: 'b', gate: 'any/b//0//' })) });
  await client.query('vacuum analyze stint.job');
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
  const plans = new Map<string, string>();
  const ask = { ...everything, names: { exact: ['a', 'b'] }, limit: 10 };
  await freeRows(planning(client, plans, { summary: JSON.stringify(scanned), ...noneDue }), longFronts(ask, ['a', 'b']), ask);
  expect(plans.size).toBeGreaterThan(0);
  for (const [text, plan] of plans) expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
});

test('claims at gates go along their index, also where the queue was empty when last analyzed', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url, { pipeline: true }); // like the store, which sends statements together
  await store.commit({ changes: await born(store, ...many(20_000, { type: 'a' })) });
  await client.query('delete from stint.job');
  await store.commit({ changes: await born(store, ...many(10, { kind: 'def', type: 'd', def: 'd' })) });
  await client.query('vacuum analyze stint.job');
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
  const plans = new Map<string, string>();
  const told = { summary: JSON.stringify(scanned), ...noneDue, gate: 'any/a//0//', count: 0 };
  const ask = { ...everything, names: { exact: ['a'] }, limit: 10 };
  const waiting = many(266).map((_, id) => ({ kind: 'run', type: 'a', type_version: 1, priority: 0, id, due: 0, gate: `any/a//${id % 2}//`, count: 0 }));
  for (const types of [[], ['a'], ['a', 'b']]) {
    for (const isCursorUsed of [false, true]) {
      const memory = new PostgresGateMemory();
      const lanes = types.map((type) => ['run', type, 1, 0] as const);
      if (isCursorUsed) passMany(memory.cursors, ask, types);
      else memory.cursors.recordScan(ask, { ...scanned, lanes }, 0);
      await gatedRows(planning(client, plans, told), ask, memory);
      memory.isCrowded = true;
      await gatedRows(planning(client, plans, ...waiting, told), ask, memory).catch(() => {});
    }
  }
  expect(plans.size).toBeGreaterThan(8);
  for (const [text, plan] of plans) {
    expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
    expect(plan, text).not.toMatch(/using (?!job_pkey|origin_pkey|ended_pkey).*\n\s*Index Cond: \(\(?id = /);
    // Only what several lanes have locked is sorted: by priority first.
    expect(plan, text).not.toMatch(/Limit\n\s*->\s+(Incremental )?Sort\n\s+Sort Key: job(?!(_\d+)?\.priority DESC)/);
  }
});

test('a claim reads the pauses from one range of an index, and no job of a paused type', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url, { pipeline: true });
  const jobs = [...many(20_000, { type: 'a' }), ...many(10, { type: 'b' })];
  const pauses = [{ kind: 'pause', type: 'a', due: never }, { kind: 'pause', type: 'c', due: never }] as const;
  await store.commit({ changes: await born(store, ...jobs, ...pauses) });
  const ask = { ...everything, kinds: ['run', 'task'], names: { exact: ['a', 'b'] }, limit: 10 } as const;
  for (const analyze of [false, true]) {
    if (analyze) await client.query('vacuum analyze stint.job');
    for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
    const plans = new Map<string, string>();
    const session = planning(client, plans, { summary: JSON.stringify(scanned), ...noneDue, pauseEnd: null });
    await freeRows(session, new ScanCursors(), ask);
    await freeRows(session, longFronts(ask, ['a', 'b']), ask);
    await nextDue(session, ask, 0);
    for (const [text, plan] of plans) {
      expect(plan, text).toMatch(/using job_pause on job pause(_\d+)?\n\s*Index Cond: \(due > /);
      expect(plan, text).not.toMatch(/(Seq Scan|using (?!job_pause)\w+) on job pause/);
      expect(plan, text).not.toMatch(/Anti Join/);
      expect(wholeReads(plan), `${text}\n\n${plan}`).toEqual([]);
    }
  }
  expect(await claimed(store, ask)).toHaveLength(10);
});

function longFronts(ask: ClaimRequest, types: readonly string[]): ScanCursors {
  const fronts = new ScanCursors();
  passMany(fronts, ask, types);
  return fronts;
}

/** So many jobs were claimed that the next claim continues behind them. */
function passMany(fronts: ScanCursors, ask: ClaimRequest, types: readonly string[]): void {
  const lanes = types.map((type) => ['run', type, 1, 0] as const);
  fronts.recordScan(ask, { lanes, hasJobsAtGates: false, hasPauses: false, tookMs: 0 }, systemClock.monotonic());
  const taken = { kind: 'run', type: 'a', type_version: 1, priority: 0, due: 0, id: 1 } as OpenRow;
  fronts.recordClaim(ask, Array.from({ length: 5_000 }, () => taken), () => true);
}

test('definitions are found by their index among jobs that wait, whatever the planner believes of those', async () => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query('vacuum analyze stint.job');
  await store.commit({ changes: await born(store, ...many(5_000)) });
  const plans = new Map<string, string>();
  await definitionVersions(planning(client, plans), 7, 1_000);
  const [versions] = plans.values();
  expect(versions).toMatch(/Limit\n\s*->\s+Index Scan using job_definition on job\n\s*Index Cond: .*id > /);
  await find(planning(client, plans), { kinds: ['def'], standings: ['pending'] }, { limit: 1_000 });
  const plan = [...plans.values()].join('\n');
  expect(wholeReads(plan), plan).toEqual([]);
  expect(plan).toContain('using job_definition');
  // The wanted ids come first, and each is looked up; the other way round, each row would be searched among them.
  expect(plan.indexOf('job_definition'), plan).toBeLessThan(plan.indexOf('using job_pkey'));
  expect(plan).not.toMatch(/Semi Join|Join Filter/);
});

test('the latest runs of definitions are found by one seek each, in an index that has all that is read of them', async () => {
  const { url } = await freshStore();
  const client = await connect(url);
  await client.query(`insert into stint.ended (id, version, created, ended_at, kind, type, def, fate, input, body, history)
    select n, 1, 0, n, 'run', 'a', 'def' || n % 100, 'succeeded', '', '', '' from generate_series(1, 50000) n`);
  for (const [name, value] of Object.entries(transactionSettings)) await client.query(`set ${name} = '${value}'`);
  for (const statement of ['select 1', 'vacuum analyze stint.ended, stint.job, stint.origin']) {
    await client.query(statement);
    const plans = new Map<string, string>();
    await latestEnds(planning(client, plans), ['def1', 'def2']);
    await startedRuns(planning(client, plans), ['def1', 'def2']);
    const [ends, started] = plans.values();
    expect(ends).toMatch(/Limit\n\s*->\s+Index Only Scan Backward using ended_def_end on ended\n/);
    expect(started).toMatch(/Limit\n\s*->\s+Index Scan using job_def on job\n/);
    expect(started).toMatch(/hashed SubPlan/);
    for (const plan of plans.values()) expect(wholeReads(plan), plan).toEqual([]);
  }
});

test('lists of ended runs are read from the index position where the requested ones begin', async () => {
  const { url } = await freshStore();
  const client = await connect(url);
  await client.query(`insert into stint.ended (id, version, created, ended_at, kind, type, def, fate, input, body, history)
    select n, 1, 0, 0, 'run', 'type' || n % 20, case when n % 20 = 1 then 'def' end,
      case when n % 20 = 0 then 'failed' else 'succeeded' end, '', '', '' from generate_series(1, 50000) n`);
  await client.query('vacuum analyze stint.ended');
  const kinds = ['run', 'bedrock'] as const;
  const lists = {
    ended_type: [{ types: ['type7'] }, { types: ['type0', 'type7'] }, { glob: 'type1*' }, { glob: 'none*' }],
    ended_not_succeeded_top: [
      { standings: ['failed'] }, { standings: ['failed', 'cancelled'] }, { types: ['type7'], standings: ['failed'] },
      { glob: 'type*', standings: ['failed'] }, { def: 'def', standings: ['failed'], createdFrom: 1 },
    ],
    ended_def: [{ def: 'def' }],
  } as const;
  for (const [index, queries] of Object.entries(lists)) {
    for (const query of queries) {
      const plans = new Map<string, string>();
      await find(planning(client, plans), { kinds, ...query }, { limit: 50 });
      const plan = [...plans.values()].join('\n');
      const reads = plan.split('\n').filter((line) => /Scan .*on ended/.test(line) && !/using ended_pkey|Subquery/.test(line));
      expect(reads.length, plan).toBeGreaterThan(0);
      for (const read of reads) expect(read, plan).toContain(` using ${index} `);
    }
  }
});

const lockedRows = (changes: readonly Change[]): LockedRows =>
  new LockedRows(changes.map(({ after }, at) => ({ id: after!.id, row_ctid: `(0,${at + 1})`, is_fresh: false })));
