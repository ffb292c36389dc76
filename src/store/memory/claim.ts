/** Finds claim candidates, due times, queue positions and the jobs admitted per gate in the memory store. */
import { never } from '../../model/definition.ts';
import { encodedShare, GateAdmissions, keyNames, noLimits, type LimitsNow } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import { isInForce, isPausable } from '../../model/pause.ts';
import { workKinds } from '../../model/state.ts';
import { byClaimOrder } from '../../model/claim-order.ts';
import { jobPredicate, namePredicate } from '../name-filter.ts';
import { laneInTurns, turnsOf, type ShareStops, type ShareTurns } from '../fair-share.ts';
import type { GateMemory } from '../gate-admission.ts';
import { queuePositionMax, type Candidate, type ClaimRequest, type DueJob, type WaitingVersion } from '../store.ts';
import { sumByVersion } from '../waiting-version-sum.ts';
import type { Records } from './records.ts';

export function candidates(
  records: Records,
  request: ClaimRequest,
  named: LimitsNow,
  memory: GateMemory,
): Candidate[] {
  const { now } = named;
  const { kinds, names, limit, limits = noLimits, isLeader = false, priorities } = request;
  const isNamed = jobPredicate(names);
  const pauses = pausesAt(records, now);
  const pausedKeys = keyNames(pauses.flatMap(({ gate, admitted }) => (gate === null || admitted ? [] : [gate])));
  const admissions = new GateAdmissions(admittedPerGate(records, () => true), limits, isLeader, named, pausedKeys);
  const isPaused = pausedBy(pauses);
  const isClaimable = (job: Job): boolean =>
    job.state === 'pending' && job.due <= now && kinds.includes(job.kind) && isNamed(job) && !isPaused(job) &&
    (priorities?.includes(job.priority) ?? true);
  const { shareStops } = memory;
  const claimable = [...records.all()].filter(isClaimable);
  const turns = turnsAmong(claimable, shareStops);
  const rankOf = (job: Job): Pick<Job, 'id' | 'priority' | 'due'> => turns.get(job.id)?.rank ?? job;
  const chosen: Candidate[] = [];
  for (const job of claimable.sort((a, b) => byClaimOrder(rankOf(a), rankOf(b)))) {
    if (chosen.length >= limit) break;
    if (job.gate !== null && !job.admitted && !admissions.admit(job.gate)) continue;
    chosen.push({ job, parentCancelled: job.parent !== null && Boolean(records.get(job.parent)?.cancel) });
  }
  recordTurns(turns, shareStops, chosen.map(({ job }) => job.id));
  memory.recordOpening(request, admissions.opensAt);
  return chosen;
}

/** Returns the turns of the jobs that wait at gates and have shares. */
function turnsAmong(jobs: readonly Job[], stops: ShareStops): ShareTurns {
  const shared = jobs.filter(({ gate, admitted }) => gate !== null && !admitted && encodedShare(gate) !== null);
  const groups = Map.groupBy(shared, ({ kind, type, priority }) => `${priority} ${kind} ${type}`);
  return turnsOf([...groups].flatMap(([name, same]) => {
    const waiting = same.map(({ id, priority, due, gate }) => ({ id, priority, due, gate: gate! }));
    return laneInTurns({ name, isCut: false }, waiting, stops.of(name)).jobs;
  }));
}

function recordTurns(turns: ShareTurns, stops: ShareStops, chosen: readonly number[]): void {
  for (const id of turns.size === 0 ? [] : chosen) {
    const turn = turns.get(id);
    if (turn) stops.record(turn);
  }
}

export function nextDue(
  records: Records,
  { kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>,
  after: number,
): number | null {
  const isNamed = namePredicate(names);
  const pauses = pausesAt(records, after);
  const isPaused = pausedBy(pauses);
  const ends = pauses.filter(({ type, due }) => kinds.some(isPausable) && isNamed(type) && due < never);
  const isClaimable = jobPredicate(names);
  let next: number | null = ends.reduce<number | null>((first, { due }) => Math.min(first ?? due, due), null);
  for (const job of records.all()) {
    if (job.state !== 'pending' || !kinds.includes(job.kind) || !isClaimable(job) || job.due <= after) continue;
    if (isPaused(job)) continue;
    next = Math.min(next ?? Infinity, job.due);
  }
  return next;
}

export function oldestDue(
  records: Records,
  { kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>,
  now: number,
): Map<string, DueJob> {
  const isNamed = jobPredicate(names);
  const isPaused = pausedBy(pausesAt(records, now));
  const oldest = new Map<string, DueJob>();
  for (const job of records.byId(() => true)) {
    const { id, due, state, kind, type } = job;
    if (state !== 'pending' || due > now || !kinds.includes(kind) || !isNamed(job) || isPaused(job)) continue;
    const known = oldest.get(type);
    if (!known || due < known.due) oldest.set(type, { id, due });
  }
  return oldest;
}

export function queuePosition(records: Records, job: Job, now: number): number {
  const isAhead = (other: Job): boolean =>
    other.state === 'pending' && other.due <= now &&
    other.kind === job.kind && other.type === job.type && byClaimOrder(other, job) < 0;
  return Math.min(queuePositionMax, [...records.all()].filter(isAhead).length);
}

export function aheadInShare(records: Records, job: Job, now: number): number {
  const share = job.gate === null ? null : encodedShare(job.gate);
  const isAhead = (other: Job): boolean =>
    other.state === 'pending' && other.due <= now && !other.admitted && other.gate !== null &&
    other.kind === job.kind && other.type === job.type && other.typeVersion === job.typeVersion &&
    other.priority === job.priority && encodedShare(other.gate)?.key === share?.key && byClaimOrder(other, job) < 0;
  return share === null ? 0 : Math.min(queuePositionMax, [...records.all()].filter(isAhead).length);
}

export function admittedPerGate(records: Records, isCounted: (job: Job) => boolean): Map<string, number> {
  const counts = new Map<string, number>();
  for (const job of records.all()) {
    if (job.gate !== null && job.admitted && isCounted(job)) counts.set(job.gate, (counts.get(job.gate) ?? 0) + 1);
  }
  return counts;
}

export function waitingVersions(records: Records, types: readonly string[]): WaitingVersion[] {
  const isCounted = ({ state, kind, type }: Job): boolean =>
    state === 'pending' && workKinds.includes(kind) && types.includes(type);
  return sumByVersion([...records.all()].filter(isCounted).map(({ type, typeVersion }) => ({ type, typeVersion, count: 1 })));
}

/** Whether a pause of its type is in force, so that a new job of this type must not be written as running. */
export const isTypePaused = (records: Records, job: Job, now: number): boolean =>
  pausedBy(pausesAt(records, now))(job);

const pausesAt = (records: Records, now: number): Job[] => [...records.all()].filter((job) => isInForce(job, now));

/** Returns a predicate: whether the whole type of a job is paused. */
function pausedBy(pauses: readonly Job[]): (job: Job) => boolean {
  const types = new Set(pauses.flatMap(({ gate, type }) => (gate === null ? [type] : [])));
  return ({ kind, type }) => isPausable(kind) && types.has(type);
}
