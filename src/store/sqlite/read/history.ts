/** Reads the histories of jobs, and the feed. Implements `history` and `histories` of `port/reading.ts`, and `port/feed.ts`. */
import type { Event } from '../../../model/event.ts';
import { foreignCursor, repeatedMs } from '../../feed-cursor.ts';
import { feedEventsOf } from '../../feed-entry.ts';
import { eventsOfHistory } from '../../row.ts';
import type { FeedPage, FeedEvent } from '../../store.ts';
import type { Connection } from '../connection.ts';

export function history(connection: Connection, id: number, from = 1, limit = Infinity): Event[] {
  const chunks = connection.all<{ lines: string }>(
    'SELECT lines FROM history_chunk WHERE job = ? AND upto >= ? ORDER BY upto', id, from,
  );
  const tail = connection.get<{ lines: string }>(
    'SELECT history lines FROM job WHERE id = ?1 UNION ALL SELECT history FROM ended WHERE id = ?1', id,
  );
  return [...chunks, ...(tail ? [tail] : [])]
    .flatMap(({ lines }) => eventsOfHistory(lines))
    .filter((event) => event.n >= from)
    .slice(0, limit);
}

/** Reads the histories of many jobs: two statements for a page of jobs, instead of two for each job. */
export function histories(connection: Connection, ids: readonly number[]): Map<number, Event[]> {
  const list = JSON.stringify(ids);
  const rows = [...connection.arrays(chunksSql, list), ...connection.arrays(tailsSql, list)];
  const parts = Map.groupBy(rows, ([id]) => Number(id));
  return new Map([...parts].map(([id, some]) => [id, some.flatMap(([, lines]) => eventsOfHistory(String(lines)))]));
}

const chunksSql = `SELECT job, lines FROM history_chunk WHERE job IN (SELECT value FROM json_each(?)) ORDER BY job, upto`;

const tailsSql = ['job', 'ended'].map((table) =>
  `SELECT id, history FROM ${table} WHERE id IN (SELECT value FROM json_each(?1))`).join(' UNION ALL ');

/**
 * A position in the feed: an entry, and how many of its events have been read; 0: all of them. `at` is the store time of
 * the entry. It proves that the entry with this `seq` is still the same one: after a restore, other entries get the same
 * `seq`s. Null: the position is the start of the feed, or comes from a cursor of an older version.
 */
interface FeedPosition {
  readonly seq: number;
  readonly read: number;
  readonly at: number | null;
}

interface FeedEntryRow {
  readonly seq: number;
  readonly at: number;
  readonly events: string;
}

const start: FeedPosition = { seq: 0, read: 0, at: null };

/** Returns the feed events after a cursor, which is the text of a position: `seq.read@at`. */
export function eventsAfter(connection: Connection, cursor: string | null, limit: number): FeedPage {
  let position = cursor === null ? start : presentPosition(connection, parseCursor(cursor));
  const events: FeedEvent[] = [];
  while (events.length < limit) {
    const { seq, read } = position;
    const entry = connection.get<FeedEntryRow>(
      'SELECT seq, at, events FROM feed WHERE seq >= ? ORDER BY seq LIMIT 1', read === 0 ? seq + 1 : seq,
    );
    if (!entry) break;
    const skipped = entry.seq === seq ? read : 0;
    const fresh = feedEventsOf(entry.events).slice(skipped);
    const taken = fresh.slice(0, limit - events.length);
    events.push(...taken);
    position = { seq: entry.seq, at: entry.at, read: taken.length < fresh.length ? skipped + taken.length : 0 };
  }
  return { events, cursor: cursorText(position) };
}

export const feedEnd = (connection: Connection): string => cursorText(newestPosition(connection));

/**
 * Returns where to read on. If an older backup has replaced the file, the entry of the position may be missing, or
 * another entry may have its `seq`. Reading then continues before the time of the position, so that some events come
 * twice, and none is missed. An entry that is older than all others was purged.
 */
function presentPosition(connection: Connection, position: FeedPosition): FeedPosition {
  const { seq, at } = position;
  if (at === null) return seq > newestPosition(connection).seq ? newestPosition(connection) : position;
  if (connection.get<{ at: number }>('SELECT at FROM feed WHERE seq = ?', seq)?.at === at) return position;
  const oldest = connection.get<{ seq: number }>('SELECT seq FROM feed ORDER BY seq LIMIT 1');
  if (oldest === undefined || oldest.seq > seq) return position;
  const sql = 'SELECT seq, at FROM feed WHERE at < ? ORDER BY seq DESC LIMIT 1';
  const before = connection.get<{ seq: number; at: number }>(sql, at - repeatedMs);
  return before === undefined ? start : { ...before, read: 0 };
}

function newestPosition(connection: Connection): FeedPosition {
  const newest = connection.get<{ seq: number; at: number }>('SELECT seq, at FROM feed ORDER BY seq DESC LIMIT 1');
  return newest === undefined ? start : { ...newest, read: 0 };
}

const cursorText = ({ seq, read, at }: FeedPosition): string => `${seq}.${read}${at === null ? '' : `@${at}`}`;

function parseCursor(cursor: string): FeedPosition {
  const [, seq, read, at] = /^(\d{1,15})\.(\d{1,9})(?:@(\d{1,16}))?$/.exec(cursor) ?? [];
  if (seq === undefined || read === undefined) throw foreignCursor({ cursor });
  return { seq: Number(seq), read: Number(read), at: at === undefined ? null : Number(at) };
}
