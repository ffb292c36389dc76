/**
 * Puts the waiting jobs with shares in the order of turns (fair-share.ts). The keys of a group that has more due jobs than
 * a claim reads are found by seeks in the index `job_share`. Implements `aheadInShare` of `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { encodedShare } from '../../../model/gate.ts';
import type { Job } from '../../../model/job.ts';
import {
  cutLane, emptyKeysMax, laneInTurns, separateShares, ShareRound, type FirstJobs, type ShareGroup, type ShareStops, type Stop,
  type TypedLane,
} from '../../fair-share.ts';
import { queuePositionMax } from '../../store.ts';
import type { GateLane, WaitingJob } from '../../waiting-job.ts';
import type { Connection } from '../connection.ts';

export function lanesInTurns(
  connection: Connection,
  lanes: readonly TypedLane[],
  stops: ShareStops,
  limit: number,
  now: number,
): readonly GateLane[] {
  const { groups, others } = separateShares(lanes);
  if (groups.length === 0) return others;
  const inTurns = groups.map((group) =>
    group.isCut
      ? cutLaneInTurns({ connection, group, now }, stops, limit)
      : laneInTurns(group, group.jobs, stops.of(group.name)));
  return [...others, ...inTurns];
}

interface ShareSearch {
  readonly connection: Connection;
  readonly group: ShareGroup;
  readonly now: number;
}

function cutLaneInTurns(search: ShareSearch, stops: ShareStops, limit: number): GateLane {
  const { group } = search;
  const stop = stops.of(group.name);
  const found = firstsFrom(search, stop, limit);
  const round = new ShareRound(found.firsts, stop, limit, found.isWhole);
  for (let wanted = round.wanted(); wanted.length > 0; wanted = round.wanted()) {
    round.add(wanted.flatMap(({ key, count }) => jobsOfKey(search, key, count)));
  }
  return cutLane(group, round.jobs, found, stops, limit);
}

function firstsFrom(search: ShareSearch, stop: Stop, limit: number): FirstJobs {
  const firsts: WaitingJob[] = [];
  let empty = 0;
  let last = stop.key;
  for (const key of keysFrom(search, stop.key)) {
    const [first] = jobsOfKey(search, key, 1);
    last = key;
    if (first) firsts.push(first);
    else if (++empty > emptyKeysMax) return { firsts, isWhole: false, last };
    if (firsts.length > limit) return { firsts, isWhole: false, last };
  }
  return { firsts, isWhole: true, last };
}

/** Yields the keys of the group from `start` on, then those before it. Each is found by one index seek per version. */
function* keysFrom(search: ShareSearch, start: string): Generator<string> {
  for (let key = nextKey(search, '>=', start); key !== null; key = nextKey(search, '>', key)) yield key;
  for (let key = nextKey(search, '>=', ''); key !== null && key < start; key = nextKey(search, '>', key)) yield key;
}

/** The key of the share in a gate, and whether there is one, verbatim as in the index `job_share`. */
const shareKey = `substr(gate, instr(gate, '@') + 1, instr(gate, ':') - instr(gate, '@') - 1)`;
const inGroup = `FROM job INDEXED BY job_share WHERE lane = 2 AND instr(gate, '@') > 0
  AND kind = ? AND type = ? AND type_version = ? AND priority = ?`;

function nextKey({ connection, group }: ShareSearch, sign: '>=' | '>', after: string): string | null {
  const sql = `SELECT ${shareKey} key ${inGroup} AND ${shareKey} ${sign} ? ORDER BY ${shareKey} LIMIT 1`;
  const { kind, type, versions, priority } = group;
  const found = versions.flatMap((version) =>
    connection.get<{ key: string }>(sql, kind, type, version, priority, after)?.key ?? []);
  return found.length === 0 ? null : found.reduce((first, key) => (key < first ? key : first));
}

function jobsOfKey({ connection, group, now }: ShareSearch, key: string, count: number): WaitingJob[] {
  const sql = `SELECT id, due, gate ${inGroup} AND ${shareKey} = ? AND due <= ? ORDER BY due, id LIMIT ?`;
  const { kind, type, versions, priority } = group;
  const found = versions.flatMap((version) =>
    connection.all<Omit<WaitingJob, 'priority'>>(sql, kind, type, version, priority, key, now, count));
  return found.map((job) => ({ ...job, priority })).sort(byClaimOrder).slice(0, count);
}

export function aheadInShare(connection: Connection, job: Job, now: number): number {
  const share = job.gate === null ? null : encodedShare(job.gate);
  if (share === null) return 0;
  const sql = `SELECT count(*) count FROM (SELECT 1 ${inGroup} AND ${shareKey} = ? AND due <= ?
    AND (due, id) < (?, ?) LIMIT ${queuePositionMax})`;
  const { kind, type, typeVersion, priority, due, id } = job;
  return connection.get<{ count: number }>(sql, kind, type, typeVersion, priority, share.key, now, due, id)!.count;
}
