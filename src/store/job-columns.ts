/**
 * The one list of a job's columns. Row types, projections, inserts, updates and moves between the tables derive from it
 * in both SQL adapters. Open jobs are rows of table `job` and ended jobs rows of table `ended`, so that the search for
 * due jobs reads no ended job. A field has a column if claims or indexes need it or if it is written often, and so have
 * `input` and `result`. All other fields are in the column `body`, as one JSON text.
 *
 * To add a column: add a line at the end of the list, and a migration to each `schema.ts`.
 */
import { ownRetentionMs, type EndedJob, type Job, type JobFacts, type OpenJob } from '../model/job.ts';
import type { Hold } from '../model/state.ts';
import { bodyText, type Body } from './job-body.ts';

export type ColumnValue = string | number | null;

interface Column {
  readonly name: string;
  /**
   * `flag`: 0 or 1. `json`: JSON text. JSON text contains no raw control character except tabs and line ends, so
   * PostgreSQL statements can pass many texts in one parameter, separated by another control character.
   */
  readonly kind: 'number' | 'flag' | 'name' | 'json';
  readonly table: 'job' | 'ended' | 'both';
  /**
   * How an update of a stored row writes the column. `fixed`: never. `set`: always, with the new value. `sparse`: if
   * the value does not change, the parameter is null, and the statement keeps the stored value. So the parameter is
   * equal for all rows whose value does not change, and PostgreSQL statements pass equal parameters only once.
   * `lease`: if the change does not affect the lease, the statement keeps the stored value, which `extend` may have
   * raised since the job was read.
   */
  readonly update: 'fixed' | 'set' | 'sparse' | 'lease';
  readonly of: (job: never) => ColumnValue;
}

/** Append only: PostgreSQL stores the rows of staged children packed in this order (`staged.packed`). */
const columns = [
  { name: 'id', kind: 'number', table: 'both', update: 'fixed', of: ({ id }: Job) => id },
  { name: 'version', kind: 'number', table: 'both', update: 'set', of: ({ version }: Job) => version },
  { name: 'priority', kind: 'number', table: 'job', update: 'set', of: ({ priority }: OpenJob) => priority },
  { name: 'due', kind: 'number', table: 'job', update: 'sparse', of: ({ due }: OpenJob) => due },
  { name: 'fence', kind: 'number', table: 'job', update: 'set', of: ({ fence }: OpenJob) => fence },
  { name: 'lease_until', kind: 'number', table: 'job', update: 'lease', of: leaseUntil },
  { name: 'admitted', kind: 'flag', table: 'job', update: 'set', of: ({ admitted }: OpenJob) => (admitted ? 1 : 0) },
  { name: 'cancel_asked', kind: 'flag', table: 'job', update: 'set', of: ({ cancel }: OpenJob) => (cancel ? 1 : 0) },
  { name: 'type', kind: 'name', table: 'both', update: 'set', of: ({ type }: Job) => type },
  { name: 'state', kind: 'name', table: 'job', update: 'set', of: ({ state }: OpenJob) => state },
  { name: 'hold', kind: 'name', table: 'job', update: 'set', of: hold },
  { name: 'phase', kind: 'name', table: 'job', update: 'set', of: ({ phase }: OpenJob) => phase },
  { name: 'holder', kind: 'name', table: 'job', update: 'set', of: holder },
  { name: 'body', kind: 'json', table: 'both', update: 'set', of: bodyText },
  { name: 'parent', kind: 'number', table: 'both', update: 'fixed', of: ({ parent }: Job) => parent },
  { name: 'created', kind: 'number', table: 'both', update: 'fixed', of: ({ created }: Job) => created },
  { name: 'kind', kind: 'name', table: 'both', update: 'fixed', of: ({ kind }: Job) => kind },
  { name: 'def', kind: 'name', table: 'both', update: 'fixed', of: ({ def }: Job) => def },
  { name: 'gate', kind: 'name', table: 'job', update: 'fixed', of: ({ gate }: OpenJob) => gate },
  { name: 'input', kind: 'json', table: 'both', update: 'sparse', of: ({ input }: Job) => input },
  { name: 'ended_at', kind: 'number', table: 'ended', update: 'set', of: ({ endedAt }: EndedJob) => endedAt },
  { name: 'purge_at', kind: 'number', table: 'ended', update: 'set', of: purgeTime },
  { name: 'fate', kind: 'name', table: 'ended', update: 'set', of: ({ fate }: EndedJob) => fate },
  { name: 'result', kind: 'json', table: 'ended', update: 'set', of: ({ result }: EndedJob) => result },
  {
    name: 'type_version', kind: 'number', table: 'job', update: 'set',
    of: ({ typeVersion }: OpenJob) => typeVersion,
  },
] as const satisfies readonly Column[];

function leaseUntil(job: OpenJob): number | null {
  return job.state === 'running' ? job.lease.until : null;
}

/**
 * Returns the time at which the job's own retention ends. Null: the default retention applies, or
 * the job is a child, which is deleted with its parent.
 */
function purgeTime(job: EndedJob): number | null {
  const retentionMs = ownRetentionMs(job);
  return retentionMs === undefined || job.parent !== null ? null : Math.min(job.endedAt + retentionMs, never);
}

/** The latest time that the databases and JavaScript represent exactly. */
const never = Number.MAX_SAFE_INTEGER;

function hold(job: OpenJob): Hold | null {
  return job.state === 'held' ? job.hold : null;
}

