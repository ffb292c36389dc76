/**
 * The schema of PostgreSQL as a list of migrations: each entry migrates the schema from one version to the next.
 */
import { Refusal } from '../../refusal.ts';
import type { Migration } from '../store.ts';
import type { Database, Session } from './sql/database.ts';
import { inboxStatements } from './sql/inbox-schema.ts';

/**
 * The columns of table `job`. Numbers come first, which avoids padding. Texts have the collation "C", so that ranges do
 * not depend on the server's locale.
 */
const openColumns = `
  id bigint not null, version bigint not null, parent bigint, created bigint not null, priority bigint not null,
  due bigint not null, fence bigint not null, lease_until bigint, told xid8 not null default pg_current_xact_id(),
  admitted smallint not null, cancel_asked smallint not null, kind text collate "C" not null,
  type text collate "C" not null, def text collate "C", state text collate "C" not null,
  hold text collate "C", phase text collate "C" not null, holder text collate "C", gate text collate "C",
  input text collate "C" not null, body text collate "C" not null, history text collate "C" not null`;

const endedColumns = `
  id bigint not null, version bigint not null, parent bigint, created bigint not null, ended_at bigint not null,
  purge_at bigint, kind text collate "C" not null, type text collate "C" not null, def text collate "C",
  fate text collate "C" not null, input text collate "C" not null, result text collate "C",
  body text collate "C" not null, history text collate "C" not null`;

/** The columns of table `origin`: what a job has from its creation. */
const originColumns = `
  id bigint not null, version bigint not null, parent bigint, created bigint not null, priority bigint not null,
  due bigint not null, fence bigint not null, kind text collate "C" not null, type text collate "C" not null,
  def text collate "C", phase text collate "C" not null, gate text collate "C", input text collate "C" not null,
  body text collate "C" not null, history text collate "C" not null`;

/**
 * The storage settings of a table whose rows are soon deleted. Vacuum runs often and in small portions. It never
 * truncates the table, since a truncation takes an exclusive lock.
 */
