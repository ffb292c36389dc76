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
import { comparedValues, hasValues, openNames, ownNames, sharedValues } from './row-sql.ts';
import type { Connection } from '../connection.ts';
import type { FreeIds } from './new-ids.ts';

export const isPlainInsert = ({ before, after, events }: Change): boolean =>
  before === null && after?.state === 'pending' && after.unique === null && events.length === 1;

/** The rows of new jobs that differ only in id, input and gate. */
export interface SimilarRows {
  /** The values of the columns after the first three of `openNames`. */
  readonly shared: readonly SQLInputValue[];
  /** Id and input of each job, one after the other; if `isGated`, also its gate. */
  readonly own: readonly SQLInputValue[];
  readonly isGated: boolean;
}

/** Inserts a group of jobs that `insertsFrom` returned. */
export function insertTogether(connection: Connection, group: readonly Change[], feedEntry: FeedEntry): void {
  insertSimilar(connection, similarRows(group));
  addToFeed(feedEntry, group);
}

/** The rows of a group that `insertsFrom` returned. */
export function similarRows(group: readonly Change[]): SimilarRows {
  const { after, events } = group[0]!;
  const isGated = after!.gate !== null;
  return { shared: sharedValues(after as OpenJob, lineOf(events)), own: ownValues(group, isGated), isGated };
}

function ownValues(group: readonly Change[], isGated: boolean): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (const { after } of group) {
    const { id, input, gate } = after!;
    if (isGated) values.push(id, input, gate);
    else values.push(id, input);
  }
  return values;
}

export function addToFeed(feedEntry: FeedEntry, group: readonly Change[]): void {
  const line = lineOf(group[0]!.events);
  for (const { after } of group) feedEntry.add(after!, line);
}

/** The number of values in `own` for each job. */
export const ownWidth = ({ isGated }: SimilarRows): number => (isGated ? 3 : 2);

/** `names`: the columns of the rows. */
export function insertSimilar(connection: Connection, rows: SimilarRows, names = openNames): void {
  const { shared, own, isGated } = rows;
  const width = ownWidth(rows);
  const insertions = insertionsOf(names)[isGated ? 'gated' : 'free'];
  for (let from = 0, size = 0; from < own.length; from += size * width) {
    size = portions.find((portion) => from + portion * width <= own.length)!;
    connection.run(insertions.get(size)!, ...shared, ...own.slice(from, from + size * width));
  }
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

/** By the columns of the rows: children may have been staged by an older version, which knew fewer. */
const insertionsByNames = new Map<string, Insertions>();

function insertionsOf(names: string): Insertions {
  const known = insertionsByNames.get(names);
  if (known !== undefined) return known;
  const ofSizes = (own: string, selected: string): ReadonlyMap<number, string> =>
    new Map(portions.map((size) => [size, insertOf(names, selected, Array(size).fill(own))]));
  const insertions = {
    free: ofSizes('(?, ?)', 'column1, column2, NULL'),
    gated: ofSizes('(?, ?, ?)', 'column1, column2, column3'),
  };
  insertionsByNames.set(names, insertions);
  return insertions;
}

function insertOf(names: string, selected: string, rows: readonly string[]): string {
  const shared = names.split(', ').slice(ownNames.length).fill('?').join(', ');
  return `INSERT INTO job(${names}) SELECT ${selected}, ${shared} FROM (VALUES ${rows.join(', ')})`;
}

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
