/** The fields of each statement that writes changes: the name of a column, its kind, and its value in a change. */
import { leavesLease, type Change } from '../../../model/change.ts';
import { isOpen, type EndedJob, type Job, type OpenJob } from '../../../model/job.ts';
import { keyUntil, neededKey } from '../../../model/unique-key.ts';
import { endedColumns, openColumns, type ColumnValue, type JobColumn } from '../../job-columns.ts';
import { startsHistoryChunk, lineOf } from '../../row.ts';
import type { RowField, RowFields } from '../sql/row-parameters.ts';
import type { LockedRows } from './locked-rows.ts';

interface OpenChange extends Change {
  readonly after: OpenJob;
}

interface UpdateChange extends OpenChange {
  readonly before: Job;
}

interface EndChange extends Change {
  readonly before: Job;
  readonly after: EndedJob;
}

const fieldOf = <Of extends Change>({ name, kind }: JobColumn, of: (change: Of) => ColumnValue): RowField<Of> =>
  [name, kind === 'flag' ? 'number' : kind, of];

const valueField = <Stored extends Job>(column: JobColumn<Stored>): RowField<Change & { readonly after: Stored }> =>
  fieldOf(column as JobColumn, ({ after }: Change & { readonly after: Stored }) => column.of(after));

/** The field of a column that an update writes. In a sparse column, null means that the value does not change. */
function updateField(column: JobColumn): RowField<Change & { readonly before: Job; readonly after: Job }> {
  if (column.update !== 'sparse') return valueField(column);
  return fieldOf(column, ({ before, after }) => (column.of(before) === column.of(after) ? null : column.of(after)));
}

/** The version that the row must have, and the line that is appended to its history. */
const guardFields: RowFields<Change & { readonly before: Job }> = [
  ['seen', 'number', ({ before }) => before.version],
  ['line', 'json', ({ events }) => lineOf(events)],
];

export const historyChunkField: RowFields<Change> = [
  ['starts_chunk', 'number', (change) => (needsHistoryChunk(change) ? 1 : 0)],
];

export const keyFields: RowFields<Change> = [
  ['key', 'name', neededKey],
  ['key_until', 'number', ({ after }) => keyUntil(after!)],
];

export const newFields = [
  ...openColumns.map(valueField), ['history', 'json', ({ events }) => lineOf(events)],
] as RowFields<OpenChange> as RowFields<Change>;

const isWritten = ({ name, update }: JobColumn): boolean => name === 'id' || update !== 'fixed';

export const updateFields = [
  ...(openColumns as readonly JobColumn[]).filter(isWritten).map(updateField), ...guardFields,
  // 1: the update does not write the lease, because the stored lease may have been extended after the job was read.
  ['keeps_lease', 'number', ({ before, after }) => (leavesLease(before, after) ? 1 : 0)],
] as RowFields<UpdateChange> as RowFields<Change>;

export const endFields = [
  ...(endedColumns as readonly JobColumn[]).filter(isWritten).map(updateField), ...guardFields,
] as RowFields<EndChange> as RowFields<Change>;

/** All columns of a row of `ended`, for a job that has no row in `job`. */
export const endedInFullFields = [
  ...(endedColumns as readonly JobColumn[]).map(updateField), ['line', 'json', ({ events }) => lineOf(events)],
] as RowFields<EndChange> as RowFields<Change>;

/** The columns that a row of `ended` does not have, and the columns whose values the change may change. */
export const reopenFields = [
  ...(openColumns as readonly JobColumn[]).filter((column) => isWritten(column) || column.table === 'job')
    .map((column) => (column.table === 'both' ? updateField(column) : valueField(column))),
  ...guardFields, ...keyFields,
] as RowFields<UpdateChange> as RowFields<Change>;

export const ctidField = (locked: LockedRows): RowFields<Change> => [
  ['row_ctid', 'ctid', ({ after }) => locked.ctidOf(after!.id)],
];

/**
 * Whether a change moves the row's history to a chunk. One part of the statement reads the old history and another
 * replaces it, so the row must be locked first.
 */
export const needsHistoryChunk = ({ before, after }: Change): boolean =>
  before !== null && after !== null && isOpen(before) === isOpen(after) &&
  startsHistoryChunk(before.version, after.version);
