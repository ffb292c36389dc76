/** Reads the histories of jobs, and the feed. Implements `history` and `histories` of `port/reading.ts`, and `port/feed.ts`. */
import type { Event } from '../../../model/event.ts';
import { foreignCursor, repeatedMs } from '../../feed-cursor.ts';
import { feedEventsOf } from '../../feed-entry.ts';
import { eventsOfHistory } from '../../row.ts';
import type { FeedPage, FeedEvent } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { claimedIdsSql, claimOfJobSql, idsParameter, idsValue } from './claimed.ts';

export async function history(session: Session, id: number, from = 1, limit = Infinity): Promise<Event[]> {
  const { schema } = session;
  const text = `select 0::bigint as upto, history as lines from ${schema}.origin where id = $1
    union all select upto, lines from ${schema}.history_chunk where job = $1 and upto >= $2
    union all select version, history from ${schema}.job where id = $1 and history is not null
    union all select version, history from ${schema}.ended where id = $1
    union all select ${Number.MAX_SAFE_INTEGER}, line from (${claimOfJobSql(schema, '$1::bigint')}) claim
    order by 1`;
  const rows = await session.run<{ lines: string }>(text, [id, from]);
  return rows
    .flatMap(({ lines }) => eventsOfHistory(lines))
    .filter((event) => event.n >= from)
    .slice(0, limit);
}

/** Reads the histories of many jobs: one read of a page of jobs, instead of one for each job. */
export async function histories(session: Session, ids: readonly number[]): Promise<Map<number, Event[]>> {
  const { schema } = session;
  const wanted = 'unnest($1::bigint[]) as wanted (id)';
  const each = (select: string): string => `select wanted.id, part.* from ${wanted} cross join lateral (${select}) part`;
  const text = `select id, lines from (
      ${each(`select 0::bigint as upto, history as lines from ${schema}.origin where origin.id = wanted.id limit 1`)}
      union all ${each(`select upto, lines from ${schema}.history_chunk where job = wanted.id`)}
      union all ${each(`select version, history from ${schema}.job where job.id = wanted.id and history is not null limit 1`)}
      union all ${each(`select version, history from ${schema}.ended where ended.id = wanted.id limit 1`)}
      union all select id, ${Number.MAX_SAFE_INTEGER}, line from (${claimedIdsSql(schema, { ids: idsParameter(1) })}) claimed
    ) part order by id, upto`;
  const rows = await session.run<{ id: number; lines: string }>(text, [idsValue(ids)]);
  const parts = Map.groupBy(rows, ({ id }) => id);
  return new Map([...parts].map(([id, some]) => [id, some.flatMap(({ lines }) => eventsOfHistory(lines))]));
}

/**
 * A position in the feed: a transaction, one of its entries, and the number of the entry's events that have been read.
 * `at` is the store time of the entry. It proves that the entry with this xid and `seq` is still the same one: after a
 * restore, or a failover that lost commits, the server gives the same xids and `seq`s to other entries. Null: the
 * position is the start of the feed, or comes from a cursor of an older version.
 */
interface FeedPosition {
  readonly xid: string;
  readonly seq: string;
  readonly read: number;
  readonly at: number | null;
}

