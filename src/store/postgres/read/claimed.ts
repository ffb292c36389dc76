/**
 * Jobs that run in a claim: a row of table `claim` stands for many jobs, which have no rows in `job`. A job runs in a
 * claim if its id is among `ids` and not among `moved`, and it has no row in `ended`. Its row is that of `origin`, with
 * the events of the claim's line applied.
 *
 * The claims in which given jobs may run are found by `first` and `last`, the lowest and the highest id of a claim, of
 * which `last` has an index. The ids of other claims are not read.
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
  /** A condition on the claims and on `listed.id`. */
  readonly where?: string;
  /** An expression for the array of the ids of the wanted jobs, without duplicates; default: all jobs. */
  readonly ids?: string;
  /** The order of ids. Jobs beyond a LIMIT are not looked up. */
  readonly direction?: string;
}

/** The fence of each job that runs in a claim: it has not been claimed before. */
export const firstFence = 1;

const originNames = namesOf(originColumns);

/** Returns a query for the jobs that run in claims: the columns of `origin`, the number of the claim, and its line. */
export const claimedSql = (schema: string, source: ClaimedSource = {}): string =>
  `select ${originNames.map((name) => (name === 'id' ? 'held.id' : `origin.${name}`)).join(', ')}, held.claim, held.line
    from (${claimedIdsSql(schema, source)}) held cross join lateral (
      select ${originNames.join(', ')} from ${schema}.origin where origin.id = held.id limit 1) origin`;

/**
 * Returns a query for the ids of the jobs that run in claims, with parent and gate (null if `ids` are given), the number
 * of the claim, and its line.
 */
export function claimedIdsSql(schema: string, source: ClaimedSource = {}): string {
  const { claims = `${schema}.claim`, where = 'true', ids, direction } = source;
  return `select claimed.id, claimed.parent, claimed.gate, claimed.claim, claimed.line from (
      select listed.id, listed.parent, listed.gate, claim.id as claim, claim.line, claim.moved
      from ${claims} claim cross join lateral (${listedSql(ids)}) listed (id, parent, gate)
      where ${where} ${ids === undefined ? '' : `and ${mayContainSql(ids)}`}
      ${direction === undefined ? '' : `order by listed.id ${direction}`}) claimed
    left join lateral (select true as is_ended from ${schema}.ended where ended.id = claimed.id limit 1) ended on true
    where is_ended is null and claimed.id <> all (claimed.moved)`;
}

/**
 * Returns a query for the claim in which a single job runs; `id` is an expression. `claimedIdsSql`, which is for any
 * number of jobs, takes 150 µs longer.
 */
export const claimOfJobSql = (schema: string, id: string): string => `select claim.* from ${schema}.claim
  where claim.first <= ${id} and claim.last >= ${id} and ${id} = any(claim.ids) and ${id} <> all (claim.moved)
    and (select true from ${schema}.ended where ended.id = ${id} limit 1) is null`;

/** Above this number of wanted ids, the ids of a claim are searched in a hash table of the wanted ones. */
const fewIds = 8;

function listedSql(ids: string | undefined): string {
  const own = `select own.id, own.parent, own.gate
    from unnest(claim.ids, claim.parents, claim.gates) as own (id, parent, gate)`;
  if (ids === undefined) return own;
  return `select wanted.id, null::bigint, null::text from unnest(${ids}) as wanted (id)
      where cardinality(${ids}) <= ${fewIds} and wanted.id = any(claim.ids)
    union all ${own} where cardinality(${ids}) > ${fewIds} and (own.id in (select unnest(${ids}))) is true`;
}

/** The condition that a claim may contain one of the ids of an array. */
export const mayContainSql = (ids: string): string => `
  claim.first <= (select max(id) from unnest(${ids}) as wanted (id))
  and claim.last >= (select min(id) from unnest(${ids}) as wanted (id))`;

/**
 * The parameter with the ids. The sub-select hides its value from the planner, which would otherwise plan the statement
 * again for each value.
 */
export const idsParameter = (number: number): string => `(select $${number}::bigint[])`;

/** Returns the job that the row stands for, and records in which claim it runs. */
export function jobOfClaimed({ claims }: Pick<Session, 'claims'>, row: ClaimedRow): Job {
  const { claim, line } = row;
  const waiting = jobOfOpen({ ...row, ...notInOrigin, state: 'pending' });
  const job = eventsOfHistory(line).reduce(evolve, waiting);
  claims.record(job, claim);
  return job;
}

/** The columns that `origin` does not have, in a job that waits. */
const notInOrigin = { admitted: 0, cancel_asked: 0, hold: null, holder: null, lease_until: null } as const;

/** Locks the claims that contain one of these jobs, in the order of their numbers. */
export async function lockClaimsOf(session: Session, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = `select 1 from ${session.schema}.claim where ${mayContainSql(idsParameter(1))}
    and claim.ids && ${idsParameter(1)} order by id for update`;
  await session.run(text, [numberArray(ids)]);
}
