/** The schema of SQLite as a list of migrations: each entry migrates the schema from one version to the next. */
import { Refusal } from '../../refusal.ts';
import type { Migration } from '../store.ts';
import type { Connection } from './connection.ts';

/**
 * The columns of open jobs, and formerly of staged children. `lane` is 1 for a pending job that needs no admission, 2 for a
 * pending job that waits at its gate, and 0 for other jobs. Each claim index is a partial index for one value of
 * `lane`.
 */
const openColumns = `
  version INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, def TEXT, parent INTEGER, created INTEGER NOT NULL,
  state TEXT NOT NULL, hold TEXT, phase TEXT NOT NULL, priority INTEGER NOT NULL, due INTEGER NOT NULL,
  fence INTEGER NOT NULL, holder TEXT, lease_until INTEGER, gate TEXT, admitted INTEGER NOT NULL,
  cancel_asked INTEGER NOT NULL, lane INTEGER NOT NULL, input TEXT NOT NULL, body TEXT NOT NULL, history TEXT NOT NULL`;

/** The columns of staged children after the first three, when each child was a row. */
const stagedNames = [
  'version, priority, due, fence, lease_until, admitted, cancel_asked, type, state, hold, phase, holder',
  'body, parent, created, kind, def, type_version, lane, history',
].join(', ');

