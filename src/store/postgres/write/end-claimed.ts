/**
 * Ends jobs that run in claims: inserts their rows into `ended`, and counts down what remains of the claims. The claim
 * of the last job that ends is deleted.
 *
 * The guard is the lock of the claim. A statement that takes a job out of a claim in another way puts its id into
 * `moved`, which this statement reads after it has got the lock. If a job has ended before, its row in `ended` is a
 * conflict: the `checked` statement leaves the job out, and the `fast` one throws a unique violation.
 *
 * The fast one saves (bench/LEDGER.md, "an end in a claim expects no earlier end"): a search of the primary key and a
 * record of WAL for each job, 4 of 19 µs of the insert.
 */
import type { Change } from '../../../model/change.ts';
import type { Job } from '../../../model/job.ts';
import { endedColumns } from '../../job-columns.ts';
import { numberArray, rowsSql } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import type { JobClaims } from '../sql/job-claims.ts';
import { endedInFullFields } from './fields.ts';
import { idOf } from './id-of.ts';
import { endedNames } from './row-sql.ts';

/** Whether the job ran in a claim when it was read. */
export const runsInClaim = (claims: JobClaims, job: Job | null): boolean => job !== null && (claims.of(job) ?? 0) > 0;

/**
 * Returns the CTEs that end the jobs. `written` has the ids of the jobs that have ended, and `lines` what their feed
 * entries need. Expects changes of jobs in claims, in the order of ids.
 *
 * `held` has the claims as they are after the lock: while this statement waited for it, other statements may have ended
 * jobs of the claim. The snapshot of this statement does not see that, so the claims are written by their numbers and
 * with the values of `held`.
 */
export function endClaimedSql(
  { schema, claims }: Session,
  changes: readonly Change[],
  values: unknown[],
  isFast: boolean,
): string {
  const claimOf = ({ before }: Change): number => claims.of(before!)!;
  const numbers = [...new Set(changes.map(claimOf))].sort((a, b) => a - b);
  const locked = `$${values.push(numberArray(numbers))}::bigint[]`;
  const claimField = ['claim', 'number', claimOf] as const;
  const goal = `(${rowsSql([...endedInFullFields, claimField], changes, values)}) goal`;
  const countSql = numbers.length === 1
    ? 'select claim, remaining - (select count(*) from written) as remaining from held'
    : `select claim, held.remaining - count(*) as remaining from written
        join (${rowsSql([['id', 'number', idOf], claimField], changes, values)}) place using (id) join held using (claim)
        group by claim, held.remaining`;
  return `held as materialized (
      select locked.* from unnest(${locked}) as wanted (claim) cross join lateral (
        select id as claim, line, moved, remaining, greatest(xid, pg_current_xact_id()) as xid from ${schema}.claim
        where claim.id = wanted.claim limit 1 for update) locked
    ), written as (
      insert into ${schema}.ended (${endedNames})
      select ${endedColumns.map(({ name }) => `goal.${name}`).join(', ')}, held.line || E'\\n' || goal.line
      from ${goal} join held on held.claim = goal.claim where goal.id <> all (held.moved)
      ${isFast ? '' : 'on conflict do nothing'} returning id
    ), lines as (
      select goal.id, goal.kind, goal.type, goal.def, goal.parent, goal.line, held.xid
      from ${goal} join written on written.id = goal.id join held on held.claim = goal.claim
    ), counted as materialized (${countSql}), lowered as (
      update ${schema}.claim set remaining = (select remaining from counted where counted.claim = claim.id)
      where claim.id = any(array(select claim from counted where remaining > 0))
    ), completed as (
      delete from ${schema}.claim where claim.id = any(array(select claim from counted where remaining <= 0))
    )`;
}

/** Whether the feed entries of all ended jobs have the xid of this transaction. */
export const haveOwnXidSql = '(select bool_and(xid = pg_current_xact_id()) from held)';
