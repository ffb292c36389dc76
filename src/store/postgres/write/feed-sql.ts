/** The part of a statement that writes its feed entry: the table `written` has a row for each job. */
import { nowText } from '../sql/server-clock.ts';
import type { Change } from '../../../model/change.ts';
import { FeedEntry } from '../../feed-entry.ts';
import { lineOf } from '../../row.ts';

/**
 * The feed goes by transactions, but a transaction may have got its number before it saw a job that one with a higher
 * number changed: a claim locks some jobs before others, and the caller of `within` may have begun long ago. A
 * job's feed entries therefore never have a lower xid than its earlier ones.
 */
export const lastXid = 'greatest(job.xid, pg_current_xact_id())';

/**
 * The CTEs `total` and `feed`. All of it was written, as a rule, and under this transaction's number: then the entry is
 * the text that came with the statement. Otherwise it is put together from what was.
 */
export const feedSql = (schema: string, wanted: string, text: string): string => `total as materialized (
    select count(*) as count, count(*) filter (where xid = pg_current_xact_id()) = ${wanted} as is_whole from written
  ), feed as (
    insert into ${schema}.feed (xid, at, count, events)
      select pg_current_xact_id(), ${nowText}, count, ${text} from total where is_whole
      union all
      select xid, ${nowText}, count(*), '[' || string_agg(${groupSql}, ',') || ']' from written
      where not (select is_whole from total) group by xid)`;

/** The group of one job, as JSON. */
const groupSql = `'{"kind":"' || kind || '","type":' || to_json(type)::text || ',"parent":'
  || coalesce(parent::text, 'null') || ',"jobs":[' || id || '],"events":' || line || '}'`;

/** The feed entry of changes, as JSON. */
export function feedEntryText(changes: readonly Change[]): string {
  const entry = new FeedEntry();
  for (const { after, events } of changes) entry.add(after!, lineOf(events));
  return entry.text;
}
