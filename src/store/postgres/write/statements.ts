/**
 * The statements that write changes, one for each kind: insert into `job`, update `job`, end (move to `ended`), reopen
 * (move back to `job`), amend (update `ended`). Each writes only rows that have the version that was read, and the feed
 * entry of the rows that it wrote.
 *
 * A queue may be empty when it is analyzed and have a million rows a second later. So the statements for several
 * changes leave the planner no choice that depends on statistics: each row is looked up by its id in a lateral
 * subquery, and written by its ctid.
 */
import { startsNewJob, type Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import { firstRecordId } from '../../../model/record-id.ts';
import { neededKey, releasedKey } from '../../../model/unique-key.ts';
import { textArray, numberArray, packRows, rowsSql, packedRowsSql, type ColumnSql } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import {
  historyChunkField, endFields, keyFields, needsHistoryChunk, newFields, ctidField, reopenFields, updateFields,
} from './fields.ts';
import type { JobClaims } from '../sql/job-claims.ts';
import { endClaimedSql, haveOwnXidSql, runsInClaim } from './end-claimed.ts';
import { idOf } from './id-of.ts';
import type { LockedRows } from './locked-rows.ts';
import { excludeFromClaimsSql } from '../maintain/leave-claim.ts';
import { barrierSql, isNotPausedSql } from '../read/pauses.ts';
import { nowSql } from '../sql/server-clock.ts';
import { cachedStatement } from '../sql/statement-cache.ts';
import { feedXid, feedSql, feedEntryText, type FeedSource } from './feed-sql.ts';
import {
  amendSql, appendLineSql, endedNames, endedRowSql, keptNames, newJobNames, openNames, originNames, updateSql,
} from './row-sql.ts';
import { endSingleSql, insertSingleSql, runSingle, updateSingleSql, type WrittenIds } from './single-row.ts';

export type WriteKind = 'insert' | 'update' | 'end' | 'endClaimed' | 'reopen' | 'amend' | 'delete';

export function writeKindOf({ before, after }: Change, claims: JobClaims): WriteKind {
  if (after === null) return 'delete';
  if (before === null) return 'insert';
  if (isOpen(before)) return isOpen(after) ? 'update' : runsInClaim(claims, before) ? 'endClaimed' : 'end';
  return isOpen(after) ? 'reopen' : 'amend';
}

/** The fields of new jobs if some of them have unique keys. */
export const newKeyedFields = [...newFields, ...keyFields];

/**
 * How new jobs are inserted. `checked` looks up each id and key first. `fast`, only for jobs without keys, looks up none: if a
 * job has one of the ids, that throws a unique violation. Stored in `staged.insert_mode`. Jobs in claims end `fast`, too: if one of them has
 * ended before, that throws a unique violation, and `checked` leaves it out.
 */
export type InsertMode = 'fast' | 'checked';

type WriteChanges = (session: Session, changes: readonly Change[], mode: InsertMode, locked?: LockedRows) => Promise<WrittenIds>;

/** Writes changes of one kind. All writers lock rows in the order of ids, so that they do not deadlock on rows. */
export function write(
  session: Session,
  mode: InsertMode,
  kind: Exclude<WriteKind, 'delete'>,
  changes: readonly Change[],
  locked?: LockedRows,
): Promise<WrittenIds> {
  return writers[kind](session, changes.toSorted((a, b) => idOf(a) - idOf(b)), mode, locked);
}

const writers: Readonly<Record<Exclude<WriteKind, 'delete'>, WriteChanges>> =
  { insert, update, end, endClaimed, reopen, amend };

async function insert(session: Session, changes: readonly Change[], mode: InsertMode): Promise<WrittenIds> {
  const isFast = mode === 'fast' && changes.every((change) => neededKey(change) === null && !isRecord(change));
  if (isFast && (await insertFast(session, changes))) return 'all';
  const { schema } = session;
  const values = [session.time.parameter()];
  const fresh = rowsSql(newKeyedFields, changes, values);
  const text = changes.some(startsNewJob)
    ? `with ${barrierSql(schema)}, fresh as materialized (
        select * from (${fresh}) fresh where ${mayStartSql(schema)}), ${checkedInsertSql(schema)}`
    : `with fresh as materialized (${fresh}), ${checkedInsertSql(schema)}`;
  return runWrite(session, text, values, changes);
}

/** A condition: the new job is not running yet, or its type is not paused. */
const mayStartSql = (schema: string): string =>
  `(fresh.state <> 'running' or ${isNotPausedSql(schema, 'fresh.type')})`;

/**
 * Inserts new jobs without keys, and returns true. If a job is running although its type is paused, inserts none and
 * returns false. If a job has one of their ids, throws a unique violation: an ended job from before table `origin` has no
 * row there, so the ids must have been reserved from the counter, which is above the ids of those jobs. Expects changes
 * in the order of ids.
 *
 * Saves (bench/LEDGER.md, "the statement of new jobs without keys writes all or none"): create one by one 1,970 → 2,550
 * a second. Without it `checkedInsertSql` inserts the jobs.
 */
async function insertFast(session: Session, changes: readonly Change[]): Promise<boolean> {
  const startsJobs = changes.some(startsNewJob);
  if (changes.length === 1 && !startsJobs) {
    return (await runSingle(session, insertSingleSql, newFields, changes[0]!)) === 'all';
  }
  const { varyingColumns, texts } = packRows(newFields, changes);
  const values = [session.time.parameter(), changes.length, feedEntryText(changes), ...texts];
  const sql = startsJobs ? fastStartSql : fastInsertSql;
  const [row] = await session.run<{ now: number }>(sql(session.schema, varyingColumns), values);
  if (row !== undefined) session.time.observe(row.now);
  return row !== undefined;
}

/** The id of a record follows from its name, so a record that ended before table `origin` existed may have it, too. */
const isRecord = (change: Change): boolean => idOf(change) >= firstRecordId;

const fastInsertSql = cachedStatement((schema, varyingColumns) => `with fresh as materialized (
    ${packedRowsSql(newFields, varyingColumns, 4)}
  ), ${insertFreshSql(schema)} returning at as now`);

/** Like `fastInsertSql`, for jobs of which some are claimed in the commit that creates them. */
const fastStartSql = cachedStatement((schema, varyingColumns) => `with ${barrierSql(schema)}, asked as materialized (
    ${packedRowsSql(newFields, varyingColumns, 4)}
  ), fresh as materialized (
    select * from asked where not exists (select 1 from asked fresh where not ${mayStartSql(schema)})
  ), ${insertFreshSql(schema)} where exists (select 1 from fresh) returning at as now`);

const insertFreshSql = (schema: string): string => `${storeOriginsSql(schema, 'fresh')}, opened as (
    insert into ${schema}.job (${newJobNames}) select ${newJobNames} from fresh
  ) insert into ${schema}.feed (xid, at, count, events)
    select pg_current_xact_id(), ${nowSql}, $2::bigint, $3::text`;

/**
 * Inserts the new jobs whose ids and keys are free. Each statement takes keys in the order of keys, so that two such
 * statements do not deadlock.
 */
export const checkedInsertSql = (schema: string): string => `insertable as materialized (
    select fresh.* from fresh
      left join lateral (select id from ${schema}.job where job.id = fresh.id limit 1) open on true
      left join lateral (select id from ${schema}.ended where ended.id = fresh.id limit 1) ended on true
      left join lateral (select id from ${schema}.origin where origin.id = fresh.id limit 1) origin on true
    where open.id is null and ended.id is null and origin.id is null
  ), won as (${takeKeysSql(schema, 'insertable')}), chosen as materialized (
    select * from insertable where key is null or exists (select 1 from won where won.job = insertable.id)
  ), opened as (
    insert into ${schema}.job (${newJobNames}) select ${newJobNames} from chosen on conflict (id) do nothing
    returning 1
  ), written as (
    insert into ${schema}.origin (${originNames}) select ${originNames} from chosen on conflict (id) do nothing
    returning id, kind, type, def, parent, history as line, pg_current_xact_id() as xid
  )`;

/** The CTE `stored`, which inserts what the new jobs of `source` have from their creation. */
export const storeOriginsSql = (schema: string, source: string): string =>
  `stored as (insert into ${schema}.origin (${originNames}) select ${originNames} from ${source})`;

export const takeKeysSql = (schema: string, source: string): string => `
  insert into ${schema}.unique_key as held (key, job, until)
  select distinct on (key) key, id, key_until from ${source} where key is not null order by key, id
  on conflict (key) do update set job = excluded.job, until = excluded.until where held.until <= ${nowSql}
  returning job`;

function update(session: Session, changes: readonly Change[], _mode: InsertMode, locked?: LockedRows): Promise<WrittenIds> {
  const startsChunk = changes.some(needsHistoryChunk);
  if (changes.length === 1 && !startsChunk) return runSingle(session, updateSingleSql, updateFields, changes[0]!);
  const { schema } = session;
  const values = [session.time.parameter()];
  const more = startsChunk ? historyChunkField : locked ? ctidField(locked) : [];
  const goal = rowsSql([...updateFields, ...more], changes, values);
  const found = locked && !startsChunk ? findByCtidSql(schema) : findRowSql(schema, 'job');
  const written = `update ${schema}.job set ${updateSql(ofGoal)}, history = ${historySql('job', startsChunk)}
    from (${goal}) goal ${found} where ${isUnchangedRowSql('job')}
    returning job.id, job.kind, job.type, job.def, job.parent, goal.line, job.xid`;
  const chunk = startsChunk ? `stored_chunk as (${storeHistoryChunkSql(schema, 'job', goal)}), ` : '';
  return runWrite(session, `with ${chunk}written as (${written})`, values, changes);
}

function end(session: Session, changes: readonly Change[]): Promise<WrittenIds> {
  if (changes.length === 1 && releasedKey(changes[0]!) === null) return runSingle(session, endSingleSql, endFields, changes[0]!);
  const { schema } = session;
  const values = [session.time.parameter()];
  const goal = rowsSql(endFields, changes, values);
  const released = releaseKeysSql(schema, changes, values);
  const text = `with written as (
      delete from ${schema}.job using (${goal}) goal ${findRowSql(schema, 'job')}
      where ${isUnchangedRowSql('job')} returning ${endedRowSql(ofGoal)}, goal.line, ${feedXid} as xid
    ), inserted as (insert into ${schema}.ended (${endedNames}) select ${endedNames} from written)${released}`;
  return runWrite(session, text, values, changes);
}

function endClaimed(session: Session, changes: readonly Change[], mode: InsertMode): Promise<WrittenIds> {
  const values = [session.time.parameter()];
  const text = `with ${endClaimedSql(session, changes, values, mode === 'fast')}${releaseKeysSql(session.schema, changes, values)}`;
  return runWrite(session, text, values, changes, { rows: 'lines', haveOwnXid: haveOwnXidSql });
}

function reopen(session: Session, changes: readonly Change[]): Promise<WrittenIds> {
  const { schema } = session;
  const values = [session.time.parameter()];
  const goal = rowsSql(reopenFields, changes, values);
  const text = `with seen as materialized (
      select goal.*, found.row_ctid from (${goal}) goal ${findRowSql(schema, 'ended')}
    ), won as (${takeKeysSql(schema, 'seen')}), gone as (
      delete from ${schema}.ended using seen
      where ended.ctid = seen.row_ctid and ended.version = seen.seen
        and (seen.key is null or exists (select 1 from won where won.job = seen.id))
      returning ${reopenedNames.map((name) => `seen.${name}`).join(', ')}, seen.line,
        ${keptNames.map((name) => `ended.${name}`).join(', ')}, coalesce(seen.input, ended.input) as input,
        ended.history || E'\\n' || seen.line as history
    ), inserted as (insert into ${schema}.job (${openNames}) select ${openNames} from gone),
    excluded as (${excludeFromClaimsSql(schema, 'select id from gone')}),
    written as (select id, kind, type, def, parent, line, pg_current_xact_id() as xid from gone)`;
  return runWrite(session, text, values, changes);
}

function amend(session: Session, changes: readonly Change[]): Promise<WrittenIds> {
  const { schema } = session;
  const values = [session.time.parameter()];
  const startsChunk = changes.some(needsHistoryChunk);
  const goal = rowsSql(startsChunk ? [...endFields, ...historyChunkField] : endFields, changes, values);
  const written = `update ${schema}.ended set ${amendSql(ofGoal)}, history = ${historySql('ended', startsChunk)}
    from (${goal}) goal ${findRowSql(schema, 'ended')} where ${isUnchangedRowSql('ended')}
    returning ended.id, ended.kind, ended.type, ended.def, ended.parent, goal.line, pg_current_xact_id() as xid`;
  const chunk = startsChunk ? `stored_chunk as (${storeHistoryChunkSql(schema, 'ended', goal)}), ` : '';
  return runWrite(session, `with ${chunk}written as (${written})`, values, changes);
}

const isOpenName = (name: string): boolean => openNames.split(', ').includes(name);

/** The columns that a reopened job gets anew. Its input stays where it is, unless the change edits it. */
const reopenedNames = reopenFields.map(([name]) => name).filter((name) => isOpenName(name) && name !== 'input');

/** In a statement for several changes, the new values are the columns of `goal`, which has a row for each change. */
const ofGoal: ColumnSql = (column) => `goal.${column}`;

const historySql = (table: 'job' | 'ended', startsChunk: boolean): string => {
  const added = appendLineSql(ofGoal, table);
  return startsChunk ? `case when goal.starts_chunk = 1 then goal.line else ${added} end` : added;
};

const storeHistoryChunkSql = (schema: string, table: 'job' | 'ended', goal: string): string =>
  `insert into ${schema}.history_chunk (job, upto, lines)
    select goal.id, goal.seen, found.history from (${goal}) goal ${findRowSql(schema, table, 'history')}
    where goal.starts_chunk = 1 and found.history is not null`;

const findRowSql = (schema: string, table: 'job' | 'ended', also?: string): string => `cross join lateral (
  select ctid as row_ctid${also ? `, ${also}` : ''} from ${schema}.${table} sought
  where sought.id = goal.id and sought.version = goal.seen limit 1) found`;

/** Finds each row by its known ctid. Checks id and version, since the ctid may belong to another row by now. */
const findByCtidSql = (schema: string): string => `cross join lateral (
  select ctid as row_ctid from ${schema}.job sought
  where sought.ctid = goal.row_ctid and sought.id = goal.id and sought.version = goal.seen limit 1) found`;

/**
 * Checks the version again, because the row may have changed while its lock was awaited. `version > -random()` is
 * always true. It is volatile, so the planner adds no Memoize node. That node cost 20 % and was useless, because each
 * row is visited only once.
 */
const isUnchangedRowSql = (table: 'job' | 'ended'): string =>
  `${table}.ctid = found.row_ctid and ${table}.version = goal.seen and ${table}.version > -random()`;

/** The CTE `released`, which deletes the unique keys that these changes release; an empty text: they release none. */
function releaseKeysSql(schema: string, changes: readonly Change[], values: unknown[]): string {
  const keyed = changes.filter((change) => releasedKey(change) !== null);
  if (keyed.length === 0) return '';
  const [ids, keys] = [values.push(numberArray(keyed.map(idOf))), values.push(textArray(keyed.map(releasedKey)))];
  return `, released as (delete from ${schema}.unique_key using written
    join unnest($${ids}::bigint[], $${keys}::text[]) as free (job, key) on free.job = written.id cross join lateral (
      select ctid as row_ctid from ${schema}.unique_key held
      where held.key = free.key and held.job = free.job limit 1) found
    where unique_key.ctid = found.row_ctid)`;
}

/** Appends the feed entry to the statement, executes it, and returns the ids of the jobs that were written. */
async function runWrite(
  session: Session,
  text: string,
  values: unknown[],
  changes: readonly Change[],
  source?: FeedSource,
): Promise<WrittenIds> {
  const wanted = `$${values.push(changes.length)}::bigint`;
  const entry = `$${values.push(feedEntryText(changes))}::text`;
  const whole = `${text}, ${feedSql(session.schema, wanted, entry, source)}
    select ${nowSql} as now, count,
      case when count < ${wanted} then (select string_agg(id::text, ',') from written) end as ids from total`;
  const [row] = await session.run<{ now: number; ids: string | null; count: number }>(whole, values);
  const { now, ids, count } = row!;
  session.time.observe(now);
  if (ids === null) return Number(count) === 0 ? new Set() : 'all';
  return new Set(ids.split(',').map(Number));
}

/** Locks rows in the order of ids; waits for rows that other transactions have locked. */
export async function lockById(session: Session, table: 'job' | 'ended', ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = `select 1 from unnest($1::bigint[]) as wanted (id) cross join lateral (
    select 1 from ${session.schema}.${table} row where row.id = wanted.id for update) locked`;
  await session.run(text, [numberArray(ids.toSorted((a, b) => a - b))]);
}
