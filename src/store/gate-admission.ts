/**
 * Admission: which of the jobs that wait at gates a claim takes. The first due jobs of each lane are read in claim
 * order, and each passes if its gate has room: the cost follows the number of jobs taken, not of keys that wait. Only
 * if jobs of full gates fill a whole lane, the waiting gates are walked as a ring, so that a deep queue of one key
 * costs one seek.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import type { GateAdmissions } from '../model/gate.ts';

/** A due job that waits at a gate. */
export interface WaitingJob {
  readonly id: number;
  readonly priority: number;
  readonly due: number;
  readonly gate: string;
}

/** The first jobs of one kind, type and priority that wait at gates, in claim order. */
export interface GateLane {
  readonly jobs: readonly WaitingJob[];
  /** Whether the lane may have more. */
  readonly isCut: boolean;
}

export interface Admission {
  readonly jobs: readonly WaitingJob[];
  /** Whether `limit` jobs were admitted, or all due jobs were considered. */
  readonly isComplete: boolean;
  /** Whether a gate was full. */
  readonly isCrowded: boolean;
}

/** How many jobs of each lane are read: those of full gates among them are read in vain. */
export const gateLaneRows = (limit: number): number => limit + 256;

/** Stops at the end of the first lane that was cut: its next job might precede the jobs of other lanes. */
export function admitInOrder(lanes: readonly GateLane[], admissions: GateAdmissions, limit: number): Admission {
  const [end] = lanes.filter(({ isCut }) => isCut).map(({ jobs }) => jobs.at(-1)!).sort(byClaimOrder);
  const admitted: WaitingJob[] = [];
  let isCrowded = false;
  for (const job of lanes.flatMap(({ jobs }) => jobs).sort(byClaimOrder)) {
    if (admitted.length === limit) break;
    if (end && byClaimOrder(job, end) > 0) return { jobs: admitted, isComplete: false, isCrowded };
    if (admissions.admit(job.gate)) admitted.push(job);
    else isCrowded = true;
  }
  return { jobs: admitted, isComplete: admitted.length === limit || end === undefined, isCrowded };
}

/** The jobs of one kind and type. */
export interface GatedType {
  readonly kind: string;
  readonly type: string;
}

/** Where the walks of this instance over the waiting gates of each type stopped: the next one starts there. */
export class GateRing {
  readonly #stops = new Map<string, string>();
  /** Whether the last claim found a full gate. */
  isCrowded = false;

  /** Walks start behind this gate; empty: at the first. */
  start(of: GatedType): string {
    return this.#stops.get(nameOf(of)) ?? '';
  }

  stopAt(of: GatedType, gate: string): void {
    if (this.#stops.size === stopsMax) this.#stops.clear();
    this.#stops.set(nameOf(of), gate);
  }
}

const stopsMax = 10_000;

const nameOf = ({ kind, type }: GatedType): string => `${kind} ${type}`;
