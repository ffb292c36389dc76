/**
 * Bulk insert: new jobs that differ only in id and input, as the jobs of a bulk create mostly do. One statement writes
 * many of them, and their common columns are built and bound once.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Change } from '../../../model/change.ts';
import type { Event } from '../../../model/event.ts';
import type { Job, OpenJob, Policy } from '../../../model/job.ts';
import type { FeedEntry } from '../../feed-entry.ts';
import { lineOf } from '../../row.ts';
import { openNames, sharedCount, sharedValues } from './columns.ts';
import type { Connection } from '../connection.ts';
import type { FreeIds } from './new-ids.ts';

/** Whether a change may be inserted in bulk: a pending new job without a unique key and with a single event. */
export const isPlainInsert = ({ before, after, events }: Change): boolean =>
  before === null && after?.state === 'pending' && after.unique === null && events.length === 1;

export const differsOnlyInIdAndInput = (change: Change, first: Change): boolean =>
  isPlainInsert(change) && isSameEvent(change.events[0]!, first.events[0]!) && isSameJob(change.after!, first.after!);

/** Inserts them as jobs; or, with a stage, as staged rows of that stage. */
export function insertTogether(
  connection: Connection,
  group: readonly Change[],
  feedEntry: FeedEntry,
  stage?: string,
): void {
  const first = group[0]!;
  const line = lineOf(first.events);
  const shared = [...sharedValues(first.after as OpenJob, line), ...(stage === undefined ? [] : [stage])];
  const insertions = stage === undefined ? ofJobs : ofStaged;
  for (let from = 0, size = 0; from < group.length; from += size) {
    size = portions.find((portion) => from + portion <= group.length)!;
    connection.run(insertions.get(size)!, ...shared, ...ownValues(group, from, size));
  }
  for (const { after } of group) feedEntry.add(after!, line);
}

function ownValues(group: readonly Change[], from: number, size: number): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (let index = from; index < from + size; index += 1) {
    const { id, input } = group[index]!.after!;
    values.push(id, input);
  }
  return values;
}

/** How many are written at a time. A statement of more rows is no cheaper. */
const portions = [64, 16, 4, 1];

const insertionsInto = (table: string, names: string, shares: number): ReadonlyMap<number, string> =>
  new Map(portions.map((size) => [size, insertOf(table, names, shares, size)]));

function insertOf(table: string, names: string, shares: number, size: number): string {
  const shared = Array.from({ length: shares }, (_, index) => `?${index + 1}`);
  const own = Array.from({ length: size }, () => '(?, ?)');
  return `INSERT INTO ${table}(${names}) SELECT column1, column2, ${shared.join(', ')} FROM (VALUES ${own.join(', ')})`;
}

const ofJobs = insertionsInto('job', openNames, sharedCount);
const ofStaged = insertionsInto('staged', `${openNames}, stage`, sharedCount + 1);

const isSameEvent = (event: Event, other: Event): boolean =>
  event === other ||
  (event.kind === 'created' &&
    other.kind === 'created' &&
    event.n === other.n &&
    event.at === other.at &&
    event.by === other.by &&
    event.why === other.why &&
    event.due === other.due &&
    event.priority === other.priority &&
    event.phase === other.phase &&
    event.hold === other.hold &&
    event.plan === other.plan);

/** Whether all that becomes a column or a part of the body is the same; both are pending. */
const isSameJob = (job: Job, other: Job): boolean =>
  job.type === other.type &&
  job.kind === other.kind &&
  job.def === other.def &&
  job.parent === other.parent &&
  job.key === other.key &&
  job.created === other.created &&
  job.changed === other.changed &&
  job.version === other.version &&
  job.phase === other.phase &&
  job.priority === other.priority &&
  job.due === other.due &&
  job.gate === other.gate &&
  job.admitted === other.admitted &&
  job.fence === other.fence &&
  job.generation === other.generation &&
  job.attempt === other.attempt &&
  job.crashes === other.crashes &&
  job.startedAt === other.startedAt &&
  job.hasChildrenWaiting === other.hasChildrenWaiting &&
  job.cancel === other.cancel &&
  job.error === other.error &&
  job.details === other.details &&
  job.plan === other.plan &&
  job.tags === other.tags &&
  job.tick === other.tick &&
  isSamePolicy(job.policy, other.policy);

const isSamePolicy = (policy: Policy, other: Policy): boolean =>
  policy === other || (Object.keys(policy).length === 0 && Object.keys(other).length === 0);

/** The changes from this index on that can be inserted together. */
export function insertsFrom(changes: readonly Change[], from: number, freeIds: FreeIds): readonly Change[] {
  const first = changes[from]!;
  if (!isPlainInsert(first) || !freeIds.claimId(first.after!.id)) return [];
  let end = from + 1;
  while (end < changes.length && differsOnlyInIdAndInput(changes[end]!, first) && freeIds.claimId(changes[end]!.after!.id)) end += 1;
  return changes.slice(from, end);
}
