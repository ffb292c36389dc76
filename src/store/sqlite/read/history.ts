/** Reads the histories of jobs, and the feed. Implements `history` of `port/reading.ts`, and `port/feed.ts`. */
import type { Event } from '../../../model/event.ts';
import { Refusal } from '../../../refusal.ts';
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

/**
 * Returns the feed events after a cursor. A cursor is `seq.read`: the number of a feed entry, and how many of the
 * events in that entry have been read. If `read` is 0, all of them have been read. A cursor beyond the newest entry was
 * made before an older backup replaced the file; reading then continues at the end of the feed.
 */
export function eventsAfter(connection: Connection, cursor: string | null, limit: number): FeedPage {
  const newest = newestSeq(connection);
  let [seq, read] = cursor === null ? [0, 0] : parseCursor(cursor);
  if (seq > newest) [seq, read] = [newest, 0];
  const events: FeedEvent[] = [];
  while (events.length < limit) {
    const entry = connection.get<{ seq: number; events: string }>(
      'SELECT seq, events FROM feed WHERE seq >= ? ORDER BY seq LIMIT 1', read === 0 ? seq + 1 : seq,
    );
    if (!entry) break;
    const fresh = feedEventsOf(entry.events).slice(entry.seq === seq ? read : 0);
    const taken = fresh.slice(0, limit - events.length);
    events.push(...taken);
    read = taken.length < fresh.length ? (entry.seq === seq ? read : 0) + taken.length : 0;
    seq = entry.seq;
  }
  return { events, cursor: `${seq}.${read}` };
}

export const feedEnd = (connection: Connection): string => `${newestSeq(connection)}.0`;

const newestSeq = (connection: Connection): number =>
  connection.get<{ seq: number | null }>('SELECT max(seq) seq FROM feed')?.seq ?? 0;

function parseCursor(cursor: string): [number, number] {
  const [, seq, read] = /^(\d{1,15})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (seq === undefined || read === undefined) {
    throw new Refusal('malformed.cursor', 'this cursor was not made by this store: start again without one', { cursor });
  }
  return [Number(seq), Number(read)];
}
