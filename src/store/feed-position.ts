/**
 * The position of an event in the feed, `CURSOR~N`: the Nth event after a cursor of the store. No later commit changes
 * the order of the events after a cursor. So a reader that resumes from a position gets exactly the events after it, as
 * long as the feed still has all events after the cursor.
 */

/** The maximum number of events on a page of the feed, and so the largest N of a position. */
export const feedPageMax = 500;

export interface EventPosition {
  readonly cursor: string;
  /** How many events after the cursor have been read. */
  readonly read: number;
}

export const positionOf = (cursor: string, read: number): string => `${cursor}~${read}`;

/** Parses a position; null: the text is not a position. */
export function parsePosition(position: string): EventPosition | null {
  const [, cursor, read] = /^([!-~]{1,200})~(\d{1,4})$/.exec(position) ?? [];
  return cursor === undefined || Number(read) > feedPageMax ? null : { cursor, read: Number(read) };
}
