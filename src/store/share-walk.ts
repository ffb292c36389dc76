/**
 * The walk of a claim over the keys of a group that has more due jobs than the claim reads (fair-share.ts). The store
 * visits pairs of a key and a gate at which jobs of the key wait, in the order of keys and gates, from the key
 * at which the last claim stopped, and passes them to `add` until `isDone`. Each costs one index seek, however many jobs
 * wait at it.
 */
import type { GateAdmissions } from '../model/gate.ts';
import type { WaitingJob } from './waiting-job.ts';

export interface KeyGate {
  /** Encoded, as in the texts of gates. */
  readonly key: string;
  /** The text of the gate without the costs. */
  readonly gate: string;
}

/** A key and a gate with the first job of the key at the gate. */
export interface FirstAtGate extends KeyGate {
  /** Null: none of the jobs is due. */
  readonly job: WaitingJob | null;
}

/**
 * How many gates of keys without a job that can start one claim passes: jobs that are due later, and full gates. The next
 * claim continues behind them.
 */
export const passedGatesMax = 256;

/** At how many gates one claim looks for jobs of a key. */
export const gatesPerKeyMax = 64;

export class ShareWalk {
  /** The key that was visited last. */
  last: string;
  readonly #limit: number;
  readonly #admissions: Pick<GateAdmissions, 'room' | 'isFullForAllKeys'>;
  readonly #firsts: WaitingJob[] = [];
  readonly #gates = new Map<string, string[]>();
  #passed = 0;
  #gatesOfLast = 0;
  #isEveryGateVisited = true;

  constructor(start: string, limit: number, admissions: Pick<GateAdmissions, 'room' | 'isFullForAllKeys'>) {
    this.last = start;
    this.#limit = limit;
    this.#admissions = admissions;
  }

  add({ key, gate, job }: FirstAtGate): void {
    this.#gatesOfLast = key === this.last ? this.#gatesOfLast + 1 : 1;
    if (this.#gatesOfLast === gatesPerKeyMax) this.#isEveryGateVisited = false;
    this.last = key;
    if (job === null || !this.#mayStart(job)) {
      this.#passed++;
      return;
    }
    this.#firsts.push(job);
    this.#gates.set(key, [...(this.#gates.get(key) ?? []), gate]);
  }

  get isDone(): boolean {
    return this.#gates.size > this.#limit || this.hasPassedTooMany;
  }

  get hasPassedTooMany(): boolean {
    return this.#passed > passedGatesMax;
  }

  get isEveryGateVisited(): boolean {
    return this.#isEveryGateVisited;
  }

  /** How many more keys the claim may need. */
  get missing(): number {
    return this.#limit + 1 - this.#gates.size;
  }

  /**
   * The first job of a key at each gate that may start, in the order in which they were visited. A key has all of them in its
   * turn: other keys may use up a gate in the same claim.
   */
  get firsts(): readonly WaitingJob[] {
    return this.#firsts;
  }

  /** The gates at which jobs of the key may start. */
  gatesOf(key: string): readonly string[] {
    return this.#gates.get(key) ?? [];
  }

  /**
   * A job that waits for something for which all keys wait is considered in its turn, and refused: otherwise the walk
   * would pass keys whose turns have come, and the turns would move while nothing can start.
   */
  #mayStart({ gate }: WaitingJob): boolean {
    return this.#admissions.room(gate) > 0 || this.#admissions.isFullForAllKeys(gate);
  }
}
