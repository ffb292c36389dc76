/**
 * Lanes: the pieces of SQL from which free-jobs.ts, gates.ts, next-due.ts and oldest-due.ts build their statements. A
 * lane is a kind, a type, a version and a priority. Each lane is one range of the index `job_lane` (for jobs at gates, of
 * `job_gate_order`). So the search of a lane reads neither jobs of other types and versions nor jobs that are due later.
 * `lanesSql` finds the lanes of a request by seeks into the index, from one priority (and type) to the next. `lockSql`
 * locks their first jobs, and `lockAndRead` executes the statement. See claim.ts.
 */
import { isLiteral, literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { byClaimOrder } from '../../../model/claim-order.ts';
import { firstTypeVersion, versionedTypes, type VersionedType } from '../../../model/type-version.ts';
import type { Writable } from '../../../model/writable.ts';
import { namesOf, pendingColumns } from '../../job-columns.ts';
import type { PendingRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { joinOriginSql } from '../read/open-rows.ts';
import { barrierSql, isClaimableSql, pausedSql } from '../read/pauses.ts';
import type { LaneCursor } from './scan-cursor.ts';

/** A row with its ctid. The ctid is the physical position of the row, which does not change while the row is locked. */
export interface RowWithCtid extends PendingRow {
  readonly row_ctid: string;
  /**
   * Whether the job has not changed since its creation, so that `origin` has its whole row, and the feed has no entry of
   * it with a higher xid than that of this transaction.
   */
  readonly is_fresh: boolean;
}

/** The jobs that a claim has locked, in claim order. */
export interface LockedJobs {
  readonly rows: readonly RowWithCtid[];
  /** The ids of the parents that could be locked, and whether each has been asked to cancel. */
  readonly parents: ReadonlyMap<number, boolean>;
  /** Store time after the jobs were locked. */
  readonly now: number;
  /** Store time before the search. */
  readonly searchedAt: number;
}

export type LaneRequest = Pick<ClaimRequest, 'kinds' | 'names' | 'priorities'>;

/**
 * `isFree` is the condition of the partial index `job_lane`, verbatim, so that the planner uses it. From `isAtGate` follows
 * that of `job_gate` and `job_gate_order`, and values of their first columns.
 */
export const isFree = `state = 'pending' and (gate is null or admitted = 1)`;
export const isAtGate = `state = 'pending' and gate is not null and admitted = 0`;

/**
 * The condition `isAtGate` for rows that are looked up by id, written so that the planner cannot use a partial index.
 * With statistics that were collected while the queue was empty, the planner would otherwise search the whole index of
 * the jobs at gates for each id.
 */
export const isStillAtGate = `state = 'pending' and coalesce(gate, '') <> '' and admitted + 0 = 0`;

/**
 * Executes a statement made of the CTEs in `tables`, of which `best` locks jobs, and of a CTE that locks the parents of
 * these jobs. Parents that other transactions have locked are skipped. `cancel_asked` of a parent is read after the
 * parent is locked.
 *
 * The last row that the statement returns has a summary: JSON with the times, the parents and the entries of `summary`.
 *
 * If it expects `manyMin` jobs, that row also has the columns `alikeNames` of the first job. In the rows of the jobs,
 * these are null if they are as in the first job, which saves the driver most of their texts (bench/LEDGER.md, "columns
 * in which claimed jobs agree with the first"). For a single job, that would take the server 6 % longer.
 */
export async function lockAndRead<Summary>(
  session: Session,
  tables: string,
  summary: string,
  values: unknown[],
  { expected = 1 } = {},
): Promise<LockedJobs & Summary> {
  const { schema, time } = session;
  const expectsMany = expected >= manyMin;
  const joinOrigin = joinOriginSql(schema, 'best');
  const text = `with recursive ${barrierSql(schema)}, ${tables}, parent as materialized (
      select parent.* from (select distinct parent as id from best where parent is not null) of cross join lateral (
        select id, cancel_asked from ${schema}.job where job.id = of.id for share skip locked) parent
    ) ${expectsMany ? `, first as materialized (select ${firstColumns} from best ${joinOrigin} limit 1)` : ''}
    select row_ctid, ${expectsMany ? differingColumns : jobColumns}, null as summary
      from best ${joinOrigin} ${expectsMany ? 'cross join first' : ''}
      union all select null, ${expectsMany ? columnsOfFirst : noColumns}, json_build_object(
        'now', ${nowSql}, 'searchedAt', ${searchedAt}, ${summary},
        'parents', (select coalesce(json_agg(json_build_array(id, cancel_asked)), '[]') from parent))::text
      ${expectsMany ? 'from (select) once left join first on true' : ''}`;
  const found = await session.run<RowWithCtid & { readonly summary: string }>(text, values);
  const last = found.pop()!;
  const once = JSON.parse(last.summary) as
    Summary & Pick<LockedJobs, 'now' | 'searchedAt'> & { parents: [number, number][] };
  const { now, searchedAt: since, parents, ...more } = once;
  time.observe(now);
  if (expectsMany) for (const row of found) fillIn(row, last);
  return {
    rows: found.sort(byClaimOrder), now, searchedAt: since, parents: new Map(parents.map(([id, asked]) => [id, asked === 1])), ...(more as
    Summary),
  };
}

/** From this number of jobs on, the columns in which they agree are sent once. */
const manyMin = 50;

/**
 * Gives a row the values of the first job in the columns in which the jobs of a claim often agree. They are written out
 * one by one, since V8 does not cache property accesses by a variable name; `alikeNames` follows from this function.
 */
function fillIn(row: Writable<NeverNull>, first: NeverNull): void {
  row.version ??= first.version;
  row.priority ??= first.priority;
  row.due ??= first.due;
  row.fence ??= first.fence;
  row.admitted ??= first.admitted;
  row.cancel_asked ??= first.cancel_asked;
  row.type ??= first.type;
  row.phase ??= first.phase;
  row.body ??= first.body;
  row.created ??= first.created;
  row.kind ??= first.kind;
  row.type_version ??= first.type_version;
  row.is_fresh ??= first.is_fresh;
}

/** The columns that are never null, so that null can stand for the value of the first job. */
type NeverNull = {
  readonly [Name in keyof RowWithCtid as null extends RowWithCtid[Name] ? never : Name]: RowWithCtid[Name]
};

/** The time at which the statement began, before it read any row; `nowSql` is evaluated later. */
const searchedAt = 'coalesce($1::bigint, floor(extract(epoch from statement_timestamp()) * 1000)::bigint)';

const pendingNames = namesOf(pendingColumns);

/** The columns of `best`. */
export const lockedNames = ['ctid as row_ctid', ...pendingNames, 'xid'].join(', ');

function lockedSql(name: string): string {
  if (name === 'input' || name === 'body') return `coalesce(best.${name}, origin_${name})`;
  return name === 'is_fresh' ? '(best.body is null and best.xid <= pg_current_xact_id())' : `best.${name}`;
}

const rowNames = [...pendingNames, 'is_fresh'];

/** The columns that `fillIn` fills in. */
const alikeNames = filledNames();

function filledNames(): readonly string[] {
  const rowOf = (valueOf: (name: string) => string | null): Record<string, unknown> =>
    Object.fromEntries(rowNames.map((name) => [name, valueOf(name)]));
  const row = rowOf(() => null);
  fillIn(row as Writable<NeverNull>, rowOf((name) => name) as NeverNull);
  return rowNames.filter((name) => row[name] === name);
}

const isAlike = (name: string): boolean => alikeNames.includes(name);

const columnsSql = (names: readonly string[], of: (name: string) => string): string =>
  names.map((name) => `${of(name)} as ${name}`).join(', ');

const jobColumns = columnsSql(rowNames, lockedSql);
const noColumns = rowNames.map(() => 'null').join(', ');
const firstColumns = columnsSql(alikeNames, lockedSql);
const columnsOfFirst = rowNames.map((name) => (isAlike(name) ? `first.${name}` : 'null')).join(', ');
const differingColumns = columnsSql(rowNames, (name) =>
  isAlike(name) ? `nullif(${lockedSql(name)}, first.${name})` : lockedSql(name));

/**
 * The CTEs `near` and `best`, which lock the first $2 jobs of the lanes. `lanes` is the number of lanes that are
 * expected; `beyond` is a further condition on the jobs; `waits` is `isFree` or `isAtGate`, and `stillWaits` the same
 * for rows that are looked up by id.
 */
export const lockSql = (schema: string, lanes: number, beyond: string, waits = isFree, stillWaits = waits): string =>
  lanes > 1 ? lockBestSql(schema, beyond, waits, stillWaits) : lockInLanesSql(schema, beyond, waits);

/**
 * Locks up to $2 rows of each lane, and returns the first $2 rows of all lanes together. With several lanes, it may
 * lock more rows than it returns.
 */
const lockInLanesSql = (schema: string, beyond: string, waits: string): string => `near as (select), best as materialized (
  select job.* from lane cross join lateral (
    select ${lockedNames} from ${schema}.job
    where ${waits} and ${inLane} ${beyond} and due <= ${nowSql}
    order by due, id limit $2::bigint for update skip locked) job
  order by job.priority desc, job.due, job.id limit $2::bigint)`;

/** Reads the first rows of all lanes without locks, then locks them in claim order until $2 rows are locked. */
const lockBestSql = (schema: string, beyond: string, waits: string, stillWaits: string): string => `near as materialized (
  select job.* from lane cross join lateral (
    select id, priority, due from ${schema}.job where ${waits} and ${inLane} ${beyond} and due <= ${nowSql}
    order by due, id limit 2 * $2::bigint + 20) job
  ), ${lockNearSql(schema, stillWaits)}`;

/** The CTE `best`: locks the rows of `near` in claim order until $2 rows are locked. */
export const lockNearSql = (schema: string, waits = isFree): string => `best as materialized (
  select job.* from (select id from near order by priority desc, due, id) near cross join lateral (
    select ${lockedNames} from ${schema}.job
    where ${waits} and job.id = near.id for update skip locked) job
  limit $2::bigint)`;

/** The duration of a statement so far, measured by the server: a client would also measure the time until it reads the answer. */
export const tookMs = '(extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8';

export const inLane = `job.kind = lane.kind and job.type = lane.type and job.type_version = lane.type_version
  and job.priority = lane.priority`;

/**
 * The CTEs `paused` (type), `named` (kind, type, type_version) and `lane` (kind, type, type_version, priority) of a
 * statement that begins `with recursive`. If the walk through the types of a pattern meets more than `typesMax` types of
 * a kind, `lane` is empty and `types_cut` has a row.
 */
export function lanesSql(
  schema: string,
  request: LaneRequest,
  waits: string,
  values: unknown[],
  { typesMax = 1_000_000, paused = pausedSql(schema) }: LaneOptions = {},
): string {
  const next = (from: string, further: string): string => `select kind, type, type_version, (select priority from ${schema}.job
      where ${waits} and job.kind = ${from}.kind and job.type = ${from}.type and job.type_version = ${from}.type_version
        ${further} order by priority desc limit 1) from ${from}`;
  const { priorities } = request;
  const chosen = priorities ? `and priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  return `${paused}, ${namedTypesSql(schema, request, waits, values, typesMax)}, 
    priority_step (kind, type, type_version, priority) as (
      ${next('named', '')}
      union all ${next('priority_step', 'and job.priority < priority_step.priority')} where priority is not null
    ), lane as (select * from priority_step where priority is not null ${chosen})`;
}

/** The CTEs `paused` and `lane` for lanes that are known, each with the position of the last job that was claimed from it. */
export function cursorLanesSql(schema: string, { kinds }: LaneRequest, cursor: readonly LaneCursor[], values: unknown[]): string {
  const texts = (column: 'kind' | 'type'): string => `$${values.push(textArray(cursor.map((lane) => lane[column])))}::text[]`;
  const numbers = (column: 'type_version' | 'priority' | 'due' | 'id'): string =>
    `$${values.push(numberArray(cursor.map((lane) => lane[column])))}::bigint[]`;
  const lanes = [texts('kind'), texts('type'), numbers('type_version'), numbers('priority'), numbers('due'), numbers('id')];
  return `${pausedSql(schema)},
    lane as (select * from unnest(${lanes.join(', ')}) as lane (kind, type, type_version, priority, due, id)
      where ${isClaimableSql(kinds, 'lane')})`;
}

/** A condition on jobs: they come after the position of their lane. */
export const afterCursor = 'and (job.due, job.id) > (lane.due, lane.id)';

export interface LaneOptions {
  readonly typesMax?: number | undefined;
  /** The CTE `paused`. Default: the pauses in force. */
  readonly paused?: string;
}

/**
 * The CTEs `named` and `types_cut`, see `lanesSql`. `named` has the kinds and types of a request that are not paused;
 * for a pattern, only the matching types that have pending jobs.
 */
function namedTypesSql(
  schema: string,
  { kinds, names }: LaneRequest,
  waits: string,
  values: unknown[],
  typesMax: number,
): string {
  const kindList = kindsSql(kinds, values);
  const isClaimable = (row: string): string => isClaimableSql(kinds, row);
  const exact = exactTypes(names);
  if (exact) {
    const types = values.push(textArray(exact.map(({ type }) => type)));
    const versions = values.push(numberArray(exact.map(({ typeVersion }) => typeVersion)));
    return `types_cut as (select where false),
      named (kind, type, type_version) as (select kind, type, type_version from (
        select kind, type, type_version
        from ${kindList}, unnest($${types}::text[], $${versions}::bigint[]) as types (type, type_version)) asked
        where ${isClaimable('asked')})`;
  }
  const glob = parseGlob((names as { glob: string }).glob);
  const [prefix, regex] = [values.push(literalPrefix(glob)), values.push(toPostgresRegex(glob))];
  const next = (kind: string, further: string): string => `(select type from ${schema}.job
      where ${waits} and job.kind = ${kind} and job.type ${further} order by type limit 1)`;
  return `type_step (kind, type, n) as (
      select kind, ${next('kinds.kind', `>= $${prefix}::text`)}, 1 from ${kindList}
      union all
      select kind, ${next('type_step.kind', '> type_step.type')}, n + 1 from type_step
      where starts_with(type, $${prefix}::text) and n <= $${values.push(typesMax)}
    ), types_cut as materialized (
      select 1 from type_step where n > $${values.length} and starts_with(type, $${prefix}::text) limit 1
    ), named as (select kind, type, ${firstTypeVersion}::bigint as type_version from type_step
      where type ~ $${regex}::text and not exists (select 1 from types_cut) and ${isClaimable('type_step')})`;
}

export const kindsSql = (kinds: LaneRequest['kinds'], values: unknown[]): string =>
  `unnest($${values.push(textArray([...new Set(kinds)]))}::text[]) as kinds (kind)`;

/** Returns the types of a request with each version that it knows; null: the names are a pattern. */
function exactTypes(names: LaneRequest['names']): readonly VersionedType[] | null {
  const exact = exactNames(names);
  return exact && versionedTypes(exact, 'exact' in names ? names.versions : []);
}

/** Returns the type names of a request; null: the names are a pattern. */
export function exactNames(names: LaneRequest['names']): readonly string[] | null {
  if ('exact' in names) return names.exact;
  const glob = parseGlob(names.glob);
  return isLiteral(glob) ? [literalPrefix(glob)] : null;
}

/**
 * An SQL condition: whether jobs of the requested kinds and types wait at gates. For a pattern of types, only the kinds
 * are checked. Ordered, so that the planner reads the index of jobs at gates. It would read the table until it finds one where
 * it believes that there are many, and read all of it for a type that has none.
 */
export const anyAtGatesSql = (schema: string, { kinds, names }: LaneRequest, values: unknown[]): string =>
  exactNames(names)
    ? `exists (select 1 from named cross join lateral (select 1 from ${schema}.job
        where ${isAtGate} and job.kind = named.kind and job.type = named.type and job.type_version = named.type_version
        order by priority desc limit 1) waiting)`
    : `exists (select 1 from ${kindsSql(kinds, values)} cross join lateral (select 1 from ${schema}.job
        where ${isAtGate} and job.kind = kinds.kind order by type limit 1) waiting)`;
