/** The jobs of a group in the order of turns: in its turn, a key starts as many admitted jobs as it has weight (fair-share.ts). */
import { byClaimOrder } from '../model/claim-order.ts';
import { encodedShare } from '../model/gate.ts';
import type { FairShare } from '../model/share.ts';
import type { Admit, JobLine } from './job-line.ts';
import type { Stop } from './share-stops.ts';
import type { Rank, WaitingJob } from './waiting-job.ts';

interface SharedJob {
  readonly job: WaitingJob;
  readonly share: FairShare;
}

/** The jobs of a key in claim order, and how many of them were considered. */
interface KeyJobs {
  readonly jobs: readonly SharedJob[];
  considered: number;
}

export interface ShareLineSpec {
  readonly group: string;
  readonly jobs: readonly WaitingJob[];
  /** The first jobs of the group in claim order, whose places the turns have; by default `jobs`. */
  readonly ranked?: readonly WaitingJob[];
  readonly stop: Stop;
  readonly isCut: boolean;
}

export class ShareLine implements JobLine {
  readonly isCut: boolean;
  readonly #group: string;
  readonly #ranks: readonly Rank[];
  #nextRank = 0;
  readonly #refused = new Set<number>();
  /** The keys whose turns of this round are still to come, the next one last, and the keys that take part in the next round. */
  #round: KeyJobs[];
  #nextRound: KeyJobs[] = [];
  /** How many jobs the turn of the next key has started. */
  #taken: number;
  #left: number;

  constructor({ group, jobs, ranked = [], stop, isCut }: ShareLineSpec) {
    this.isCut = isCut;
    this.#group = group;
    const ordered = jobs.toSorted(byClaimOrder);
    const ids = new Set(ranked.map(({ id }) => id));
    this.#ranks = [...ranked, ...ordered.filter(({ id }) => !ids.has(id))].map(rankOf).sort(byClaimOrder);
    const shared = ordered.map((job) => ({ job, share: encodedShare(job.gate)! }));
    const keys = keysFrom(stop, Map.groupBy(shared, ({ share }) => share.key));
    const isInTurn = keys[0]?.[0]?.share.key === stop.key && stop.taken < keys[0][0].share.weight;
    this.#taken = isInTurn ? stop.taken : 0;
    this.#round = keys.map((ofKey) => ({ jobs: ofKey, considered: 0 })).reverse();
    this.#left = jobs.length;
  }

  /** A refused job gives up its place, so that no other job waits for it. */
  get rank(): Rank | null {
    if (this.#left === 0) return null;
    while (this.#refused.has(this.#ranks[this.#nextRank]!.id)) this.#nextRank++;
    return this.#ranks[this.#nextRank]!;
  }

  consider(admit: Admit): WaitingJob | null {
    const rank = this.rank!;
    const key = this.#round.at(-1)!;
    const { job, share } = key.jobs[key.considered++]!;
    this.#left--;
    const isAdmitted = admit(job);
    if (isAdmitted) {
      this.#nextRank++;
      this.#taken++;
    } else if (byClaimOrder(job, rank) >= 0) this.#refused.add(job.id);
    if (key.considered === key.jobs.length || this.#taken >= weightOf(key)) this.#endTurn(key);
    return isAdmitted ? { ...job, turn: { rank, group: this.#group, share } } : null;
  }

  #endTurn(key: KeyJobs): void {
    this.#taken = 0;
    this.#round.pop();
    if (key.considered < key.jobs.length) this.#nextRound.push(key);
    if (this.#round.length > 0) return;
    this.#round = this.#nextRound.reverse();
    this.#nextRound = [];
  }
}

const rankOf = ({ id, priority, due }: WaitingJob): Rank => ({ id, priority, due });

const weightOf = ({ jobs }: KeyJobs): number => jobs[0]!.share.weight;

/** Returns the jobs of each key, in the order of the keys, beginning with the key whose turn it is. */
function keysFrom({ key, taken }: Stop, byKey: ReadonlyMap<string, SharedJob[]>): SharedJob[][] {
  const isPassed = (each: string): boolean => each < key || (each === key && taken >= byKey.get(each)![0]!.share.weight);
  const keys = [...byKey.keys()].sort();
  return [...keys.filter((each) => !isPassed(each)), ...keys.filter(isPassed)].map((each) => byKey.get(each)!);
}
