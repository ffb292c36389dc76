/** The fields of each statement that writes changes: the name of a column, and what of a change goes into it. */
import { leavesLease, type Change } from '../../../model/change.ts';
import { isOpen, type EndedJob, type Job, type OpenJob } from '../../../model/job.ts';
import { endedBody, startsHistoryChunk, lineOf, openBody, purgeTime } from '../../row.ts';
import type { RowFields } from '../sql/row-parameters.ts';

/** A change of a job that is open when it is written. */
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

/** What stands in the row of an open job and may change. */
const mutableFields: RowFields<OpenChange> = [
  ['id', 'number', ({ after }) => after.id],
  ['version', 'number', ({ after }) => after.version],
  ['priority', 'number', ({ after }) => after.priority],
  ['due', 'number', ({ after }) => after.due],
  ['fence', 'number', ({ after }) => after.fence],
  ['lease_until', 'number', ({ after }) => (after.state === 'running' ? after.lease.until : null)],
  ['admitted', 'number', ({ after }) => (after.admitted ? 1 : 0)],
  ['cancel_asked', 'number', ({ after }) => (after.cancel ? 1 : 0)],
  ['type', 'name', ({ after }) => after.type],
  ['state', 'name', ({ after }) => after.state],
  ['hold', 'name', ({ after }) => (after.state === 'held' ? after.hold : null)],
  ['phase', 'name', ({ after }) => after.phase],
  ['holder', 'name', ({ after }) => (after.state === 'running' ? after.lease.holder : null)],
  ['body', 'json', ({ after }) => openBody(after)],
];

/** Those of them that become what the change says. */
export const mutableNames: readonly string[] = mutableFields
  .map(([name]) => name)
  .filter((name) => name !== 'id' && name !== 'lease_until');

const originFields: RowFields<OpenChange> = [
  ['parent', 'number', ({ after }) => after.parent],
  ['created', 'number', ({ after }) => after.created],
  ['kind', 'name', ({ after }) => after.kind],
  ['def', 'name', ({ after }) => after.def],
  ['gate', 'name', ({ after }) => after.gate],
  ['input', 'json', ({ after }) => after.input],
];

/** The version that the row must have, and what happened since. */
const guardFields: RowFields<Change & { readonly before: Job }> = [
  ['seen', 'number', ({ before }) => before.version],
  ['line', 'json', ({ events }) => lineOf(events)],
];

/** Null: as it is. */
const inputField: RowFields<Change & { readonly before: Job; readonly after: Job }> = [
  ['input', 'json', ({ before, after }) => (before.input === after.input ? null : after.input)],
];

/** Whether the stored history goes to a chunk of its own. */
export const historyChunkField: RowFields<Change> = [['aside', 'number', (change) =>
  (needsHistoryChunk(change) ? 1 : 0)]];

/** The key that a change takes, and until when it keeps it. */
export const keyFields: RowFields<Change> = [
  ['key', 'name', (change) => neededKey(change)],
  ['key_until', 'number', ({ after }) => (after!.unique?.forMs == null ? null : after!.created + after!.unique.forMs)],
];

export const newFields = [
  ...mutableFields, ...originFields, ['history', 'json', ({ events }) => lineOf(events)],
] as RowFields<OpenChange> as RowFields<Change>;

export const updateFields = [
  ...mutableFields, ...guardFields, ...inputField,
  // The stored lease stays if the change leaves it: it may have been extended since the job was seen.
  ['keeps_lease', 'number', ({ before, after }) => (leavesLease(before, after) ? 1 : 0)],
] as RowFields<UpdateChange> as RowFields<Change>;

export const endFields = [
  ['id', 'number', ({ after }) => after.id],
  ['version', 'number', ({ after }) => after.version],
  ['ended_at', 'number', ({ after }) => after.endedAt],
  ['purge_at', 'number', ({ after }) => purgeTime(after)],
  ['type', 'name', ({ after }) => after.type],
  ['fate', 'name', ({ after }) => after.fate],
  ['result', 'json', ({ after }) => after.result],
  ['body', 'json', ({ after }) => endedBody(after)],
  ...guardFields, ...inputField,
] as RowFields<EndChange> as RowFields<Change>;

export const reopenFields = [
  ...mutableFields, ...guardFields, ...keyFields,
  ['gate', 'name', ({ after }) => after.gate],
  ['input', 'json', ({ after }) => after.input],
] as RowFields<UpdateChange> as RowFields<Change>;

/** The ctid of each locked row. */
export const ctidField = (ctids: Ctids): RowFields<Change> => [['place', 'ctid', ({ after }) => ctids.get(after!.id)!]];

/** By job id. */
export type Ctids = ReadonlyMap<number, string>;

/** Whether a change moves history aside: its row must be locked beforehand, since it is read and written apart. */
export const needsHistoryChunk = ({ before, after }: Change): boolean =>
  before !== null && after !== null && isOpen(before) === isOpen(after) &&
  startsHistoryChunk(before.version, after.version);

/** The key that a change sets free. */
export function releasedKey({ before, after }: Change): string | null {
  const isReleased = before !== null && isOpen(before) && (after === null || !isOpen(after));
  return isReleased && before.unique !== null && before.unique.forMs === null ? before.unique.key : null;
}

/** The key that a change asks for: a new job its own, one that is opened again that which it gave back. */
export function neededKey({ before, after }: Change): string | null {
  if (after === null || after.unique === null || !isOpen(after)) return null;
  return before === null || (!isOpen(before) && after.unique.forMs === null) ? after.unique.key : null;
}