interface FeedEntryRow {
  readonly xid: string;
  readonly seq: string;
  readonly at: number;
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
 * Returns the cursor of the newest entry below the oldest open xid. All later commits come after this cursor: their
 * transactions are open now or begin later, so their xids are not lower than the oldest open one.
 */
export async function feedEnd(session: Session): Promise<string> {
  const text = `select xid::text as xid, seq::text as seq, at from ${session.schema}.feed
    where xid < ${oldestOpenXid} order by feed.xid desc, feed.seq desc limit 1`;
  const [newest] = await session.run<Omit<FeedEntryRow, 'events'>>(text);
  return cursorText(newest === undefined ? start : { ...newest, read: whole });
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

const start: FeedPosition = { xid: '0', seq: '0', read: 0, at: null };

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
  const { xid, seq, read, at } = position;
  const sign = read === whole ? '>' : '>=';
  const text = `select is_lost as "isLost", near.xid::text as xid, near.seq::text as seq, near.at, near.events
    from (select ${isLost(session.schema)} as is_lost) cursor
    left join (
      select xid, seq, at, events, sum(count) over (order by xid, seq) - count as before from (
        select xid, seq, at, count, events from ${session.schema}.feed
        where (xid, seq) ${sign} ($1::text::xid8, $2::bigint) and xid < ${oldestOpenXid}
        order by xid, seq limit $3) near) near on before < $4
    order by near.xid, near.seq`;
  const values = [xid, seq, Math.min(wanted, 1000), wanted + (read === whole ? 0 : read), at];
  const rows = await session.run<FeedEntryRow & { readonly isLost: boolean }>(text, values);
  if (rows[0]!.isLost) return entriesAfter(session, await positionAfterLoss(session, position), wanted);
  return { from: position, entries: rows.filter((row) => row.events !== null) };
}

/**
 * Whether the feed has lost the entry of the position. The entry is missing, and the oldest entry is not newer than it:
 * so it was not purged. Without `at`, only an xid that this server has not reached is known to be of another server.
 */
const isLost = (schema: string): string => `case
    when $5::bigint is null then $1::text::xid8 > pg_snapshot_xmax(pg_current_snapshot())
    else not exists (select 1 from ${schema}.feed where xid = $1::text::xid8 and seq = $2::bigint and at = $5)
      and coalesce((select (xid, seq) <= ($1::text::xid8, $2::bigint) from ${schema}.feed order by xid, seq limit 1), false)
    end`;

/**
 * Returns where to read on after a restore or a failover. If the feed was restored from a dump, `migrate` has set the
 * xids of its entries to 1 and kept their `seq`. If the entry of the position is not among them, it was never restored:
 * reading continues before its time, so that some events come twice, and none is missed.
 */
async function positionAfterLoss(session: Session, position: FeedPosition): Promise<FeedPosition> {
  if (position.at === null) return restoredPosition(position);
  const { schema } = session;
  const text = `select * from (
      select true as "isSame", xid::text as xid, seq::text as seq, at from ${schema}.feed
      where xid = '1' and seq = $1::bigint and at = $2::bigint
      union all
      (select false, xid::text, seq::text, at from ${schema}.feed
        where at < $2::bigint - ${repeatedMs} and xid < ${oldestOpenXid}
        order by feed.xid desc, feed.seq desc limit 1)) found
    order by "isSame" desc limit 1`;
  const [found] = await session.run<Omit<FeedEntryRow, 'events'> & { readonly isSame: boolean }>(
    text, [position.seq, position.at],
  );
  if (found === undefined) return start;
  const { isSame, ...entry } = found;
  return { ...entry, read: isSame ? position.read : whole };
}

/**
 * Converts a position without `at`. No entry has `seq` 0: a position with it was at the end of the feed, so reading
 * continues at the end of the restored entries, whose xids are 1.
 */
const restoredPosition = ({ seq, read }: FeedPosition): FeedPosition =>
  seq === '0' ? { xid: '1', seq: seqMax, read: whole, at: null } : { xid: '1', seq, read, at: null };

const seqMax = '999999999999999999';

const cursorText = ({ xid, seq, read, at }: FeedPosition): string =>
  `${xid}:${seq}:${read === whole ? '*' : read}${at === null ? '' : `@${at}`}`;

function parseCursor(cursor: string): FeedPosition {
  const [, xid, seq, read, at] = /^(\d{1,19}):(\d{1,18}):(\d{1,9}|\*)(?:@(\d{1,16}))?$/.exec(cursor) ?? [];
  if (xid === undefined || seq === undefined || read === undefined) throw foreignCursor({ cursor });
  return { xid, seq, read: read === '*' ? whole : Number(read), at: at === undefined ? null : Number(at) };
}
