/** Finds claim candidates, due times, queue positions and the jobs admitted per gate in the memory store. */
import { never } from '../../model/definition.ts';
import { encodedShare, GateAdmissions, keyNames, noLimits, type LimitsNow } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import { contentOf, isInForce, isInScope, isPausable, type PauseScope } from '../../model/pause.ts';
import { lastOfParts, type Position } from '../../model/spread.ts';
import { workKinds } from '../../model/state.ts';
import { byClaimOrder } from '../../model/claim-order.ts';
import { jobPredicate, namePredicate } from '../name-filter.ts';
import { groupName, keysOf, takeInTurns, turnsOf } from '../fair-share.ts';
import { admitInOrder, earlier, type GateMemory } from '../gate-admission.ts';
import { LaneLine, type JobLine } from '../job-line.ts';
import { ShareLine } from '../share-line.ts';
import type { ShareStops } from '../share-stops.ts';
import { queuePositionMax, type Candidate, type ClaimRequest, type DueJob, type WaitingVersion } from '../store.ts';
import { Spreads } from '../spreads.ts';
import type { WaitingJob } from '../waiting-job.ts';
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
  const inForce = pausesAt(records, now);
  const spreads = new Spreads(inForce, now);
  const pauses = inForce.filter((pause) => !contentOf(pause).spread);
  const pausedKeys = keyNames(pauses.flatMap(({ gate }) => (gate === null ? [] : [gate])));
  const admissions = new GateAdmissions(admittedPerGate(records, () => true), limits, isLeader, named, pausedKeys);
  const isPaused = pausedBy(pauses);
  const isClaimable = (job: Job): boolean =>
    job.state === 'pending' && job.due <= now && kinds.includes(job.kind) && isNamed(job) && !isPaused(job) &&
    !isHeldBack(spreads, job) && (priorities?.includes(job.priority) ?? true);
  const claimable = [...records.all()].filter(isClaimable);
  const admit = ({ id, gate }: WaitingJob): boolean => gate === noGate || records.get(id)!.admitted || admissions.admit(gate);
  const { jobs } = admitInOrder(linesOf(claimable, memory.shareStops), admit, limit);
  memory.recordOpening(request, earlier(admissions.opensAt, spreads.opensAt(request)));
  return takeInTurns(jobs, turnsOf(jobs), memory.shareStops, limit).map(({ id }) => {
    const job = records.get(id)!;
    return { job, parentCancelled: job.parent !== null && Boolean(records.get(job.parent)?.cancel) };
  });
}

const noGate = '';

const isHeldBack = (spreads: Spreads, { kind, type, id, due, gate, admitted }: Job): boolean =>
  isPausable(kind) && spreads.isHeld(type, { id, due, gate: admitted ? noGate : (gate ?? noGate) });

/** Returns a line for each group of jobs that wait at gates and have shares, and one for all other jobs. */
function linesOf(claimable: readonly Job[], stops: ShareStops): JobLine[] {
  const waiting = (jobs: readonly Job[]): WaitingJob[] =>
    jobs.map(({ id, priority, due, gate }) => ({ id, priority, due, gate: gate ?? noGate }));
  const isShared = ({ gate, admitted }: Job): boolean => gate !== null && !admitted && encodedShare(gate) !== null;
  const groups = Map.groupBy(claimable.filter(isShared), groupName);
  const others = claimable.filter((job) => !isShared(job));
  return [new LaneLine([{ jobs: waiting(others), isCut: false }]), ...groups.entries().map(([group, same]) => {
    const jobs = waiting(same);
    return new ShareLine({ group, jobs, stop: stops.among(group, () => keysOf(jobs)), isCut: false });
  })];
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
    other.kind === job.kind && other.type === job.type &&
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

export function divideWaiting(records: Records, scope: PauseScope, count: number, now: number): Position[] {
  const isWaiting = (job: Job): boolean => job.state === 'pending' && job.due <= now && isInScope(scope, job);
  const waiting = [...records.all()].filter(isWaiting).sort((a, b) => a.due - b.due || a.id - b.id);
  return lastOfParts(waiting, count).map(({ due, id }) => ({ due, id }));
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
