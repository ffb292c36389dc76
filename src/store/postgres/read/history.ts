/** Reads the histories of jobs, and the feed. Implements `history` of `port/reading.ts`, and `port/feed.ts`. */
import type { Event } from '../../../model/event.ts';
import { Refusal } from '../../../refusal.ts';
import { feedEventsOf } from '../../feed-entry.ts';
import { eventsOfHistory } from '../../row.ts';
import type { FeedPage, FeedEvent } from '../../store.ts';
import type { Session } from '../sql/database.ts';

export async function history(session: Session, id: number, from = 1, limit = Infinity): Promise<Event[]> {
  const { schema } = session;
  const text = `select upto, lines from ${schema}.history_chunk where job = $1 and upto >= $2
    union all select version, history from ${schema}.job where id = $1
    union all select version, history from ${schema}.ended where id = $1 order by 1`;
  const rows = await session.run<{ lines: string }>(text, [id, from]);
  return rows
    .flatMap(({ lines }) => eventsOfHistory(lines))
    .filter((event) => event.n >= from)
    .slice(0, limit);
}

/**
 * A position in the feed: a transaction, one of its entries, and the number of the entry's events that have been read.
 */
interface FeedPosition {
  readonly xid: string;
  readonly seq: string;
  readonly read: number;
}

interface FeedEntryRow {
  readonly xid: string;
  readonly seq: string;
  readonly events: string;
}

/**
 * Reads the events after a cursor. Transactions commit out of order, but no entry can appear below the xid of the
 * oldest open transaction of this database. The feed is read only up to that xid, in the order of xids, and so misses
 * nothing.
 */
export async function eventsAfter(session: Session, cursor: string | null, limit: number): Promise<FeedPage> {
  let position = cursor === null ? start : parseCursor(cursor);
  const events: FeedEvent[] = [];
  while (events.length < limit) {
    const { from, entries } = await entriesAfter(session, position, limit - events.length);
    position = from;
    for (const entry of entries) {
      const skipped = entry.xid === position.xid && entry.seq === position.seq ? position.read : 0;
      const fresh = feedEventsOf(entry.events).slice(skipped);
      const taken = fresh.slice(0, limit - events.length);
      events.push(...taken);
      position = taken.length < fresh.length ? { ...entry, read: skipped + taken.length } : { ...entry, read: whole };
      if (events.length === limit) break;
    }
    if (entries.length === 0) break;
  }
  return { events, cursor: cursorText(position) };
}

/**
 * Returns the cursor of the oldest open xid. All later commits come after this cursor: their transactions are open now
 * or begin later, so their xids are not lower.
 */
export async function feedEnd(session: Session): Promise<string> {
  const [row] = await session.run<{ xid: string }>(`select ${oldestOpenXid}::text as xid`);
  return cursorText({ xid: row!.xid, seq: '0', read: 0 });
}

/**
 * The oldest xid of this database that is open in the statement's snapshot; if there is none, the first xid after the
 * snapshot. Xids are counted per server, so `pg_snapshot_xmin` would not rise while a transaction is open in another
 * database. The search skips an open xid only if a backend or a prepared transaction of another database has it. If a
 * transaction of any database ended after the snapshot, no backend has its xid any more, so the xid is not skipped. In
 * that case the feed is read up to that xid, and the next call reads further.
 */
const oldestOpenXid = `coalesce((
    select open.xid from pg_snapshot_xip(pg_current_snapshot()) as open (xid)
    where not exists (select 1 from pg_stat_activity other
        where other.backend_xid = open.xid::xid and other.datname <> current_database())
      and not exists (select 1 from pg_prepared_xacts other
        where other.transaction = open.xid::xid and other.database <> current_database())
    order by open.xid limit 1
  ), pg_snapshot_xmax(pg_current_snapshot()))`;

const start: FeedPosition = { xid: '0', seq: '0', read: 0 };

/** The value of `read` after all events of the entry have been read. */
const whole = 2_147_483_647;

/** The entries of the feed that follow the position `from`. */
interface NextEntries {
  readonly from: FeedPosition;
  readonly entries: readonly FeedEntryRow[];
}

/**
 * Reads the next entries, at most 1,000, until their `count`s add up to the wanted number of events. The `count` of an
 * entry is its number of changes. An entry has at least as many events, so the entries may contain more events than
 * wanted.
 */
async function entriesAfter(session: Session, position: FeedPosition, wanted: number): Promise<NextEntries> {
  const { xid, seq, read } = position;
  const sign = read === whole ? '>' : '>=';
  const text = `select is_foreign as "isForeign", near.xid::text as xid, near.seq::text as seq, near.events
    from (select $1::text::xid8 > pg_snapshot_xmax(pg_current_snapshot()) as is_foreign) cursor
    left join (
      select xid, seq, events, sum(count) over (order by xid, seq) - count as before from (
        select xid, seq, count, events from ${session.schema}.feed
        where (xid, seq) ${sign} ($1::text::xid8, $2::bigint) and xid < ${oldestOpenXid}
        order by xid, seq limit $3) near) near on before < $4
    order by near.xid, near.seq`;
  const values = [xid, seq, Math.min(wanted, 1000), wanted + (read === whole ? 0 : read)];
  const rows = await session.run<FeedEntryRow & { readonly isForeign: boolean }>(text, values);
  if (rows[0]!.isForeign) return entriesAfter(session, restoredPosition(position), wanted);
  return { from: position, entries: rows.filter((row) => row.events !== null) };
}

/**
 * Converts a position of another server, from which the feed was dumped, to a position in the restored feed of this
 * server. `migrate` sets the xids of restored entries to 1 and keeps their `seq`. A position with `seq` 0 comes from
 * `feedEnd`, and no entry has this `seq`: reading continues at the end of the restored feed.
 */
const restoredPosition = ({ seq, read }: FeedPosition): FeedPosition =>
  seq === '0' ? { xid: '1', seq: seqMax, read: whole } : { xid: '1', seq, read };

const seqMax = '999999999999999999';

const cursorText = ({ xid, seq, read }: FeedPosition): string => `${xid}:${seq}:${read === whole ? '*' : read}`;

function parseCursor(cursor: string): FeedPosition {
  const [, xid, seq, read] = /^(\d{1,19}):(\d{1,18}):(\d{1,9}|\*)$/.exec(cursor) ?? [];
  if (xid === undefined || seq === undefined || read === undefined) {
    const message = 'this cursor was not made by this store: start again without one';
    throw new Refusal('malformed.cursor', message, { cursor });
  }
  return { xid, seq, read: read === '*' ? whole : Number(read) };
}
