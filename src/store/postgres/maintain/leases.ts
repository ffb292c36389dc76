/**
 * Extends leases; finds the jobs whose lease has lapsed, and the jobs that are held under an instance's lease.
 * Implements `extend` of `port/claiming.ts`, and `lapsed` and `heldUnderLeaseOf` of `port/maintenance.ts`.
 */
import type { Job } from '../../../model/job.ts';
import type { Holding } from '../../store.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Database, Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { claimedSql, idsParameter, idsValue, jobOfClaimed, lockClaimsOf, type ClaimedRow } from '../read/claimed.ts';
import { jobOfSourceRow, selectClaimed, selectFrom, type SourceRow } from '../read/source-rows.ts';
import { leaveClaims } from './leave-claim.ts';

/**
 * Extends leases; returns for each whether it was extended. The clock is read after the rows are locked, and `lapsed`
 * skips locked rows. So a lease that was found lapsed can no longer be extended, and a lease that is being extended is
 * not found lapsed.
 */
export async function extend(database: Database, holdings: readonly Holding[], until: number): Promise<boolean[]> {
  if (holdings.length === 0) return [];
  const claimed = await extensible(database, holdings);
  if (claimed.length === 0) return extendRows(database, holdings, until);
  return database.transaction(async (transaction) => {
    await Promise.all([lockClaimsOf(transaction, claimed.map(({ id }) => id)), leaveClaims(transaction, claimed)]);
    return extendRows(transaction, holdings, until);
  });
}

/** Returns those of the held jobs that run in claims whose leases have an end of their own, which has not passed. */
async function extensible(session: Session, holdings: readonly Holding[]): Promise<Job[]> {
  const where = `claim.lease_until > ${nowSql}`;
  const text = claimedSql(session.schema, { where, ids: idsParameter(2) });
  const values = [session.time.parameter(), idsValue(holdings.map(({ id }) => id))];
  const rows = await session.run<ClaimedRow>(text, values);
  return rows.map((row) => jobOfClaimed(session, row));
}

export async function extendRows(session: Session, holdings: readonly Holding[], until: number): Promise<boolean[]> {
  const { schema, time } = session;
  // A row may change while this statement waits for the lock of the row. So `fence` and `state` are checked after the
  // row is locked, and the UPDATE checks `lease_until` in the newest version of the row.
  const text = `with held as materialized (
      select locked.id from unnest($2::bigint[], $3::bigint[]) as held (id, fence) cross join lateral (
        select id, fence, state from ${schema}.job where job.id = held.id limit 1 for update) locked
      where locked.fence = held.fence and locked.state = 'running'
    ), clock as materialized (select ${nowSql} as now from (select count(*) from held) locked), extended as (
      update ${schema}.job set lease_until = greatest(lease_until, $4) from clock
      where job.id = any(array(select id from held)) and lease_until > clock.now
      returning job.id, job.fence
    ) select id, fence from extended`;
  const sorted = holdings.toSorted((a, b) => a.id - b.id);
  const [ids, fences] = [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence)];
  const rows = await session.run<Holding>(text, [time.parameter(), numberArray(ids), numberArray(fences), until]);
  const extended = new Set(rows.map(({ id, fence }) => `${id}/${fence}`));
  return holdings.map(({ id, fence }) => extended.has(`${id}/${fence}`));
}

export async function lapsed(session: Session, limit: number): Promise<Job[]> {
  const { schema, time } = session;
  const gone = `(select id from ${schema}.instance where lease_until <= ${nowSql})`;
  const text = `select * from (${selectFrom(schema, 'job')}
      where state = 'running' and lease_until <= ${nowSql}
      order by lease_until limit $2 for share of job skip locked) late
    union all
    ${selectFrom(schema, 'job')} where state = 'running' and lease_until is null and holder in ${gone}
    union all
    ${selectClaimedWhere(schema, `lease_until <= ${nowSql} or (lease_until is null and holder in ${gone})`)}`;
  return firstRunning(session, text, [time.parameter(), limit]);
}

export function heldUnderLeaseOf(session: Session, instance: string, limit: number): Promise<Job[]> {
  const { schema } = session;
  const text = `${selectFrom(schema, 'job')} where state = 'running' and holder = $1 and lease_until is null
    union all ${selectClaimedWhere(schema, 'lease_until is null and holder = $1')}`;
  return firstRunning(session, text, [instance, limit]);
}

/** Returns a query for the jobs that run in claims with this condition. Claims that others have locked are skipped. */
const selectClaimedWhere = (schema: string, where: string): string =>
  selectClaimed(schema, { claims: `(select * from ${schema}.claim where ${where} for share skip locked)` });

/**
 * Returns the first jobs of the query; the second parameter is the limit. A job that has just left its claim may be
 * found in the claim and in a row of its own, which is newer.
 */
async function firstRunning(session: Session, text: string, values: readonly unknown[]): Promise<Job[]> {
  const ordered = `select * from (${text}) running order by id, claim desc nulls last limit $2`;
  const rows = await session.run<SourceRow>(ordered, values);
  return [...new Map(rows.map((row) => [row.id, row])).values()].map((row) => jobOfSourceRow(session, row));
}
