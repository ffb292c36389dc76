/**
 * Makes lines of the waiting jobs of a claim, in which jobs with shares take turns (fair-share.ts). The keys of a group
 * that has more due jobs than a claim reads are found by seeks in the index `job_share`. Implements `aheadInShare` of
 * `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { encodedShare, type GateAdmissions } from '../../../model/gate.ts';
import type { Job } from '../../../model/job.ts';
import { keysOf, separateShares, type ShareGroup, type TypedLane } from '../../fair-share.ts';
import { LaneLine, type JobLine } from '../../job-line.ts';
import { ShareLine } from '../../share-line.ts';
import { cutLine, ShareRound } from '../../share-round.ts';
import type { ShareStops, Stop } from '../../share-stops.ts';
import { gatesPerKeyMax, ShareWalk, type FirstAtGate, type KeyGate } from '../../share-walk.ts';
import { queuePositionMax } from '../../store.ts';
import type { Spreads } from '../../spreads.ts';
import type { WaitingJob } from '../../waiting-job.ts';
import type { Connection } from '../connection.ts';

export function linesInTurns(
  connection: Connection,
  lanes: readonly TypedLane[],
  { stops, admissions, limit, now, spreads }: {
    readonly stops: ShareStops;
    readonly admissions: GateAdmissions;
    readonly limit: number;
    readonly now: number;
    readonly spreads: Spreads;
  },
): JobLine[] {
  const { groups, others } = separateShares(lanes);
  const inTurns = groups.map((group) => {
    if (group.isCut) return cutLineInTurns({ connection, group, now, spreads }, stops, admissions, limit);
    const stop = stops.among(group.name, () => keysOf(group.jobs));
    return new ShareLine({ group: group.name, jobs: group.jobs, stop, isCut: false });
  });
  return [new LaneLine(others), ...inTurns];
}

interface ShareSearch {
  readonly connection: Connection;
  readonly group: ShareGroup;
  readonly now: number;
  readonly spreads: Spreads;
}

function cutLineInTurns(search: ShareSearch, stops: ShareStops, admissions: GateAdmissions, limit: number): JobLine {
  const { group } = search;
  const stop = stops.of(group.name) ?? stops.between(group.name, edgeKey(search, 'ASC'), edgeKey(search, 'DESC'));
  const walk = new ShareWalk(stop.key, limit, admissions);
  const isWhole = walkFrom(search, stop, walk);
  const round = new ShareRound(walk.firsts, stop, limit, isWhole);
  for (let wanted = round.wanted(); wanted.length > 0; wanted = round.wanted()) {
    round.add(wanted.flatMap(({ key, count }) =>
      walk.gatesOf(key).flatMap((gate) => jobsAt(search, { key, gate }, count))));
  }
  return cutLine(group, round, walk, stop, stops);
}

/** Returns whether all keys of the group were visited. */
function walkFrom(search: ShareSearch, stop: Stop, walk: ShareWalk): boolean {
  for (const gate of gatesOfKeysFrom(search, stop.key)) {
    walk.add(gate);
    if (walk.isDone) return false;
  }
  return true;
}

/** Yields the gates of the keys of the group from the key `start` on, then those before it. Each is found by one index seek per version. */
function* gatesOfKeysFrom(search: ShareSearch, start: string): Generator<FirstAtGate> {
  for (let at = nextKey(search, '>=', start); at !== null; at = nextGate(search, at)) yield at;
  for (let at = nextKey(search, '>=', ''); at !== null && at.key < start; at = nextGate(search, at)) yield at;
}

interface VisitedGate extends FirstAtGate {
  /** How many gates of the key were visited. */
  readonly nth: number;
}

function nextGate(search: ShareSearch, { key, gate, nth }: VisitedGate): VisitedGate | null {
  const sameKey = nth >= gatesPerKeyMax ? null : firstAt(search, `${shareKey} = ? AND ${bareGate} > ?`, key, gate);
  return sameKey ? { ...sameKey, nth: nth + 1 } : nextKey(search, '>', key);
}

