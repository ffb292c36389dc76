// SQLite's migrations: what an older version has written is read by this one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { verify } from '../../src/verify.ts';
import { commitStaged, fillEveryTable, readEveryTable, withoutNewer } from './every-table.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a feed with one entry per job has the same events after the migration', async () => {
  const path = join(folder, 'jobs.db');
  const event = { n: 1, at: 1_800_000_000_000, by: 'a "b"\n☃', kind: 'created', due: 5, priority: -1 };
  const told = [
    { job: 1, kind: 'run', type: 'mail "x"', def: null, parent: null, event },
    { job: 9_007_199_254_740_991, kind: 'task', type: 'mail', def: null, parent: 1, event: { ...event, n: 2 } },
  ];
  const store = new SqliteStore(path);
  const { statements, to } = await store.migrate({ dryRun: true });
  const conversions = statements.findIndex((statement) => statement.startsWith('UPDATE feed'));
  const db = new DatabaseSync(path);
  for (const statement of statements.slice(0, conversions)) db.exec(statement);
  db.prepare('INSERT INTO feed(at, events) VALUES(?, ?)').run(event.at, JSON.stringify(told));
  for (const statement of statements.slice(conversions)) db.exec(statement);
  db.exec(`PRAGMA user_version = ${to}`);
  db.close();
  expect((await store.eventsAfter(null, 10)).events).toEqual(told);
  await store.close();
});

/** The version of the schema before two tables were renamed. */
const beforeRenames = 7;

test('a file of the version before the renames keeps every row', async () => {
  const clock = { ...systemClock, now: () => 1_800_000_000_000 };
  const [writtenPath, oldPath] = [join(folder, 'written.db'), join(folder, 'old.db')];
  const [written, old] = [new SqliteStore(writtenPath, { clock }), new SqliteStore(oldPath, { clock })];
  await written.migrate();
  await fillEveryTable(written);

  const { statements, to } = await old.migrate({ dryRun: true });
  const renaming = statements.findIndex((statement) => statement.includes('RENAME TO'));
  const db = new DatabaseSync(oldPath);
  for (const statement of statements.slice(0, renaming)) db.exec(statement);
  db.exec(`PRAGMA user_version = ${beforeRenames}; ATTACH '${writtenPath}' AS written; DELETE FROM counter`);
  db.exec(withoutNewer('written'));
  const formerNames = { unique_key: 'taken', history_chunk: 'chunk' };
  const tables = ['counter', 'job', 'ended', 'progress', 'log', 'instance', 'leader', 'feed', 'staged_feed'];
  for (const table of [...tables, 'unique_key', 'history_chunk']) {
    const former = (formerNames as Record<string, string>)[table] ?? table;
    const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(former).map(({ name }) => name).join(', ');
    const { changes } = db.prepare(`INSERT INTO main.${former}(${columns}) SELECT ${columns} FROM written.${table}`).run();
    expect([table, changes]).not.toEqual([table, 0]);
  }
  expect(copyStaged(db)).toBe(2);
  db.close();

  expect(await old.migrate()).toMatchObject({ from: beforeRenames, to });
  expect(await readEveryTable(old)).toEqual(await readEveryTable(written));
  const { jobs: [running] } = await old.find({ standings: ['running'] });
  expect(await old.log(running!.id)).toMatchObject([{ text: 'started', fence: null }]);
  expect([await commitStaged(old), await commitStaged(written)]).toEqual([[], []]);
  expect((await old.find({ kinds: ['task'] })).jobs).toHaveLength(2);
  expect(await Array.fromAsync(verify(old, { patienceMs: 0 }))).toEqual([]);
  await old.close();
  await written.close();
});

/** Copies the staged children of the new file into the old one, where each is a row; returns how many there are. */
function copyStaged(db: DatabaseSync): number {
  const known = new Set(db.prepare(`SELECT name FROM pragma_table_info('staged')`).all().map(({ name }) => name));
  let copied = 0;
  for (const piece of db.prepare('SELECT stage, names, jobs FROM written.staged_piece').all()) {
    const { stage, names, jobs } = piece as { stage: string; names: string; jobs: string };
    for (const { own, shared } of JSON.parse(jobs) as { own: SQLInputValue[]; shared: SQLInputValue[] }[]) {
      const all = [own[0]!, own[1]!, own[2] ?? null, ...shared];
      const values = new Map(names.split(', ').map((name, index) => [name, all[index]!]));
      const columns = [...values.keys()].filter((name) => known.has(name));
      const places = columns.map(() => '?').join(', ');
      db.prepare(`INSERT INTO staged(stage, ${columns.join(', ')}) VALUES(?, ${places})`)
        .run(stage, ...columns.map((name) => values.get(name)!));
      copied += 1;
    }
  }
  return copied;
}

test('children that a version with fewer columns has staged become jobs', async () => {
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path);
  await store.migrate();
  await fillEveryTable(store);
  const db = new DatabaseSync(path);
  const { names, jobs } = db.prepare('SELECT names, jobs FROM staged_piece').get() as { names: string; jobs: string };
  const without = (name: string): string => {
    const at = names.split(', ').indexOf(name) - 3;
    const groups = JSON.parse(jobs) as { shared: unknown[] }[];
    return JSON.stringify(groups.map((group) => ({ ...group, shared: group.shared.toSpliced(at, 1) })));
  };
  const older = names.replace(', type_version', '');
  expect(older).not.toBe(names);
  db.prepare('UPDATE staged_piece SET names = ?, jobs = ?').run(older, without('type_version'));
  db.close();
  await commitStaged(store);
  expect((await store.find({ kinds: ['task'] })).jobs).toMatchObject([
    { typeVersion: 1, state: 'pending', unique: { key: 'staged' } }, { typeVersion: 1, state: 'pending', unique: null },
  ]);
  await store.close();
});

test('no index of a table needs a temporary table for each row that is written', async () => {
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path);
  await store.migrate();
  const db = new DatabaseSync(path);
  for (const table of ['job', 'ended']) {
    // A delete evaluates the predicates of all partial indexes, as an insert and an update do.
    const opcodes = db.prepare(`EXPLAIN DELETE FROM ${table} WHERE id = 1`).all().map(({ opcode }) => opcode);
    expect(opcodes, table).toContain('IdxDelete');
    expect(opcodes, table).not.toContain('OpenEphemeral');
  }
  db.close();
  await store.close();
});
