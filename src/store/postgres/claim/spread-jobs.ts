/**
 * Locks due jobs that need no admission and that spreads let through, and divides waiting jobs into the parts of a spread.
 * Implements `divideWaiting` of `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { isPausable, type PauseScope } from '../../../model/pause.ts';
import type { Passage, Position } from '../../../model/spread.ts';
import { kinds } from '../../../model/state.ts';
import { gatePartOf } from '../../scope-gates.ts';
import type { Spreads } from '../../spreads.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { nothingPausedSql } from '../read/pauses.ts';
import { anyAtGatesSql, isFree, lanesSql, lockAndRead, lockSql } from './lanes.ts';
import type { FreeJobs } from './scan-in-order.ts';

/** A type whose resume is spread, as a request of its own, with a range of the positions that are let through. */
export interface SpreadLanes {
  readonly request: ClaimRequest;
  /** Pushes the values of the range, and returns a condition on the rows of `job`. */
  readonly range: (values: unknown[]) => string;
}

/** Returns two ranges for each type of the request whose resume is spread; the jobs between them are not read. */
export function spreadLanes(request: ClaimRequest, spreads: Spreads): SpreadLanes[] {
  const { names } = request;
  const versions = 'exact' in names && names.versions ? { versions: names.versions } : {};
  return spreads.typesIn(request).flatMap((type) => {
    const ofType = { ...request, kinds: request.kinds.filter(isPausable), names: { exact: [type], ...versions } };
    return rangesOf(spreads.ofType(type)!).map((range) => ({ request: ofType, range }));
  });
}

const rangesOf = ({ upTo, from }: Passage): SpreadLanes['range'][] => [
  (values) => `and (job.due, job.id) <= ($${values.push(upTo.due)}::bigint, $${values.push(upTo.id)}::bigint)`,
  (values) => `and job.due > $${values.push(from)}::bigint`,
];

/** Locks the first jobs of the types whose resume is spread, in one round trip. */
export const spreadRows = (session: Session, request: ClaimRequest, spreads: Spreads): Promise<FreeJobs[]> =>
  Promise.all(spreadLanes(request, spreads).map((lanes) => lockInRange(session, lanes)));

/** Returns the jobs that a claim has locked together with those of `spreadRows`, up to `limit`. */
export function withSpreadRows(found: FreeJobs, spread: readonly FreeJobs[], limit: number): FreeJobs {
  if (spread.length === 0) return found;
  const all = [found, ...spread];
  return {
    ...found,
    rows: onePerJob(all.map(({ rows }) => rows)).toSorted(byClaimOrder).slice(0, limit),
    parents: new Map(all.flatMap(({ parents }) => [...parents])),
    hasJobsAtGates: all.some(({ hasJobsAtGates }) => hasJobsAtGates),
  };
}

/**
 * The rows of several reads, one for each job. If a spread ends between two reads of a claim, both find its jobs: the
 * type is no longer paused, and rows that the own transaction has locked are not skipped.
 */
export const onePerJob = <Row extends { readonly id: number }>(reads: readonly (readonly Row[])[]): readonly Row[] =>
  reads.length === 1 ? reads[0]! : [...new Map(reads.flat().map((row) => [row.id, row])).values()];

function lockInRange(session: Session, { request, range }: SpreadLanes): Promise<FreeJobs> {
  const { schema, time } = session;
  const values: unknown[] = [time.parameter(), request.limit];
  const lanes = lanesSql(schema, request, isFree, values, { paused: nothingPausedSql });
  const tables = `${lanes}, ${lockSql(schema, lanesExpected, range(values))}`;
  const summary = `'hasJobsAtGates', ${anyAtGatesSql(schema, request, values)}, 'hasSpreads', true`;
  return lockAndRead(session, tables, summary, values);
}

/** Several, so that a claim does not lock more rows than it takes. */
const lanesExpected = 2;

export async function divideWaiting(session: Session, scope: PauseScope, count: number): Promise<Position[]> {
  const values: unknown[] = [session.time.parameter(), count];
  const text = `select due, id from (
      select due, id, row_number() over (order by due, id) as n, count(*) over () as total from ${session.schema}.job
      where state = 'pending' and kind in (${pausableKinds}) and due <= ${nowSql} and ${inScopeSql(scope, values)}
    ) waiting where n * $2::bigint / total > (n - 1) * $2::bigint / total order by n`;
  return (await session.run<Position>(text, values)).map(({ due, id }) => ({ due, id }));
}

const pausableKinds = kinds.filter(isPausable).map((kind) => `'${kind}'`).join(', ');

function inScopeSql(scope: PauseScope, values: unknown[]): string {
  const atGate = (part: string): string => `gate is not null and admitted = 0 and strpos(gate, $${values.push(part)}::text) > 0`;
  if ('limit' in scope) return atGate(gatePartOf(scope));
  const { type, key } = scope;
  const ofType = `type = $${values.push(type)}::text`;
  return key === null ? ofType : `${ofType} and ${atGate(gatePartOf({ type, key }))}`;
}