const hot = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 1, autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 1000,
  vacuum_truncate = false`;

/**
 * Returns statements that grow a new, empty table, by default to a megabyte. The table keeps this size, since vacuum does not
 * truncate it. For a smaller table the planner prefers a sequential scan, and a prepared statement would keep that plan
 * while the table grows to millions of rows.
 */
const stretch = (table: string, columns: string, values: string, rows = 2500): string[] => [
  `insert into ${table} (${columns}) select ${values} from generate_series(1, ${rows}) n`,
  `delete from ${table}`,
];

/** The statements of each version; `s` is the schema's name. Never change the statements of a released version. */
const migrations: readonly ((s: string) => readonly string[])[] = [
  (s) => [
    `create table ${s}.meta (version integer not null)`,
    `insert into ${s}.meta values (0)`,
    `create table ${s}.counter (name text primary key, value bigint not null)`,
    `insert into ${s}.counter values ('id', 0)`,
    `create table ${s}.job (${openColumns}, primary key (id)) with (fillfactor = 90, ${hot})`,
    `create index job_lane on ${s}.job (kind, type, priority desc, due, id)
      where state = 'pending' and (gate is null or admitted = 1)`,
    `create index job_gate on ${s}.job (kind, type, gate, priority desc, due, id)
      where state = 'pending' and gate is not null and admitted = 0`,
    `create index job_behind on ${s}.job (gate) where gate is not null and admitted = 1`,
    `create index job_running on ${s}.job (lease_until) where state = 'running'`,
    `create index job_parent on ${s}.job (parent, id) where parent is not null`,
    `create index job_waiting on ${s}.job (id) where hold = 'children'`,
    `create index job_def on ${s}.job (def, id) where def is not null`,
    ...stretch(
      `${s}.job`,
      `id, version, created, priority, due, fence, admitted, cancel_asked, kind, type, state, phase, input, body,
        history`,
      `n, 0, 0, 0, 0, 0, 0, 0, '', '', '', '', repeat('-', 400), '', ''`,
    ),
    `create table ${s}.ended (${endedColumns}, primary key (id))
      with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, vacuum_truncate = false)`,
    ...stretch(
      `${s}.ended`,
      'id, version, created, ended_at, kind, type, fate, input, body, history',
      `n, 0, 0, 0, '', '', 'succeeded', repeat('-', 400), '', ''`,
    ),
    `create index ended_parent on ${s}.ended (parent, id) where parent is not null`,
    `create index ended_type on ${s}.ended (type, id) where parent is null`,
    `create index ended_def on ${s}.ended (def, id) where def is not null`,
    `create index ended_unlucky on ${s}.ended (fate, id) where fate <> 'succeeded'`,
    `create index ended_purge on ${s}.ended (purge_at) where purge_at is not null`,
    `create index ended_past on ${s}.ended (ended_at) where parent is null and purge_at is null`,
    `create table ${s}.chunk (job bigint not null, upto bigint not null, lines text collate "C" not null,
      primary key (job, upto))`,
    `create table ${s}.feed (told xid8 not null, seq bigint generated always as identity, at bigint not null,
      count integer not null, events text collate "C" not null, primary key (told, seq))`,
    `alter table ${s}.feed alter events set storage external`,
    `create table ${s}.taken (key text collate "C" primary key, job bigint not null, until bigint)
      with (vacuum_truncate = false)`,
    ...stretch(`${s}.taken`, 'key, job', `n || repeat('-', 400), 0`),
    `create index taken_until on ${s}.taken (until) where until is not null`,
    `create table ${s}.staged (parent bigint not null, fence bigint not null, first bigint not null,
      count integer not null, packed text[] not null, primary key (parent, fence, first))`,
    `alter table ${s}.staged alter packed set storage external`,
    `create table ${s}.progress (job bigint primary key, tree text collate "C" not null)`,
    `create table ${s}.log (job bigint not null, n bigint not null, at bigint not null, level text not null,
      text text collate "C" not null, primary key (job, n))`,
    `create table ${s}.instance (id text collate "C" primary key, started bigint not null, beat_at bigint not null,
      lease_until bigint not null, about text not null) with (fillfactor = 50)`,
    `create table ${s}.leader (role text collate "C" primary key, leader text collate "C" not null,
      term bigint not null, until bigint not null) with (fillfactor = 50)`,
  ],
  (s) => [
    // Lists of runs must not read tasks, of which a run may have a million.
    `drop index ${s}.ended_type`,
    `create index ended_type on ${s}.ended (type, id) where kind <> 'task'`,
    `create index ended_top on ${s}.ended (id) where kind <> 'task'`,
    // With the included columns, an index-only scan can count a run's tasks.
    `drop index ${s}.ended_parent`,
    `create index ended_parent on ${s}.ended (parent, id) include (kind, type, fate) where parent is not null`,
    // For Bedrock, which looks up unique jobs by their name (column `type`).
    `create index job_queue on ${s}.job (type, id) where kind in ('bedrock', 'mock')`,
  ],
  (s) => [
    // Staged children are stored together with their feed entry. In a feed entry, jobs with equal events now share one
    // copy of the events; the update converts the stored entries.
    `alter table ${s}.staged add column way text, add column shape text, add column events text collate "C"`,
    `alter table ${s}.staged alter events set storage external`,
    `update ${s}.feed set events = coalesce((
      select json_agg(json_build_object('kind', entry -> 'kind', 'type', entry -> 'type', 'parent', entry -> 'parent',
        'jobs', json_build_array(entry -> 'job'), 'events', entry -> 'events'))
      from json_array_elements(events::json) entry)::text, '[]')`,
  ],
  (s) => [
    // For lists of failed and cancelled runs by type.
    `create index ended_unlucky_top on ${s}.ended (fate, type, id) include (kind, def, created)
      where kind <> 'task' and fate <> 'succeeded'`,
  ],
  (s) => [
    // For ended jobs that the index ended_past leaves out because they have their own retention or a parent. Tasks are
    // in neither index.
    `create index ended_since on ${s}.ended (ended_at)
      where kind <> 'task' and (parent is not null or purge_at is not null)`,
  ],
  (s) => [
    // Finds the definitions among all open jobs.
    `create index job_spec on ${s}.job (kind, id) where kind = 'def'`,
  ],
  (s) => [
    // Plain names for tables, columns and indexes. A rename changes only the catalog, whatever the table's size.
    `alter table ${s}.job rename column told to xid`,
    `alter table ${s}.feed rename column told to xid`,
    `alter table ${s}.taken rename to unique_key`,
    `alter index ${s}.taken_pkey rename to unique_key_pkey`,
    `alter index ${s}.taken_until rename to unique_key_until`,
    `alter table ${s}.chunk rename to history_chunk`,
    `alter index ${s}.chunk_pkey rename to history_chunk_pkey`,
    `alter table ${s}.staged rename column way to insert_mode`,
    `alter table ${s}.staged rename column shape to varying_columns`,
    `update ${s}.staged set insert_mode = case insert_mode when 'quick' then 'fast' else 'checked' end`,
    `alter index ${s}.job_behind rename to job_admitted`,
    `alter index ${s}.job_waiting rename to job_waits_for_children`,
    `alter index ${s}.job_spec rename to job_definition`,
    `alter index ${s}.job_queue rename to job_bedrock`,
    `alter index ${s}.ended_unlucky rename to ended_not_succeeded`,
    `alter index ${s}.ended_unlucky_top rename to ended_not_succeeded_top`,
    `alter index ${s}.ended_past rename to ended_at_default_retention`,
    `alter index ${s}.ended_since rename to ended_at_own_retention`,
  ],
  (s) => [
    // With this index, a claim by a pattern reads due jobs in claim order, whatever the number of types. Runs and tasks
    // are claimed by exact types, so the index leaves them out.
    `create index job_order on ${s}.job (kind, priority desc, due, id, type)
      where state = 'pending' and (gate is null or admitted = 1) and kind in ('bedrock', 'mock', 'def')`,
    // With this index, a claim reads the jobs at gates in claim order, whatever the number of gates.
    `create index job_gate_order on ${s}.job (kind, type, priority desc, due, id, gate)
      where state = 'pending' and gate is not null and admitted = 0`,
  ],
  // The claim under which a log line was written. Lines of older versions have no fence. No row is rewritten.
  (s) => [`alter table ${s}.log add column fence bigint`],
  (s) => [
    // What a job has from its creation is written once, to `origin`. The row of an open job has null in `input`, `body`
    // and `history` as long as they are as in `origin`; later its history has the lines since the creation. Rows that
    // were written before have everything in place and no origin; they stay as they are.
    `create table ${s}.origin (${originColumns}, primary key (id))
      with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05, vacuum_truncate = false)`,
    ...stretch(
      `${s}.origin`,
      'id, version, created, priority, due, fence, kind, type, phase, input, body, history',
      `n, 0, 0, 0, 0, 0, '', '', '', repeat('-', 400), '', ''`,
    ),
    `alter table ${s}.job alter input drop not null, alter body drop not null, alter history drop not null`,
    `alter table ${s}.ended alter input drop not null`,
    // Jobs that were claimed together have one row for all, and none in `job`. If the jobs differ in kind or type, both
    // are null.
    `create table ${s}.claim (id bigint generated always as identity primary key, first bigint not null,
      last bigint not null, lease_until bigint, xid xid8 not null, remaining integer not null,
      holder text collate "C" not null, kind text collate "C", type text collate "C", line text collate "C" not null,
      moved bigint[] not null default '{}', ids bigint[] not null, parents bigint[], gates text[])
      with (fillfactor = 50, ${hot})`,
    `create index claim_last on ${s}.claim (last)`,
    // The arrays are stored beside the row, so that the row is narrow when `remaining` changes.
    `alter table ${s}.claim alter ids set storage external, alter parents set storage external,
      alter gates set storage external`,
    // A list reads all claims, so this table stays small: to read a megabyte takes 250 µs.
    ...stretch(
      `${s}.claim`, 'first, last, xid, remaining, holder, line, ids', `0, 0, '1', 0, '', repeat('-', 400), '{}'`, 150,
    ),
  ],
  inboxStatements,
  (s) => [
    // How far the rates of named limits are used, and until when limits are closed. `key` is empty for a limit without
    // keys. No index has `tat`, so that an update stays on its page.
    `create table ${s}.rate (tat double precision not null, interval double precision not null, closed_until bigint,
      name text collate "C" not null, key text collate "C" not null, primary key (name, key))
      with (fillfactor = 50, ${hot})`,
    ...stretch(`${s}.rate`, 'name, key, tat, interval', `repeat('-', 400), n, 0, 0`),
  ],
  // An empty table that statements that claim lock (read/pauses.ts). Older versions do not know pauses; they must not
  // claim any more.
  (s) => [`create table ${s}.claim_barrier ()`],
  (s) => [
    // The edges between runs and the runs that they follow. Open edges have indexes of their own: of 10,000 edges of one
    // follower, the search for an open one reads a single entry.
    `create table ${s}.edge (follower bigint not null, followed bigint not null, outcome text collate "C",
      links text collate "C", result text collate "C", primary key (follower, followed)) with (${hot})`,
    `create index edge_followed on ${s}.edge (followed, follower)`,
    `create index edge_open on ${s}.edge (follower, followed) where outcome is null`,
    `create index edge_open_followed on ${s}.edge (followed) where outcome is null`,
    ...stretch(`${s}.edge`, 'follower, followed, links', `n, n, repeat('-', 400)`),
    `create index job_waits_for_runs on ${s}.job (id) where hold = 'runs'`,
    `create table ${s}.flow_run (run bigint primary key, flow bigint not null) with (vacuum_truncate = false)`,
    `create index flow_run_flow on ${s}.flow_run (flow, run)`,
    ...stretch(`${s}.flow_run`, 'run, flow', 'n, n', 25_000),
  ],
  (s) => [
    // The gate of a job contains its costs behind `#` (model/gate.ts). A walk over the gates leaves them out.
    `drop index ${s}.job_gate`,
    `create index job_gate on ${s}.job (kind, type, split_part(gate, '#', 1), priority desc, due, id)
      where state = 'pending' and gate is not null and admitted = 0`,
    // With this index, claims read the pauses in force, and none that have ended.
    `create index job_pause on ${s}.job (due) where kind = 'pause' and state = 'pending'`,
  ],
  (s) => [
    // The steps and sleeps of handlers. A row without `ended_at` is a step that a retry has made its job forget.
    `create table ${s}.step (job bigint not null, n bigint not null, generation bigint not null, fence bigint not null,
      started_at bigint not null, ended_at bigint, name text collate "C" not null, kind text collate "C" not null,
      result text collate "C", primary key (job, name)) with (${hot})`,
    ...stretch(`${s}.step`, 'job, n, generation, fence, started_at, name, kind', `n, 1, 1, 1, 0, repeat('-', 400), ''`),
  ],
  (s) => [
    // The version of the type that a job was created with. No row is rewritten. The claim indexes contain it, so that
    // claims do not read jobs of other versions.
    `alter table ${s}.job add column type_version bigint not null default 1`,
    `alter table ${s}.origin add column type_version bigint not null default 1`,
    `drop index ${s}.job_lane`,
    `create index job_lane on ${s}.job (kind, type, type_version, priority desc, due, id)
      where state = 'pending' and (gate is null or admitted = 1)`,
    `drop index ${s}.job_gate`,
    `create index job_gate on ${s}.job (kind, type, type_version, split_part(gate, '#', 1), priority desc, due, id)
      where state = 'pending' and gate is not null and admitted = 0`,
    `drop index ${s}.job_gate_order`,
    `create index job_gate_order on ${s}.job (kind, type, type_version, priority desc, due, id, gate)
      where state = 'pending' and gate is not null and admitted = 0`,
  ],
  (s) => [
    // The keys of jobs with shares (model/gate.ts) and their gates, over which claims seek from turn to turn. Other jobs
    // are not in it.
    `create index job_share on ${s}.job
      (kind, type, type_version, priority desc, split_part(split_part(gate, '@', 2), ':', 1), split_part(gate, '#', 1),
        due, id)
      where state = 'pending' and gate is not null and admitted = 0 and strpos(gate, '@') > 0`,
  ],
  (s) => [
    // A wait is a step whose row has a question. No row is rewritten. The index has the open waits.
    `alter table ${s}.step add column question text collate "C"`,
    `create index step_open_wait on ${s}.step (job, name) where ended_at is null and question is not null`,
  ],
  (s) => [
    // Small named texts without a history (port/memos.ts).
    `create table ${s}.memo (name text collate "C" primary key, version bigint not null, value text collate "C" not null)`,
  ],
  (s) => [
    // The output of jobs, in segments (model/output.ts).
    `create table ${s}.output (job bigint not null, fence bigint not null, upto bigint not null, bytes bigint not null,
      text text collate "C" not null, primary key (job, fence, upto)) with (vacuum_truncate = false)`,
    ...stretch(`${s}.output`, 'job, fence, upto, bytes, text', `n, 1, 1, 1, repeat('-', 400)`),
  ],
  (s) => [
    // For the run of a definition that ended last (read/latest-runs.ts).
    `create index ended_def_end on ${s}.ended (def, ended_at, id) include (fate)
      where kind = 'run' and def is not null`,
  ],
  (s) => [
    // Fewer and simpler conditions: for each statement that inserts, PostgreSQL prepares the conditions of all partial
    // indexes. What they compared with constants are the first columns now.
    `drop index ${s}.job_gate`,
    `create index job_gate on ${s}.job
      (admitted, state, kind, type, type_version, split_part(gate, '#', 1), priority desc, due, id)
      where gate is not null`,
    `drop index ${s}.job_gate_order`,
    `drop index ${s}.job_admitted`,
    `create index job_gate_order on ${s}.job (admitted, state, kind, type, type_version, priority desc, due, id, gate)
      where gate is not null`,
    `drop index ${s}.job_share`,
    `create index job_share on ${s}.job
      (admitted, state, kind, type, type_version, priority desc, split_part(split_part(gate, '@', 2), ':', 1),
        split_part(gate, '#', 1), due, id)
      where strpos(gate, '@') > 0`,
    `drop index ${s}.job_waits_for_children`,
    `drop index ${s}.job_waits_for_runs`,
    `create index job_waits on ${s}.job (hold, id) where hold is not null`,
  ],
];