function nextKey(search: ShareSearch, sign: '>=' | '>', after: string): VisitedGate | null {
  const found = firstAt(search, `${shareKey} ${sign} ?`, after);
  return found && { ...found, nth: 1 };
}

/** The key of the share in a gate, the gate without the costs, and whether there is a share, verbatim as in `job_share`. */
const shareKey = `substr(gate, instr(gate, '@') + 1, instr(gate, ':') - instr(gate, '@') - 1)`;
const bareGate = `substr(gate, 1, instr(gate, '#') - 1)`;
const inGroup = `FROM job INDEXED BY job_share WHERE lane = 2 AND instr(gate, '@') > 0
  AND kind = ? AND type = ? AND type_version = ? AND priority = ?`;

type JobAtGate = KeyGate & Pick<WaitingJob, 'id' | 'due'> & { readonly text: string };

/** Returns the first key and gate of any version that satisfies the condition, with its first job. */
function firstAt({ connection, group, now, spreads }: ShareSearch, where: string, ...values: readonly string[]): FirstAtGate | null {
  const sql = `SELECT ${shareKey} key, ${bareGate} gate, id, due, gate text ${inGroup} AND ${where}
    ORDER BY ${shareKey}, ${bareGate}, due, id LIMIT 1`;
  const { kind, type, versions, priority } = group;
  const [first] = versions
    .flatMap((version) => connection.get<JobAtGate>(sql, kind, type, version, priority, ...values) ?? [])
    .sort(byKeyAndGate);
  if (first === undefined) return null;
  const { key, gate, id, due, text } = first;
  const isHeld = due > now || spreads.isHeld(type, { id, due, gate: text });
  return { key, gate, job: isHeld ? null : { id, priority, due, gate: text } };
}

const byKeyAndGate = (a: JobAtGate, b: JobAtGate): number =>
  byText(a.key, b.key) || byText(a.gate, b.gate) || a.due - b.due || a.id - b.id;

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Returns the first or the last key of the group. */
function edgeKey({ connection, group }: ShareSearch, order: 'ASC' | 'DESC'): string {
  const sql = `SELECT ${shareKey} key ${inGroup} ORDER BY ${shareKey} ${order} LIMIT 1`;
  const { kind, type, versions, priority } = group;
  const keys = versions
    .flatMap((version) => connection.get<{ key: string }>(sql, kind, type, version, priority)?.key ?? [])
    .sort();
  return (order === 'ASC' ? keys[0] : keys.at(-1)) ?? '';
}

function jobsAt({ connection, group, now, spreads }: ShareSearch, { key, gate }: KeyGate, count: number): WaitingJob[] {
  const sql = `SELECT id, due, gate ${inGroup} AND ${shareKey} = ? AND ${bareGate} = ? AND due <= ? ORDER BY due, id LIMIT ?`;
  const { kind, type, versions, priority } = group;
  const found = versions.flatMap((version) =>
    connection.all<Omit<WaitingJob, 'priority'>>(sql, kind, type, version, priority, key, gate, now, count));
  return found.filter((job) => !spreads.isHeld(type, job)).map((job) => ({ ...job, priority })).sort(byClaimOrder).slice(0, count);
}

export function aheadInShare(connection: Connection, job: Job, now: number): number {
  const share = job.gate === null ? null : encodedShare(job.gate);
  if (share === null) return 0;
  const { kind, type, priority, due, id } = job;
  const next = `SELECT type_version version FROM job INDEXED BY job_share WHERE lane = 2 AND instr(gate, '@') > 0
    AND kind = ? AND type = ? AND type_version > ? ORDER BY type_version LIMIT 1`;
  const after = (version: number): number | undefined => connection.get<{ version: number }>(next, kind, type, version)?.version;
  const count = `SELECT count(*) count FROM (SELECT 1 ${inGroup} AND ${shareKey} = ? AND due <= ?
    AND (due, id) < (?, ?) LIMIT ${queuePositionMax})`;
  let ahead = 0;
  for (let version = after(0); version !== undefined && ahead < queuePositionMax; version = after(version)) {
    ahead += connection.get<{ count: number }>(count, kind, type, version, priority, share.key, now, due, id)!.count;
  }
  return Math.min(ahead, queuePositionMax);
}
