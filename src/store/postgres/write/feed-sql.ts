/**
 * The part of a statement that writes its feed entry. It reads the CTE `written`, which has a row for each written job.
 */
import { nowSql } from '../sql/server-clock.ts';
import type { Change } from '../../../model/change.ts';
import { FeedEntry } from '../../feed-entry.ts';
import { lineOf } from '../../row.ts';

/**
 * The xid of a job's feed entry. The feed is ordered by xid, so a later entry of a job must not have a lower xid than
 * an earlier one. But the xid of this transaction may be lower than that of the job's last change, because the
 * transaction may have got its xid long before it writes the job. Examples are a claim, which locks jobs one after
 * another, and a transaction that the caller of `within` began long ago.
 */
export const feedXid = 'greatest(job.xid, pg_current_xact_id())';

/** What a feed entry is written from. */
export interface FeedSource {
  /** The rows that have been written: kind, type, def, parent, line and xid. Read only if `haveOwnXid` is false. */
  readonly rows: string;
  /** An aggregate over `written`: whether all rows have the xid of this transaction. */
  readonly haveOwnXid: string;
}

export const writtenRows: FeedSource = { rows: 'written', haveOwnXid: 'bool_and(xid = pg_current_xact_id())' };

/**
 * The CTEs `total` and `feed`. If all changes were written with the xid of this transaction, the feed entry is `text`,
 * which was built for all of them. Otherwise one entry per xid is built from the written rows.
 */
export const feedSql = (
  schema: string, wanted: string, text: string, { rows, haveOwnXid }: FeedSource = writtenRows,
): string => `total as materialized (
    select count(*) as count, coalesce(count(*) = ${wanted} and ${haveOwnXid}, false) as is_whole from written
  ), feed as (
    insert into ${schema}.feed (xid, at, count, events)
      select pg_current_xact_id(), ${nowSql}, count, ${text} from total where is_whole
      union all
      select xid, ${nowSql}, count(*), '[' || string_agg(${groupSql}, ',') || ']' from ${rows}
      where not (select is_whole from total) group by xid)`;

/** The part of a feed entry about one job, as JSON. */
const groupSql = `'{"kind":"' || kind || '","type":' || to_json(type)::text || ',"parent":' || coalesce(parent::text, 'null')
  || coalesce(',"def":' || to_json(def)::text, '') || ',"jobs":[' || id || '],"events":' || line || '}'`;

/** `line`: the line that the commit appends to the histories, if it is the same for all jobs. */
export function feedEntryText(changes: readonly Change[], line?: string): string {
  const entry = new FeedEntry();
  changes.forEach(({ after, events }) => entry.add(after!, line ?? lineOf(events)));
  return entry.text;
}