export async function migrate(database: Database, { dryRun = false } = {}): Promise<Migration> {
  const plan = await planFor(database);
  if (dryRun) return plan;
  return database.transaction(async (transaction) => {
    const { schema } = database;
    await transaction.runUnprepared('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`stint ${schema} schema`]);
    const current = await planFor(transaction);
    for (const statement of current.statements) await transaction.runUnprepared(statement);
    if (current.from < current.to) await transaction.runUnprepared(`update ${schema}.meta set version = ${current.to}`);
    await transaction.runUnprepared(resetForeignXids(schema));
    return current;
  });
}

/**
 * Returns a statement that sets all xids to 1, the lowest xid, if the feed has an xid that this server has not reached
 * yet. Unreached xids come from the dump of another server. Without the reset, readers of the feed would not get the
 * entries with these xids until this server reaches them. All xids get the same value, so that `seq` alone decides the
 * order of the entries.
 */
const resetForeignXids = (schema: string): string =>
  `with restored as materialized (select 1 from ${schema}.feed where xid >= ${unreached} limit 1),
    entries as (update ${schema}.feed set xid = '1' where exists (select 1 from restored)),
    claims as (update ${schema}.claim set xid = '1' where exists (select 1 from restored))
    update ${schema}.job set xid = '1' where exists (select 1 from restored)`;

/**
 * The lowest xid that counts as not reached: all rows of this server that the statement sees have lower xids. This does
 * not hold for the xid of the statement's own transaction: if that xid is assigned before the snapshot, other
 * transactions may get higher xids and commit before the snapshot.
 */
const unreached = 'pg_snapshot_xmax(pg_current_snapshot())';

export function requireKnownSchema(found: number): void {
  const known = migrations.length;
  if (found <= known) return;
  const message = `the database has schema ${found} and this Stint knows ${known}: start the newer version of Stint`;
  throw new Refusal('newer.schema', message, { found, known });
}

async function planFor(session: Session): Promise<Migration> {
  const from = (await versionOf(session)) ?? 0;
  const to = migrations.length;
  requireKnownSchema(from);
  // Not `create schema if not exists`: it needs the right to create schemas even if the schema exists.
  const isCreated = await exists(session, `select 1 from pg_namespace where nspname = (parse_ident($1))[1]`);
  const statements = migrations.slice(from).flatMap((statementsOf) => statementsOf(session.schema));
  return { from, to, statements: isCreated ? statements : [`create schema ${session.schema}`, ...statements] };
}

/** Returns the version of the schema; null: the schema has no tables of Stint. */
async function versionOf(session: Session): Promise<number | null> {
  const meta = `select 1 from pg_tables where schemaname = (parse_ident($1))[1] and tablename = 'meta'`;
  if (!(await exists(session, meta))) return null;
  const [row] = await session.runUnprepared<{ version: number }>(`select version from ${session.schema}.meta`);
  return row?.version ?? null;
}

/**
 * Whether `question`, a query of catalog tables, finds a row. Catalog functions are not used: they read a cache, which
 * misses tables that another process created while this one waited for the migration lock.
 */
async function exists(session: Session, question: string): Promise<boolean> {
  return (await session.runUnprepared(question, [session.schema])).length > 0;
}
