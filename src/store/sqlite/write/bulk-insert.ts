/**
 * Bulk insert: one statement writes up to 64 new jobs, and binds their common columns once.
 *
 * Saves (bench/LEDGER.md, "new jobs that differ only in id and input are inserted 64 per statement"): in creates of
 * 1,000 jobs a job takes 7.2 instead of 14.3 µs.
 * Applies to new jobs that are pending, have no unique key, and differ only in id, input and gate, as in a bulk create.
 * Without it (`insertsFrom` returns none) each job is inserted by a statement of its own.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Change } from '../../../model/change.ts';
import type { Event } from '../../../model/event.ts';
import type { OpenJob } from '../../../model/job.ts';
import type { FeedEntry } from '../../feed-entry.ts';
import { lineOf } from '../../row.ts';
import { areShallowEqual } from '../../text-cache.ts';
import { comparedValues, hasValues, openNames, sharedCount, sharedValues } from './row-sql.ts';
import type { Connection } from '../connection.ts';
import type { FreeIds } from './new-ids.ts';

export const isPlainInsert = ({ before, after, events }: Change): boolean =>
  before === null && after?.state === 'pending' && after.unique === null && events.length === 1;

/** Inserts a group of jobs that `insertsFrom` returned: into `staged` if `stage` is given, otherwise into `job`. */
export function insertTogether(
  connection: Connection,
  group: readonly Change[],
  feedEntry: FeedEntry,
  stage?: string,
): void {
  const first = group[0]!;
  const line = lineOf(first.events);
  const shared = [...sharedValues(first.after as OpenJob, line), ...(stage === undefined ? [] : [stage])];
  const isGated = first.after!.gate !== null;
  const insertions = (stage === undefined ? ofJobs : ofStaged)[isGated ? 'gated' : 'free'];
  for (let from = 0, size = 0; from < group.length; from += size) {
    size = portions.find((portion) => from + portion <= group.length)!;
    connection.run(insertions.get(size)!, ...shared, ...ownValues(group, from, size, isGated));
  }
  for (const { after } of group) feedEntry.add(after!, line);
}

function ownValues(group: readonly Change[], from: number, size: number, isGated: boolean): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (let index = from; index < from + size; index += 1) {
    const { id, input, gate } = group[index]!.after!;
    if (isGated) values.push(id, input, gate);
    else values.push(id, input);
  }
  return values;
}

/**
 * A group is split into statements of these numbers of rows, so that few different statements are prepared. Larger
 * statements are not cheaper per row (bench/LEDGER.md: 16, 50 or 200 rows).
 */
const portions = [64, 16, 4, 1];

interface Insertions {
  /** For jobs without a gate: the create of a job takes 7.5 instead of 8.9 µs, because no gate is bound. */
  readonly free: ReadonlyMap<number, string>;
  readonly gated: ReadonlyMap<number, string>;
}

const insertionsInto = (table: string, names: string, shares: number): Insertions => {
  const ofSizes = (own: string, selected: string): ReadonlyMap<number, string> =>
    new Map(portions.map((size) => [size, insertOf(`${table}(${names})`, shares, selected, Array(size).fill(own))]));
  return {
    free: ofSizes('(?, ?)', 'column1, column2, NULL'),
    gated: ofSizes('(?, ?, ?)', 'column1, column2, column3'),
  };
};

function insertOf(into: string, shares: number, selected: string, rows: readonly string[]): string {
  const shared = Array(shares).fill('?').join(', ');
  return `INSERT INTO ${into} SELECT ${selected}, ${shared} FROM (VALUES ${rows.join(', ')})`;
}

const ofJobs = insertionsInto('job', openNames, sharedCount);
const ofStaged = insertionsInto('staged', `${openNames}, stage`, sharedCount + 1);

const isSameEvent = (event: Event, other: Event): boolean => event === other || areShallowEqual(event, other);

/**
 * Returns the changes from index `from` on that `insertTogether` can insert together, and marks the ids of their jobs
 * as taken (`freeIds.claimId`). Empty: the change at `from` cannot be inserted in bulk.
 */
export function insertsFrom(changes: readonly Change[], from: number, freeIds: FreeIds): readonly Change[] {
  const first = changes[from]!;
  if (!isPlainInsert(first) || !freeIds.claimId(first.after!.id)) return [];
  const values = comparedValues(first.after!);
  const isAlike = (change: Change): boolean =>
    isPlainInsert(change) && isSameEvent(change.events[0]!, first.events[0]!)
    && (change.after!.gate === null) === (first.after!.gate === null) && hasValues(change.after!, values);
  let end = from + 1;
  while (end < changes.length && isAlike(changes[end]!) && freeIds.claimId(changes[end]!.after!.id)) end += 1;
  return changes.slice(from, end);
}
