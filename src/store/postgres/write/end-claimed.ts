/**
 * Ends jobs that run in claims: inserts their rows into `ended`, and counts down what remains of the claims. The claim
 * of the last job that ends is deleted.
 *
 * The guard is the lock of the claim. Whoever takes a job out of a claim in another way puts its id into `moved`, which
 * this statement reads after it has got the lock. If a job has ended before, its row in `ended` is a conflict.
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
 * Returns the CTEs that end the jobs. `written` has the jobs that have ended, and `told` also their lines. Expects
 * changes of jobs in claims, in the order of ids.
 */
export function endClaimedSql({ schema, claims }: Session, changes: readonly Change[], values: unknown[]): string {
  const claimOf = ({ before }: Change): number => claims.of(before!)!;
  const numbers = [...new Set(changes.map(claimOf))].sort((a, b) => a - b);
  const locked = `$${values.push(numberArray(numbers))}::bigint[]`;
  const claimField = ['claim', 'number', claimOf] as const;
  const goal = `(${rowsSql([...endedInFullFields, claimField], changes, values)}) goal`;
  const joinHeld = numbers.length === 1
    ? 'cross join held'
    : `join (${rowsSql([['id', 'number', idOf], claimField], changes, values)}) place using (id) join held using (claim)`;
  return `held as materialized (
      select locked.* from unnest(${locked}) as wanted (claim) cross join lateral (
        select id as claim, line, moved, xid from ${schema}.claim
        where claim.id = wanted.claim limit 1 for update) locked
    ), inserted as (
      insert into ${schema}.ended (${endedNames})
      select ${endedColumns.map(({ name }) => `goal.${name}`).join(', ')}, held.line || E'\\n' || goal.line
      from ${goal} join held on held.claim = goal.claim where goal.id <> all (held.moved)
      on conflict do nothing returning id, kind, type, parent
    ), written as materialized (
      select inserted.*, held.claim, greatest(held.xid, pg_current_xact_id()) as xid
      from inserted ${joinHeld}
    ), told as (
      select written.*, goal.line from written join ${goal} on goal.id = written.id
    ), done as materialized (
      select claim, count(*) as count from written group by claim
    ), counted as (
      update ${schema}.claim set remaining = claim.remaining - ${doneSql}
      where ${isHeldSql} and claim.remaining > ${doneSql}
    ), completed as (
      delete from ${schema}.claim where ${isHeldSql} and claim.remaining <= ${doneSql}
    )`;
}

/** Looks claims up by their numbers, whatever the statistics of the table. */
const isHeldSql = 'claim.id = any(array(select claim from done))';

/** The number of jobs of a claim that have ended. */
const doneSql = '(select count from done where done.claim = claim.id)';
