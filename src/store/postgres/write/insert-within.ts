/**
 * Inserts one new job in the caller's transaction, and notifies other processes, by one statement that the planner
 * plans quickly: most libraries prepare no statement, so that it is planned for every execution.
 *
 * Saves (bench/LEDGER.md, "a single job in the caller's transaction has one short statement"): the statement 3.6 →
 * 1.3 ms, 0.5 where the library prepares it; the notification takes no round trip of its own.
 * Applies to one new job that is not running. Without it the statement for batches inserts the job.
 */
import type { Change } from '../../../model/change.ts';
import { neededKey } from '../../../model/unique-key.ts';
import type { CallerSession } from '../sql/caller-transaction.ts';
import type { Notice } from '../sql/notices.ts';
import { packRows, parameterSql } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { cachedStatement } from '../sql/statement-cache.ts';
import { feedEntryText } from './feed-sql.ts';
import { newFields } from './fields.ts';
import { newJobNames, originNames } from './row-sql.ts';
import { parametersOf } from './single-row.ts';
import { newKeyedFields, takeKeysSql } from './statements.ts';

/**
 * Returns whether the job was inserted: its key was free, and no ended job has its id. If an open job has the id,
 * throws a unique violation.
 */
export async function insertWithin(session: CallerSession, change: Change, notice: Notice | null): Promise<boolean> {
  const hasKey = neededKey(change) !== null;
  const { texts } = packRows(hasKey ? newKeyedFields : newFields, [change]);
  const text = insertOneSql(session.schema, hasKey ? 'key' : '');
  const values = [session.time.parameter(), feedEntryText([change]), ...(notice ?? [null, null]), ...texts];
  const [row] = await session.runPrepared<{ now: number }>(text, values);
  if (row === undefined) return false;
  session.time.observe(row.now);
  return true;
}

/** Parameters 1 to 4 are the time, the feed entry, and the channel and payload of the notification. */
const column = parameterSql(newKeyedFields, 5);

const valuesOf = (names: string): string => parametersOf(names, column);

/** Of a job without a key, `keyPart` is empty. */
const insertOneSql = cachedStatement((schema, keyPart) => {
  const isIdFree = `not exists (select 1 from ${schema}.ended where id = ${column('id')})`;
  const isInsertable = keyPart === '' ? isIdFree : 'exists (select 1 from won)';
  return `with ${keyPart === '' ? '' : takeKeySql(schema, isIdFree)} written as (
      insert into ${schema}.origin (${originNames}) select ${valuesOf(originNames)} where ${isInsertable} returning id
    ), opened as (
      insert into ${schema}.job (${newJobNames}) select ${valuesOf(newJobNames)} from written
    ), feed as (
      insert into ${schema}.feed (xid, at, count, events)
      select pg_current_xact_id(), ${nowSql}, 1, $2::text from written
    ) select ${nowSql} as now, case when $3::text is not null then pg_notify($3::text, $4::text)::text end as notified
      from written`;
});

const takeKeySql = (schema: string, isIdFree: string): string => `fresh as materialized (
    select ${column('id')} as id, ${column('key')} as key, ${column('key_until')} as key_until where ${isIdFree}
  ), won as (${takeKeysSql(schema, 'fresh')}),`;
