/**
 * The position of an event in the feed, `CURSOR~N`: the Nth event after a cursor of the store. No later commit changes
 * that order, so a reader that resumes from a position gets exactly the events after it.
 */

/** How many events a page of the feed has at most; a position counts within one page. */
export const feedPageMax = 500;

export interface EventPosition {
  readonly cursor: string;
  /** How many events after the cursor have been read. */
  readonly read: number;
}

export const positionOf = (cursor: string, read: number): string => `${cursor}~${read}`;

/** Null: not a position. */
export function parsePosition(position: string): EventPosition | null {
  const [, cursor, read] = /^([!-~]{1,200})~(\d{1,4})$/.exec(position) ?? [];
  return cursor === undefined || Number(read) > feedPageMax ? null : { cursor, read: Number(read) };
}
