/**
 * The jobs of a cut group that the keys with the next turns start (fair-share.ts). It begins with the first jobs of
 * each key (share-walk.ts). The store reads more jobs of the keys that `wanted` returns, until it returns none.
 * Keys with the next turns come first, so that the number of jobs read follows from `limit`, not from the number of keys
 * and their weights.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import { encodedShare } from '../model/gate.ts';
import type { ShareGroup } from './fair-share.ts';
import { LaneLine, type JobLine } from './job-line.ts';
import { ShareLine } from './share-line.ts';
import type { ShareStops, Stop } from './share-stops.ts';
import type { ShareWalk } from './share-walk.ts';
import type { WaitingJob } from './waiting-job.ts';

export interface KeyCount {
  readonly key: string;
  readonly count: number;
}

/** How many keys at least the store is asked to read more jobs of; doubled each time. */
const firstSpan = 8;

export class ShareRound {
  readonly #limit: number;
  readonly #isWhole: boolean;
  /** By key, in the order of turns. */
  readonly #jobs: Map<string, readonly WaitingJob[]>;
  readonly #asked = new Map<string, number>();
  /** How many turns of each key are considered. */
  #turns = 1;
  #span = firstSpan;

  /**
   * `firsts`: one or several jobs of each key, in the order of the keys, beginning with the key of `stop`. `isWhole`: these
   * are all keys with jobs that may start, so that one claim may give them several turns.
   */
  constructor(firsts: readonly WaitingJob[], stop: Stop, limit: number, isWhole: boolean) {
    const keys = [...Map.groupBy(firsts, keyOf)].map(([key, jobs]) => [key, jobs.sort(byClaimOrder)] as const);
    const isPassed = ([key, jobs]: (typeof keys)[number]): boolean => key === stop.key && stop.taken >= weightOf(jobs[0]!);
    this.#jobs = new Map([...keys.filter((each) => !isPassed(each)), ...keys.filter(isPassed)]);
    this.#limit = limit;
    this.#isWhole = isWhole;
  }

  get jobs(): readonly WaitingJob[] {
    return [...this.#jobs.values()].flat();
  }

  /** Whether all jobs that may start were read. */
  get isExhausted(): boolean {
    return this.#isWhole && [...this.#jobs].every(([key, jobs]) => jobs.length < this.#askedOf(key));
  }

  /** Returns the keys of which jobs must be read, from the first on, and how many; empty: there are enough. */
  wanted(): readonly KeyCount[] {
    for (;;) {
      const { wanted, found } = this.#wantedInTurns();
      if (wanted.length > 0) {
        for (const { key, count } of wanted) this.#asked.set(key, count);
        this.#span *= 2;
        return wanted;
      }
      if (found >= this.#limit || !this.#isWhole || !this.#hasMore()) return [];
      this.#turns *= 8;
    }
  }

  add(jobs: readonly WaitingJob[]): void {
    for (const [key, ofKey] of Map.groupBy(jobs.toSorted(byClaimOrder), keyOf)) this.#jobs.set(key, ofKey);
  }

  #wantedInTurns(): { readonly wanted: readonly KeyCount[]; readonly found: number } {
    const wanted: KeyCount[] = [];
    let [found, expected] = [0, 0];
    for (const [key, jobs] of this.#jobs) {
      const count = Math.min(this.#limit, weightOf(jobs[0]!) * this.#turns);
      if (this.#isRead(key, count)) found += Math.min(jobs.length, count);
      else {
        wanted.push({ key, count });
        expected += count;
      }
      const isEnough = wanted.length === 0 ? found >= this.#limit : found + expected >= 2 * this.#limit;
      if (isEnough && (wanted.length === 0 || wanted.length >= this.#span)) break;
    }
    return { wanted, found };
  }

  #isRead(key: string, count: number): boolean {
    const asked = this.#askedOf(key);
    return asked >= count || this.#jobs.get(key)!.length < asked;
  }

  #hasMore(): boolean {
    return [...this.#jobs].some(([key, jobs]) => jobs.length >= this.#askedOf(key) && this.#askedOf(key) < this.#limit);
  }

  #askedOf(key: string): number {
    return this.#asked.get(key) ?? 1;
  }
}

const keyOf = ({ gate }: WaitingJob): string => encodedShare(gate)!.key;
const weightOf = ({ gate }: WaitingJob): number => encodedShare(gate)!.weight;

/**
 * Returns the line of a cut group. If the walk has passed too many gates, its jobs have no turns, and the next claim
 * continues behind the passed keys.
 */
export function cutLine(group: ShareGroup, round: ShareRound, walk: ShareWalk, stop: Stop, stops: ShareStops): JobLine {
  if (walk.hasPassedTooMany) {
    stops.stopAt(group.name, { key: walk.last, taken: Infinity });
    return new LaneLine([{ jobs: withReadJobs(round.jobs, group.jobs), isCut: true }]);
  }
  const isCut = !(round.isExhausted && walk.isEveryGateVisited);
  return new ShareLine({ group: group.name, jobs: round.jobs, ranked: group.jobs, stop, isCut });
}

function withReadJobs(found: readonly WaitingJob[], read: readonly WaitingJob[]): readonly WaitingJob[] {
  const known = new Set(found.map(({ id }) => id));
  return [...found, ...read.filter(({ id }) => !known.has(id))].sort(byClaimOrder);
}
