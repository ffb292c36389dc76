/**
 * Admission: decides which of the jobs that wait at gates a claim takes. A claim reads the first due jobs of each lane
 * in claim order, and admits each job whose gate has room. So the cost of this part depends on the limit of the claim
 * and on the number of lanes, not on the number of gates. If too many of the jobs that were read are at full gates, the
 * claim walks from gate to gate to find further jobs that it can admit. `GateMemory` has the gate after which this walk
 * starts. During the walk, a full gate costs one index seek, however many jobs wait at it.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import { systemRandom, type Random } from '../random.ts';
import type { Admit, JobLine } from './job-line.ts';
import { ShareStops } from './share-stops.ts';
import type { ClaimRequest } from './store.ts';
import type { GatedType, WaitingJob } from './waiting-job.ts';

export interface Admission {
  readonly jobs: readonly WaitingJob[];
  /** Whether `limit` jobs were admitted, or all due jobs were considered. */
  readonly isComplete: boolean;
  /** Whether at least one job was not admitted because its gate had no room. */
  readonly isCrowded: boolean;
}

/**
 * How many jobs a claim reads from each lane: 256 more than `limit`, because some of them may be at full gates and
 * cannot be admitted.
 */
export const gateLaneRows = (limit: number): number => limit + 256;

/**
 * Admits up to `limit` jobs of the lines, in claim order. If a line was cut, admission stops after the last job that was
 * read from it, because its unread jobs may precede the next jobs of other lines.
 */
export function admitInOrder(lines: readonly JobLine[], admit: Admit, limit: number): Admission {
  const jobs: WaitingJob[] = [];
  let isCrowded = false;
  for (;;) {
    if (jobs.length >= limit) return { jobs, isComplete: true, isCrowded };
    if (lines.some(({ isCut, rank }) => isCut && rank === null)) return { jobs, isComplete: false, isCrowded };
    const line = firstOf(lines);
    if (line === null) return { jobs, isComplete: true, isCrowded };
    const job = line.consider(admit);
    if (job) jobs.push(job);
    else isCrowded = true;
  }
}

/** Returns the line whose next job comes first in claim order; null: no line has a next job. */
function firstOf(lines: readonly JobLine[]): JobLine | null {
  let first: JobLine | null = null;
  for (const line of lines) {
    if (line.rank && (first === null || byClaimOrder(line.rank, first.rank!) < 0)) first = line;
  }
  return first;
}

/**
 * Remembers for each type and version at which gate this instance's last walk over the gates with waiting jobs stopped. The next
 * walk starts behind that gate, so that every gate gets its turn.
 */
export class GateMemory {
  readonly #stops = new Map<string, string>();
  readonly #openings = new Map<string, number>();
  readonly shareStops: ShareStops;

  constructor(random: Random = systemRandom) {
    this.shareStops = new ShareStops(random);
  }

  /**
   * Returns when named limits open for a job that the last claim of the request left out because of them; null: there
   * was no such job.
   */
  opensAt(request: NamedRequest): number | null {
    return this.#openings.size === 0 ? null : (this.#openings.get(requestName(request)) ?? null);
  }

  /** Records when named limits open, as `GateAdmissions.opensAt` returns it after a claim. */
  recordOpening(request: NamedRequest, opensAt: number | null): void {
    if (opensAt === null && this.#openings.size === 0) return;
    if (this.#openings.size === requestsMax) this.#openings.clear();
    if (opensAt === null) this.#openings.delete(requestName(request));
    else this.#openings.set(requestName(request), opensAt);
  }

  /** Returns the gate behind which the next walk starts; empty: the walk starts at the first gate. */
  start(of: GatedType): string {
    return this.#stops.get(nameOf(of)) ?? '';
  }

  stopAt(of: GatedType, gate: string): void {
    if (this.#stops.size === stopsMax) this.#stops.clear();
    this.#stops.set(nameOf(of), gate);
  }
}

/**
 * Bounds `GateMemory`. At this number of types it forgets all stops, and the next walks start at the first gate.
 */
const stopsMax = 10_000;
const requestsMax = 1_000;

type NamedRequest = Pick<ClaimRequest, 'kinds' | 'names'>;

const requestName = ({ kinds, names }: NamedRequest): string => JSON.stringify([kinds, names]);

/** Returns the earlier of two times, of which each may be unknown. */
export const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

const nameOf = ({ kind, type, typeVersion }: GatedType): string => `${kind} ${typeVersion} ${type}`;
