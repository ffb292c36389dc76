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
  /** An expression for the array of the ids of the wanted jobs, in order and without duplicates; default: all jobs. */
  readonly ids?: string;
  /** The order of ids. Jobs beyond a LIMIT are not looked up. */
  readonly direction?: string;
  /** A column that the claim has for each of its jobs, beside the ids. Not if `ids` are given. */
  readonly also?: 'parent' | 'gate';
}

/**
 * A condition that is always true for an id. It is volatile, so the planner adds no Memoize node, which costs as much
 * as the lookup, and is useless where each row is looked up once.
 */
const withoutMemoize = (id: string): string => `${id} > -random()`;

/** The fence of each job that runs in a claim: it has not been claimed before. */
export const firstFence = 1;

const originNames = namesOf(originColumns);

/** Returns a query for the jobs that run in claims: the columns of `origin`, the number of the claim, and its line. */
export const claimedSql = (schema: string, source: ClaimedSource = {}): string =>
  `select ${originNames.map((name) => (name === 'id' ? 'held.id' : `origin.${name}`)).join(', ')}, held.claim, held.line
    from (${claimedIdsSql(schema, source)}) held cross join lateral (
      select ${originNames.join(', ')} from ${schema}.origin where origin.id = held.id limit 1) origin`;

/**
 * Returns a query for the ids of the jobs that run in claims, with the number of the claim, its line, and the column
 * `also`.
 */
export function claimedIdsSql(schema: string, source: ClaimedSource = {}): string {
  const { claims = `${schema}.claim`, where = 'true', ids, direction, also } = source;
  const more = (table: string): string => (also === undefined ? '' : `, ${table}.${also}`);
  return `select claimed.id, claimed.claim, claimed.line${more('claimed')} from (
      select listed.id, claim.id as claim, claim.line, claim.moved${more('listed')}
      from ${claims} claim cross join lateral (${listedSql(ids, also)}) listed
      where ${where} ${ids === undefined ? '' : `and ${mayContainSql(ids)}`}
      ${direction === undefined ? '' : `order by listed.id ${direction}`}) claimed
    left join lateral (select id as ended_id from ${schema}.ended where ended.id = claimed.id limit 1) ended
      on ${withoutMemoize('ended_id')}
    where ended_id is null and claimed.id <> all (claimed.moved)`;
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

function listedSql(ids: string | undefined, also: ClaimedSource['also']): string {
  if (also !== undefined) return `select * from unnest(claim.ids, claim.${also}s) as own (id, ${also})`;
  const own = 'select own.id from unnest(claim.ids) as own (id)';
  if (ids === undefined) return own;
  return `select wanted.id from unnest(${ids}) as wanted (id)
      where cardinality(${ids}) <= ${fewIds} and wanted.id = any(claim.ids)
    union all ${own} where cardinality(${ids}) > ${fewIds} and (own.id in (select unnest(${ids}))) is true`;
}

/** The condition that a claim may contain one of the ids of an array, which are in order. */
export const mayContainSql = (ids: string): string => `
  claim.first <= (select sorted.ids[cardinality(sorted.ids)] from (select ${ids} as ids) sorted)
  and claim.last >= (select sorted.ids[1] from (select ${ids} as ids) sorted)`;

/** The value of the parameter with the ids: in order, without duplicates. */
export const idsValue = (ids: readonly number[]): string => numberArray([...new Set(ids)].sort((a, b) => a - b));

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
  await session.run(text, [idsValue(ids)]);
}