function holder(job: OpenJob): string | null {
  return job.state === 'running' ? job.lease.holder : null;
}

type AnyColumn = (typeof columns)[number];
type RowOf<C extends Column> = { readonly [Each in C as Each['name']]: ReturnType<Each['of']> };

/** Rows of table `job` and of table `ended`, without their column `history`. */
export type OpenRow = RowOf<Exclude<AnyColumn, { table: 'ended' }>>;
export type EndedRow = RowOf<Exclude<AnyColumn, { table: 'job' }>>;

/** A column whose value is computed from a `Stored` job: an open job, an ended job, or any job. */
export interface JobColumn<Stored extends Job = Job> extends Omit<Column, 'of'> {
  readonly of: (job: Stored) => ColumnValue;
}

export const allColumns = columns as readonly Column[] as readonly JobColumn[];

export const openColumns: readonly JobColumn<OpenJob>[] = allColumns.filter(({ table }) => table !== 'ended');
export const endedColumns: readonly JobColumn<EndedJob>[] = allColumns.filter(({ table }) => table !== 'job');

export const namesOf = (some: readonly Pick<Column, 'name'>[]): string[] => some.map(({ name }) => name);

/** The columns that depend on the state. A pending job has null in all of them except `state`. */
const stateColumns: readonly string[] = ['state', 'hold', 'holder', 'lease_until'] satisfies readonly (keyof OpenRow)[];

export const pendingColumns = openColumns.filter(({ name }) => !stateColumns.includes(name));

export const columnNames = namesOf(allColumns);

const originNames: readonly string[] = [
  'id', 'version', 'parent', 'created', 'priority', 'due', 'fence', 'kind', 'type', 'def', 'phase', 'gate',
  'input', 'body', 'type_version',
] satisfies readonly (keyof OpenRow)[];

/** Whether PostgreSQL's table `origin` has the column. Until a job changes, it has all of the job. */
export const isOfOrigin = ({ name }: Pick<Column, 'name'>): boolean => originNames.includes(name);
export const originColumns = openColumns.filter(isOfOrigin);

/** The columns that hold numbers. A driver may return 64-bit numbers as text, which must be converted. */
export const numberColumns = namesOf(allColumns.filter(({ kind }) => kind === 'number' || kind === 'flag'));

/**
 * Returns the select list with all columns of both tables, for a query that reads both. `present` and `absent` return
 * the SQL for a column that the table has and for one that it does not have.
 */
export const projectionOf = (
  table: 'job' | 'ended', present: (column: JobColumn) => string, absent: (column: JobColumn) => string,
): string =>
  allColumns
    .map((column) => (column.table === table || column.table === 'both' ? present(column) : absent(column)))
    .join(', ');

/**
 * Makes a row from the values of `openColumns`. The columns are written out one by one: a loop over their names makes
 * objects that V8 stores as dictionaries, which takes 1,580 instead of 50 ns a row.
 */
export const openRowOf = (values: readonly unknown[]): OpenRow => ({
  id: values[0], version: values[1], priority: values[2], due: values[3], fence: values[4], lease_until: values[5],
  admitted: values[6], cancel_asked: values[7], type: values[8], state: values[9], hold: values[10], phase: values[11],
  holder: values[12], body: values[13], parent: values[14], created: values[15], kind: values[16], def: values[17],
  gate: values[18], input: values[19], type_version: values[20],
} satisfies Record<keyof OpenRow, unknown> as OpenRow);

/** Makes a row from the values of `endedColumns`, as `openRowOf` does. */
export const endedRowOf = (values: readonly unknown[]): EndedRow => ({
  id: values[0], version: values[1], type: values[2], body: values[3], parent: values[4], created: values[5], kind: values[6],
  def: values[7], input: values[8], ended_at: values[9], purge_at: values[10], fate: values[11], result: values[12],
} satisfies Record<keyof EndedRow, unknown> as EndedRow);

/** The fields that an open job has as columns and an ended job has in its body. */
type OpenFields = Pick<OpenRow, 'phase' | 'priority' | 'due' | 'fence' | 'gate' | 'type_version'>;

/**
 * Returns the fields that jobs have in every state. They are written out one by one for the same reason as in
 * `openRowOf`.
 */
export const factsOf = (
  row: Pick<OpenRow, keyof OpenRow & keyof EndedRow>, body: Body, open: OpenFields, admitted: boolean, result: string | null,
): JobFacts => ({
  id: row.id,
  version: row.version,
  kind: row.kind,
  type: row.type,
  def: row.def,
  parent: row.parent,
  created: row.created,
  input: row.input,
  key: body.key ?? null,
  changed: body.changed,
  generation: body.generation ?? 1,
  attempt: body.attempt ?? 0,
  crashes: body.crashes ?? 0,
  scheduled: body.scheduled ?? null,
  startedAt: body.startedAt ?? null,
  hasChildrenWaiting: body.hasChildrenWaiting ?? false,
  isFollowed: body.isFollowed ?? false,
  cancel: body.cancel ?? null,
  error: body.error ?? null,
  details: body.details ?? null,
  plan: body.plan ?? null,
  unique: body.unique ?? null,
  policy: body.policy ?? {},
  tags: body.tags ?? null,
  tick: body.tick ?? null,
  follows: body.follows ?? null,
  phase: open.phase,
  priority: open.priority,
  due: open.due,
  fence: open.fence,
  gate: open.gate,
  typeVersion: open.type_version,
  admitted,
  result,
});
