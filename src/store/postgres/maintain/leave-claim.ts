/**
 * Takes jobs out of claims. Before any change but an end, a job that runs in a claim gets a row of its own in `job`; its
 * id goes into `moved`, so that end-claimed.ts does not end it any more.
 *
 * Claims are locked before rows, in the order of their numbers, and by a statement of their own: the next statement has
 * a snapshot that sees the jobs that the former holder of a lock has ended.
 */
import type { Change } from '../../../model/change.ts';
import type { Job, OpenJob } from '../../../model/job.ts';
import { openColumns } from '../../job-columns.ts';
import { numberArray, rowsSql, type RowFields } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { claimedIdsSql, idsParameter, idsValue, mayContainSql } from '../read/claimed.ts';

/** Locks claims; waits for those that others have locked. */
export async function lockClaims(session: Session, claims: readonly number[]): Promise<void> {
  if (claims.length === 0) return;
  const text = `select 1 from unnest($1::bigint[]) as wanted (id) cross join lateral (
    select 1 from ${session.schema}.claim where claim.id = wanted.id for update) locked`;
  await session.run(text, [numberArray([...new Set(claims)].sort((a, b) => a - b))]);
}

/**
 * Gives each job that still runs in its claim a row of its own. The jobs are those that were read, and the claims must
 * be locked.
 */
export async function leaveClaims(session: Session, jobs: readonly Job[]): Promise<void> {
  const claims = Map.groupBy(jobs.filter((job) => session.claims.of(job)), (job) => session.claims.of(job)!);
  await Promise.all([...claims].map(([claim, some]) => leaveClaim(session, claim, some)));
}

async function leaveClaim(session: Session, claim: number, jobs: readonly Job[]): Promise<void> {
  const { schema } = session;
  const values: unknown[] = [claim];
  const sorted = jobs.toSorted((a, b) => a.id - b.id);
  const names = rowFields.map(([name]) => name);
  const text = `with goal as materialized (${rowsSql(rowFields, sorted as readonly OpenJob[], values)}), opened as (
      insert into ${schema}.job (${names.join(', ')}, history, xid)
      select ${names.map((name) => `goal.${name}`).join(', ')}, claim.line, claim.xid
      from goal cross join lateral (
        select line, xid, moved from ${schema}.claim where claim.id = $1 limit 1) claim
        left join lateral (select true as is_ended from ${schema}.ended where ended.id = goal.id limit 1) ended on true
      where is_ended is null and goal.id <> all (claim.moved)
      on conflict (id) do nothing returning id
    ), left_claim as materialized (select count(*) as count, array_agg(id) as ids from opened), counted as (
      update ${schema}.claim set remaining = claim.remaining - left_claim.count, moved = claim.moved || left_claim.ids
      from left_claim where claim.id = $1 and left_claim.count > 0 and claim.remaining > left_claim.count
    ) delete from ${schema}.claim using left_claim where claim.id = $1 and claim.remaining <= left_claim.count`;
  await session.run(text, values);
}

/** The columns of the row; the input stays in `origin`. */
const rowFields: RowFields<OpenJob> = openColumns
  .filter(({ name }) => name !== 'input')
  .map(({ name, kind, of }) => [name, kind === 'flag' ? 'number' : kind, of] as const);

/**
 * Keeps jobs from ending by the claims in which they ran. Belongs to the transaction that removes the ended rows of the
 * jobs: as long as such a row exists, it keeps its job from ending again. Must not be used for jobs that run.
 */
export async function excludeFromClaims(session: Session, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = excludeFromClaimsSql(session.schema, 'select unnest($1::bigint[])', mayContainSql(idsParameter(1)));
  await session.run(text, [idsValue(ids)]);
}

export const excludeFromClaimsSql = (schema: string, ids: string, where = 'true'): string => `
  update ${schema}.claim set moved = claim.moved || array(select unnest(claim.ids) intersect ${ids})
  where ${where} and exists (select unnest(claim.ids) intersect ${ids})`;

/** Returns the claims in which the jobs of these changes ran when they were read. */
export const claimsOf = ({ claims }: Session, changes: readonly Change[]): number[] =>
  changes.flatMap(({ before }) => (before === null ? [] : (claims.of(before) ?? 0))).filter((claim) => claim > 0);

/** Finds the claims of jobs that this process did not read from the store, such as jobs that another process has sent. */
export async function findClaims(session: Session, changes: readonly Change[]): Promise<void> {
  const { schema, claims } = session;
  const isUnknown = ({ before }: Change): boolean => before !== null && claims.of(before) === undefined;
  if (!changes.some(isUnknown)) return;
  const unknown = changes.filter(isUnknown).map(({ before }) => before!);
  const text = `select held.id, held.claim, origin.version + 1 as version
    from (${claimedIdsSql(schema, { ids: idsParameter(1) })}) held cross join lateral (
      select version from ${schema}.origin where origin.id = held.id limit 1) origin`;
  const rows = await session.run<FoundJob>(text, [idsValue(unknown.map(({ id }) => id))]);
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const job of unknown) {
    const { version, claim } = found.get(job.id) ?? notFound;
    claims.record(job, version === job.version ? claim : 0);
  }
}

interface FoundJob {
  readonly id: number;
  readonly claim: number;
  readonly version: number;
}

const notFound = { version: 0, claim: 0 };
