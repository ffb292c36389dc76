/**
 * Jobs that run in a claim: a row of table `claim` stands for many jobs, which have no rows in `job`. A job runs in a
 * claim if its id is among `ids` and not among `moved`, and it has no row in `ended`. Its row is that of `origin`, with
 * the events of the claim's line applied.
 *
 * The number of claims is small: they are scanned. `first` and `last`, the lowest and the highest id, spare the scan of
 * the ids of most claims.
 */
import { evolve } from '../../../model/evolve.ts';
import type { Job } from '../../../model/job.ts';
import { namesOf, originColumns } from '../../job-columns.ts';
import { eventsOfHistory, jobOfOpen, type OpenRow } from '../../row.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';

/** A row of `claimedSql`. */
export interface ClaimedRow extends OpenRow {
  /** The number of the claim, and its line of the history. */
  readonly claim: number;
  readonly line: string;
}

export interface ClaimedSource {
  /** A table or subquery of claims; default: all claims. */
  readonly claims?: string;
  /** A condition on claims. */
  readonly where?: string;
  /** The parameter with the ids of the wanted jobs; default: all jobs. */
  readonly ids?: string;
}

const originNames = namesOf(originColumns);

/** Returns a query for the jobs that run in claims: the columns of `origin`, the number of the claim, and its line. */
export const claimedSql = (schema: string, source: ClaimedSource = {}): string =>
  `select ${originNames.map((name) => `origin.${name}`).join(', ')}, held.claim, held.line
    from (${claimedIdsSql(schema, source)}) held cross join lateral (
      select ${originNames.join(', ')} from ${schema}.origin where origin.id = held.id limit 1) origin`;

/** Returns a query for the ids of the jobs that run in claims, with the number of the claim, and its line. */
export function claimedIdsSql(schema: string, source: ClaimedSource = {}): string {
  const { claims = `${schema}.claim`, where = 'true', ids } = source;
  const listed = ids === undefined
    ? 'select * from unnest(claim.ids) as listed (id)'
    : `select unnest(claim.ids) intersect select unnest(${ids}::bigint[])`;
  return `select listed.id, claim.id as claim, claim.line
    from ${claims} claim cross join lateral (${listed}) listed (id)
    left join lateral (select true as is_ended from ${schema}.ended where ended.id = listed.id limit 1) ended on true
    where ${where} and is_ended is null and listed.id <> all (claim.moved)`;
}

/** The condition that a claim may contain one of the ids of a parameter. */
export const mayContainSql = (ids: string): string => `
  claim.first <= (select max(id) from unnest(${ids}::bigint[]) as wanted (id))
  and claim.last >= (select min(id) from unnest(${ids}::bigint[]) as wanted (id))`;

/** Returns the query for those of the jobs with these ids that run in claims. */
export const claimedAmongSql = (schema: string, ids: string): string =>
  claimedSql(schema, { where: mayContainSql(ids), ids });

/** Returns those of the jobs with these ids that run in claims. */
export async function claimedAmong(session: Session, ids: readonly number[]): Promise<Job[]> {
  if (ids.length === 0) return [];
  const rows = await session.run<ClaimedRow>(claimedAmongSql(session.schema, '$1'), [numberArray(ids)]);
  return rows.map((row) => jobOfClaimed(session, row));
}

/** Returns the job that the row stands for, and records in which claim it runs. */
export function jobOfClaimed({ claims }: Pick<Session, 'claims'>, row: ClaimedRow): Job {
  const { claim, line } = row;
  const waiting = jobOfOpen({ ...row, ...notInOrigin, state: 'pending' });
  const job = eventsOfHistory(line).reduce(evolve, waiting);
  claims.record(job, claim);

  return job;
}

/** The columns that `origin` does not have, in a job that waits and has no gate. */
const notInOrigin = { admitted: 0, cancel_asked: 0, gate: null, hold: null, holder: null, lease_until: null } as const;

/** Locks the claims that contain one of these jobs, in the order of their numbers. */
export async function lockClaimsOf(session: Session, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = `select 1 from ${session.schema}.claim where ${mayContainSql('$1')}
    and exists (select unnest(claim.ids) intersect select unnest($1::bigint[])) order by id for update`;
  await session.run(text, [numberArray(ids)]);
}
