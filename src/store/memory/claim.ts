/** Finds claim candidates, due times, queue positions and the jobs admitted per gate in the memory store. */
import { GateAdmissions, noLimits, type LimitsNow } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import { byClaimOrder } from '../../model/claim-order.ts';
import { namePredicate } from '../name-filter.ts';
import type { GateMemory } from '../gate-admission.ts';
import { queuePositionMax, type Candidate, type ClaimRequest, type DueJob } from '../store.ts';
import type { Records } from './records.ts';

export function candidates(
  records: Records,
  request: ClaimRequest,
  named: LimitsNow,
  memory: GateMemory,
): Candidate[] {
  const { now } = named;
  const { kinds, names, limit, limits = noLimits, isLeader = false, priorities } = request;
  const isNamed = namePredicate(names);
  const admissions = new GateAdmissions(admittedPerGate(records, () => true), limits, isLeader, named);
  const isClaimable = (job: Job): boolean =>
    job.state === 'pending' && job.due <= now && kinds.includes(job.kind) && isNamed(job.type) &&
    (priorities?.includes(job.priority) ?? true);
  const chosen: Candidate[] = [];
  for (const job of [...records.all()].filter(isClaimable).sort(byClaimOrder)) {
    if (chosen.length >= limit) break;
    if (job.gate !== null && !job.admitted && !admissions.admit(job.gate)) continue;
    chosen.push({ job, parentCancelled: job.parent !== null && Boolean(records.get(job.parent)?.cancel) });
  }
  memory.recordOpening(request, admissions.opensAt);
  return chosen;
}

export function nextDue(
  records: Records,
  { kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>,
  after: number,
): number | null {
  const isNamed = namePredicate(names);
  let next: number | null = null;
  for (const job of records.all()) {
    if (job.state !== 'pending' || !kinds.includes(job.kind) || !isNamed(job.type) || job.due <= after) continue;
    next = Math.min(next ?? Infinity, job.due);
  }
  return next;
}

export function oldestDue(
  records: Records,
  { kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>,
  now: number,
): Map<string, DueJob> {
  const isNamed = namePredicate(names);
  const oldest = new Map<string, DueJob>();
  for (const { id, due, state, kind, type } of records.byId(() => true)) {
    if (state !== 'pending' || due > now || !kinds.includes(kind) || !isNamed(type)) continue;
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

export function admittedPerGate(records: Records, isCounted: (job: Job) => boolean): Map<string, number> {
  const counts = new Map<string, number>();
  for (const job of records.all()) {
    if (job.gate !== null && job.admitted && isCounted(job)) counts.set(job.gate, (counts.get(job.gate) ?? 0) + 1);
  }
  return counts;
}