const migrations: readonly (readonly string[])[] = [
  [
    `CREATE TABLE job(id INTEGER PRIMARY KEY, ${openColumns}) STRICT`,
    `CREATE INDEX job_lane ON job(kind, type, priority DESC, due, id) WHERE lane = 1`,
    `CREATE INDEX job_gate ON job(kind, type, gate, priority DESC, due, id) WHERE lane = 2`,
    `CREATE INDEX job_behind ON job(gate) WHERE gate IS NOT NULL AND admitted = 1`,
    `CREATE INDEX job_running ON job(holder, lease_until) WHERE state = 'running'`,
    `CREATE INDEX job_parent ON job(parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX job_waiting ON job(id) WHERE hold = 'children'`,
    `CREATE INDEX job_def ON job(def) WHERE def IS NOT NULL`,
    `CREATE TABLE ended(
      id INTEGER PRIMARY KEY, version INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, def TEXT, parent INTEGER,
      created INTEGER NOT NULL, fate TEXT NOT NULL, ended_at INTEGER NOT NULL, purge_at INTEGER, result TEXT,
      input TEXT NOT NULL, body TEXT NOT NULL, history TEXT NOT NULL) STRICT`,
    `CREATE INDEX ended_parent ON ended(parent, id) WHERE parent IS NOT NULL`,
    `CREATE INDEX ended_type ON ended(type, id) WHERE parent IS NULL`,
    `CREATE INDEX ended_def ON ended(def, id) WHERE def IS NOT NULL`,
    `CREATE INDEX ended_unlucky ON ended(fate, id) WHERE fate <> 'succeeded'`,
    `CREATE INDEX ended_purge ON ended(purge_at) WHERE purge_at IS NOT NULL`,
    `CREATE INDEX ended_past ON ended(ended_at) WHERE parent IS NULL AND purge_at IS NULL`,
    `CREATE TABLE chunk(job INTEGER NOT NULL, upto INTEGER NOT NULL, lines TEXT NOT NULL, PRIMARY KEY(job, upto)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE feed(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, events TEXT NOT NULL) STRICT`,
    `CREATE TABLE taken(key TEXT PRIMARY KEY, job INTEGER NOT NULL, until INTEGER) STRICT, WITHOUT ROWID`,
    `CREATE TABLE staged(stage TEXT NOT NULL, id INTEGER NOT NULL, ${openColumns}) STRICT`,
    `CREATE INDEX staged_stage ON staged(stage)`,
    `CREATE TABLE staged_feed(stage TEXT NOT NULL, at INTEGER NOT NULL, events TEXT NOT NULL) STRICT`,
    `CREATE INDEX staged_feed_stage ON staged_feed(stage)`,
    `CREATE TABLE progress(job INTEGER PRIMARY KEY, tree TEXT NOT NULL) STRICT`,
    `CREATE TABLE log(job INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY(job, n)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE instance(id TEXT PRIMARY KEY, started INTEGER NOT NULL, beat_at INTEGER NOT NULL, lease_until INTEGER NOT NULL, about TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE leader(role TEXT PRIMARY KEY, leader TEXT NOT NULL, term INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO counter(name, value) VALUES('id', 0)`,
  ],
  [
    // Indexes for Bedrock, which finds unique jobs by name, and searches for lapsed leases with every GetJob.
    `CREATE INDEX job_queue ON job(type, id) WHERE kind IN ('bedrock', 'mock')`,
    `CREATE INDEX ended_queue ON ended(type, id) WHERE kind IN ('bedrock', 'mock') AND fate <> 'succeeded'`,
    `CREATE INDEX job_lease ON job(lease_until) WHERE state = 'running' AND lease_until IS NOT NULL`,
  ],
  [
    // With these indexes, lists of runs do not read tasks, of which a run may have a million.
    `DROP INDEX ended_type`,
    `CREATE INDEX ended_type ON ended(type, id) WHERE kind <> 'task'`,
    `CREATE INDEX ended_top ON ended(id) WHERE kind <> 'task'`,
    // A covering index for the count of the tasks of a run.
    `DROP INDEX ended_parent`,
    `CREATE INDEX ended_parent ON ended(parent, id, kind, type, fate) WHERE parent IS NOT NULL`,
  ],
  [
    // A covering index for lists of failed and cancelled runs by type.
    `CREATE INDEX ended_unlucky_top ON ended(fate, type, id, kind, def, created)
      WHERE kind <> 'task' AND fate <> 'succeeded'`,
  ],
  // Rewrites feed entries to the format in which jobs with equal events share one copy of the events (feed-entry.ts).
  ['feed', 'staged_feed'].map((table) => `UPDATE ${table} SET events = (SELECT json_group_array(json_object(
    'kind', value -> 'kind', 'type', value -> 'type', 'parent', value -> 'parent',
    'jobs', json_array(value -> 'job'), 'events', json_array(value -> 'event'))) FROM json_each(${table}.events))`),
  [
    // The index contains the ended jobs that `ended_past` leaves out, except tasks: jobs that have a parent or a
    // retention of their own.
    `CREATE INDEX ended_since ON ended(ended_at)
      WHERE kind <> 'task' AND (parent IS NOT NULL OR purge_at IS NOT NULL)`,
  ],
  // An index with which definitions are found without reading all open jobs.
  [`CREATE INDEX job_spec ON job(id) WHERE kind = 'def'`],
  // Renames two tables. Indexes keep their names: SQLite cannot rename an index, and to create one again takes seconds
  // for a million rows.
  [`ALTER TABLE taken RENAME TO unique_key`, `ALTER TABLE chunk RENAME TO history_chunk`],
  [
    // With this index, claims by a pattern read due jobs in claim order, however many types there are. Runs and tasks
    // are claimed by exact types, so the index does not contain them.
    `CREATE INDEX job_order ON job(kind, priority DESC, due, id, type)
      WHERE lane = 1 AND kind IN ('bedrock', 'mock', 'def')`,
    // With this index, claims read jobs at gates in claim order, however many gates there are.
    `CREATE INDEX job_gate_order ON job(kind, type, priority DESC, due, id, gate) WHERE lane = 2`,
  ],
  // The claim under which a log line was written. Lines of older versions have no fence. No row is rewritten.
  [`ALTER TABLE log ADD COLUMN fence INTEGER`],
  [
    // The same index with OR instead of IN. For an IN with three or more values in a partial index, SQLite builds a
    // temporary table for each row that is written: 0.8 µs.
    `DROP INDEX job_order`,
    `CREATE INDEX job_order ON job(kind, priority DESC, due, id, type)
      WHERE lane = 1 AND (kind = 'bedrock' OR kind = 'mock' OR kind = 'def')`,
  ],
  [
    // Requests for runs that programs insert in SQL. AUTOINCREMENT: an id is never used again. The default of `at` has
    // only functions that old versions of SQLite know, because other programs bring their own.
    `CREATE TABLE inbox(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      type TEXT NOT NULL CHECK (type <> ''),
      input TEXT CHECK (json_valid(input)),
      options TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(options)),
      at INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
      refused_at INTEGER, code TEXT, message TEXT) STRICT`,
    `CREATE INDEX inbox_waiting ON inbox(id) WHERE refused_at IS NULL`,
    `CREATE INDEX inbox_refused ON inbox(refused_at) WHERE refused_at IS NOT NULL`,
  ],
  [
    // How far the rates of named limits are used, and until when limits are closed. `key` is empty for a limit without
    // keys. The index is for the purge.
    `CREATE TABLE rate(name TEXT NOT NULL, key TEXT NOT NULL, tat REAL NOT NULL, interval REAL NOT NULL,
      closed_until INTEGER, PRIMARY KEY(name, key)) STRICT, WITHOUT ROWID`,
    `CREATE INDEX rate_tat ON rate(tat)`,
  ],
  // Pauses need no statement. Older versions do not know them, and must not claim any more.
  [],
  [
    // The edges between runs and the runs that they follow. Open edges have indexes of their own: of 10,000 edges of one
    // follower, the search for an open one reads a single entry.
    `CREATE TABLE edge(follower INTEGER NOT NULL, followed INTEGER NOT NULL, outcome TEXT, links TEXT, result TEXT,
      PRIMARY KEY(follower, followed)) STRICT, WITHOUT ROWID`,
    `CREATE INDEX edge_followed ON edge(followed, follower)`,
    `CREATE INDEX edge_open ON edge(follower, followed) WHERE outcome IS NULL`,
    `CREATE INDEX edge_open_followed ON edge(followed) WHERE outcome IS NULL`,
    `CREATE INDEX job_waits_for_runs ON job(id) WHERE hold = 'runs'`,
    `CREATE TABLE flow_run(run INTEGER PRIMARY KEY, flow INTEGER NOT NULL) STRICT`,
    `CREATE INDEX flow_run_flow ON flow_run(flow, run)`,
  ],
  [
    // The gate of a job contains its costs behind `#` (model/gate.ts). A walk over the gates leaves them out.
    `DROP INDEX job_gate`,
    `CREATE INDEX job_gate ON job(kind, type, substr(gate, 1, instr(gate || '#', '#') - 1), priority DESC, due, id)
      WHERE lane = 2`,
    // With this index, claims read the pauses in force, and none that have ended.
    `CREATE INDEX job_pause ON job(due, type, gate) WHERE kind = 'pause' AND state = 'pending'`,
  ],
  [
    // The steps and sleeps of handlers. A row without `ended_at` is a step that a retry has made its job forget.
    `CREATE TABLE step(job INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,
      generation INTEGER NOT NULL, fence INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, result TEXT,
      PRIMARY KEY(job, name)) STRICT, WITHOUT ROWID`,
  ],
  [
    // The version of the type that a job was created with. The claim indexes contain it, so that claims do not read jobs
    // of other versions.
    `ALTER TABLE job ADD COLUMN type_version INTEGER NOT NULL DEFAULT 1`,
    `ALTER TABLE staged ADD COLUMN type_version INTEGER NOT NULL DEFAULT 1`,
    `DROP INDEX job_lane`,
    `CREATE INDEX job_lane ON job(kind, type, type_version, priority DESC, due, id) WHERE lane = 1`,
    `DROP INDEX job_gate`,
    `CREATE INDEX job_gate ON job(kind, type, type_version, substr(gate, 1, instr(gate || '#', '#') - 1), priority DESC, due, id)
      WHERE lane = 2`,
    `DROP INDEX job_gate_order`,
    `CREATE INDEX job_gate_order ON job(kind, type, type_version, priority DESC, due, id, gate) WHERE lane = 2`,
  ],
  [
    // The keys of jobs with shares (model/gate.ts) and their gates, over which claims seek from turn to turn. Other jobs
    // are not in it.
    `CREATE INDEX job_share ON job(kind, type, type_version, priority DESC,
      substr(gate, instr(gate, '@') + 1, instr(gate, ':') - instr(gate, '@') - 1), substr(gate, 1, instr(gate, '#') - 1),
      due, id)
      WHERE lane = 2 AND instr(gate, '@') > 0`,
  ],
  [
    // A wait is a step whose row has a question. The index has the open waits.
    `ALTER TABLE step ADD COLUMN question TEXT`,
    `CREATE INDEX step_open_wait ON step(job, name) WHERE ended_at IS NULL AND question IS NOT NULL`,
  ],
  [
    // Small named texts without a history (port/memos.ts).
    `CREATE TABLE memo(name TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL) WITHOUT ROWID`,
  ],
  [
    // The output of jobs, in segments (model/output.ts).
    `CREATE TABLE output(job INTEGER NOT NULL, fence INTEGER NOT NULL, upto INTEGER NOT NULL, bytes INTEGER NOT NULL,
      text TEXT NOT NULL, PRIMARY KEY(job, fence, upto)) STRICT, WITHOUT ROWID`,
  ],
  [
    // A covering index for the run of a definition that ended last (read/latest-runs.ts).
    `CREATE INDEX ended_def_end ON ended(def, ended_at, id, fate) WHERE kind = 'run' AND def IS NOT NULL`,
  ],
  [
    // Staged children are packed: a row has the children of one call of `stageChildren` as JSON (write/staging.ts).
    `CREATE TABLE staged_piece(stage TEXT NOT NULL, count INTEGER NOT NULL, names TEXT NOT NULL, jobs TEXT NOT NULL) STRICT`,
    `CREATE INDEX staged_piece_stage ON staged_piece(stage)`,
    `INSERT INTO staged_piece(stage, count, names, jobs)
      SELECT stage, count(*), 'id, input, gate, ${stagedNames}', json_group_array(json_object(
        'shared', json_array(${stagedNames}), 'own', json_array(id, input, gate), 'isGated', json('true')))
      FROM staged GROUP BY stage, rowid / 1000 ORDER BY min(rowid)`,
    `DROP TABLE staged`,
  ],
];

export async function migrate(connection: Connection, { dryRun = false } = {}): Promise<Migration> {
  const from = versionOf(connection);
  if (dryRun || from === migrations.length) return planFrom(from);
  return connection.write(() => {
    const plan = planFrom(versionOf(connection));
    for (const statement of plan.statements) connection.db.exec(statement);
    connection.db.exec(`PRAGMA user_version = ${plan.to}`);
    return plan;
  });
}

/**
 * Throws the refusal `newer.schema` if a newer Stint has migrated the schema, which may happen while this one is
 * running.
 */
export function requireKnownSchema(connection: Connection): void {
  const found = versionOf(connection);
  if (found > migrations.length) planFrom(found);
}

function planFrom(from: number): Migration {
  const to = migrations.length;
  if (from > to) {
    const message = `the database has schema ${from} and this Stint knows ${to}: start the newer version of Stint`;
    throw new Refusal('newer.schema', message, { found: from, known: to });
  }
  return { from, to, statements: migrations.slice(from).flat() };
}

const versionOf = (connection: Connection): number =>
  Number(connection.arrays('PRAGMA user_version')[0]![0]);
