/**
 * Fair share: the order in which a claim takes the jobs of types with `fairness`. The jobs of one kind, type and
 * priority form a group. The keys of a group take turns in the order of their texts; in its turn, a key starts as many
 * jobs as it has weight. A round is one turn of each key. Each instance remembers where its last claim stopped; no
 * instance knows the turns of others.
 *
 * A claim reads the first due jobs of each lane in any case (gate-admission.ts). If these are all due jobs of a group,
 * this file puts them in the order of turns. Otherwise the store seeks from key to key in the index `job_share`, from
 * where the last claim stopped, and reads only as many keys and jobs as the claim can take (`ShareRound`).
 *
 * Among the jobs of other types, the turns of a group have the places of its chosen jobs in claim order: the first turn
 * has the place of the job that was due first, whichever job has the first turn.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import { encodedShare } from '../model/gate.ts';
import type { FairShare } from '../model/share.ts';
import type { GatedType, GateLane, Rank, ShareTurn, WaitingJob } from './waiting-job.ts';

/** Where the last claim of a group stopped: at which key, and how many jobs of the key's turn it had taken. */
export interface Stop {
  /** Encoded, as in the texts of gates. */
  readonly key: string;
  readonly taken: number;
}

/** At this number of groups, all stops are forgotten: the next rounds start at the first keys. */
const stopsMax = 10_000;
const atFirstKey: Stop = { key: '', taken: 0 };

/** Remembers for each group where the last claim of this instance stopped. */
export class ShareStops {
  readonly #stops = new Map<string, Stop>();

  of(group: string): Stop {
    return this.#stops.get(group) ?? atFirstKey;
  }

  /** Records that a job was claimed in its turn, or cannot be locked. */
  record({ group, share: { key, weight } }: ShareTurn): void {
    const stop = this.of(group);
    this.stopAt(group, { key, taken: stop.key === key && stop.taken < weight ? stop.taken + 1 : 1 });
  }

  stopAt(group: string, stop: Stop): void {
    if (this.#stops.size === stopsMax) this.#stops.clear();
    this.#stops.set(group, stop);
  }
}

/** The turns of jobs by their ids. Jobs without shares have none. */
export type ShareTurns = ReadonlyMap<number, ShareTurn>;

export const noTurns: ShareTurns = new Map();

export const turnsOf = (jobs: readonly WaitingJob[]): ShareTurns =>
  new Map(jobs.flatMap(({ id, turn }) => (turn ? [[id, turn] as const] : [])));

/** Returns the first `limit` jobs in claim order, in which jobs with turns have the places of these, and records the turns. */
export function takeInTurns<Row extends Rank>(rows: readonly Row[], turns: ShareTurns, stops: ShareStops, limit: number): Row[] {
  const rankOf = (row: Row): Rank => turns.get(row.id)?.rank ?? row;
  const taken = rows.toSorted((a, b) => byClaimOrder(rankOf(a), rankOf(b))).slice(0, limit);
  for (const { id } of turns.size === 0 ? [] : taken) {
    const turn = turns.get(id);
    if (turn) stops.record(turn);
  }
  return taken;
}

/** A lane with the kind, type, version and priority of its jobs. */
export type TypedLane = GateLane & GatedType & { readonly priority: number };

/** The jobs of one kind, type and priority that have shares, of all versions that the request knows. */
export interface ShareGroup extends GateLane {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly priority: number;
  readonly versions: readonly number[];
}

export interface SharedLanes {
  readonly groups: readonly ShareGroup[];
  /** The lanes without the jobs that have shares. */
  readonly others: readonly GateLane[];
}

const hasShare = ({ gate }: WaitingJob): boolean => encodedShare(gate) !== null;

/** Separates the jobs with shares from the lanes of a claim. */
export function separateShares(lanes: readonly TypedLane[]): SharedLanes {
  const shared = lanes.filter(({ jobs }) => jobs.some(hasShare));
  if (shared.length === 0) return { groups: [], others: lanes };
  const groups = Map.groupBy(shared, ({ kind, type, priority }) => `${priority} ${kind} ${type}`);
  const others = lanes.map((lane) => (shared.includes(lane) ? withoutShares(lane) : lane));
  return { groups: [...groups].map(([name, same]) => groupOf(name, same, lanes)), others };
}

/**
 * If the last job that was read has a share, the jobs without shares that were not read come after it: the lane is not
 * cut before them.
 */
const withoutShares = ({ jobs, isCut }: TypedLane): GateLane =>
  ({ jobs: jobs.filter((job) => !hasShare(job)), isCut: isCut && !hasShare(jobs.at(-1)!) });

function groupOf(name: string, shared: readonly TypedLane[], lanes: readonly TypedLane[]): ShareGroup {
  const { kind, type, priority } = shared[0]!;
  const same = lanes.filter((lane) => lane.kind === kind && lane.type === type && lane.priority === priority);
  return {
    name, kind, type, priority,
    versions: same.map(({ typeVersion }) => typeVersion),
    jobs: same.flatMap(({ jobs }) => jobs.filter(hasShare)),
    isCut: same.some(({ isCut }) => isCut),
  };
}

/** Returns a lane with these jobs of a group, in the order of turns. */
export function laneInTurns({ name, isCut }: Pick<ShareGroup, 'name' | 'isCut'>, jobs: readonly WaitingJob[], stop: Stop): GateLane {
  const ordered = jobs.toSorted(byClaimOrder);
  const inOrder = jobsInTurns(ordered, stop);
  return {
    isCut: isCut && jobs.length > 0,
    jobs: inOrder.map(({ job, share }, index) => ({ ...job, turn: { rank: rankOf(ordered[index]!), group: name, share } })),
  };
}

const rankOf = ({ id, priority, due }: WaitingJob): Rank => ({ id, priority, due });

interface SharedJob {
  readonly job: WaitingJob;
  readonly share: FairShare;
}

/** Puts jobs, which are in claim order, in the order of turns, beginning where the last claim stopped. */
function jobsInTurns(jobs: readonly WaitingJob[], stop: Stop): SharedJob[] {
  const shared = jobs.map((job) => ({ job, share: encodedShare(job.gate)! }));
  let waiting = keysFrom(stop, Map.groupBy(shared, ({ share }) => share.key));
  const inOrder: SharedJob[] = [];
  for (let taken = waiting[0]?.[0]?.share.key === stop.key ? stop.taken : 0; waiting.length > 0; ) {
    waiting = waiting.flatMap((ofKey) => {
      const count = ofKey[0]!.share.weight - taken;
      taken = 0;
      inOrder.push(...ofKey.slice(0, count));
      return ofKey.length > count ? [ofKey.slice(count)] : [];
    });
  }
  return inOrder;
}

/** Returns the jobs of each key, in the order of the keys, beginning with the key whose turn it is. */
function keysFrom({ key, taken }: Stop, byKey: ReadonlyMap<string, SharedJob[]>): SharedJob[][] {
  const isPassed = (each: string): boolean => each < key || (each === key && taken >= byKey.get(each)![0]!.share.weight);
  const keys = [...byKey.keys()].sort();
  return [...keys.filter((each) => !isPassed(each)), ...keys.filter(isPassed)].map((each) => byKey.get(each)!);
}

/**
 * How many keys without a due job one claim passes. Keys whose jobs are all due later cannot be skipped by the index. The
 * next claim continues behind them.
 */
export const emptyKeysMax = 256;

/**
 * Returns the jobs of a claim that has passed `emptyKeysMax` keys: those that it found, and others that it read. They have
 * no turns; the next claim continues behind the passed keys.
 */
function withReadJobs(found: readonly WaitingJob[], read: readonly WaitingJob[]): readonly WaitingJob[] {
  const known = new Set(found.map(({ id }) => id));
  return [...found, ...read.filter(({ id }) => !known.has(id))].sort(byClaimOrder);
}

/** The keys that a claim of a cut group has visited. */
export interface FirstJobs {
  /** The first due job of each key that has one, in the order of the keys from the stop on. */
  readonly firsts: readonly WaitingJob[];
  /** Whether all keys were visited. */
  readonly isWhole: boolean;
  readonly last: string;
}

/** Returns the lane of a cut group; `jobs` are those that `ShareRound` has chosen. */
export function cutLane(
  group: ShareGroup,
  jobs: readonly WaitingJob[],
  { firsts, isWhole, last }: FirstJobs,
  stops: ShareStops,
  limit: number,
): GateLane {
  const lane = laneInTurns(group, jobs, stops.of(group.name));
  if (isWhole || firsts.length > limit) return { ...lane, jobs: lane.jobs.slice(0, limit) };
  stops.stopAt(group.name, { key: last, taken: Infinity });
  return { jobs: withReadJobs(jobs, group.jobs), isCut: true };
}

/** How many keys at least the store is asked to read more jobs of; doubled each time. */
const firstSpan = 8;

/**
 * The jobs of a cut group that the keys with the next turns start. It begins with the first due job of each key. The
 * store reads more jobs of the keys that `wanted` returns, until it returns none. Keys with the next turns come first, so
 * that the number of jobs read follows from `limit`, not from the number of keys and their weights.
 */
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
   * `firsts`: in the order of the keys, beginning with the key of `stop`. `isWhole`: these are all keys with due jobs, so
   * that one claim may give them several turns.
   */
  constructor(firsts: readonly WaitingJob[], stop: Stop, limit: number, isWhole: boolean) {
    const isPassed = (job: WaitingJob): boolean => keyOf(job) === stop.key && stop.taken >= weightOf(job);
    const inOrder = [...firsts.filter((job) => !isPassed(job)), ...firsts.filter(isPassed)];
    this.#jobs = new Map(inOrder.map((job) => [keyOf(job), [job]]));
    this.#limit = limit;
    this.#isWhole = isWhole;
  }

  get jobs(): readonly WaitingJob[] {
    return [...this.#jobs.values()].flat();
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
      if (this.#isRead(key, count)) found += jobs.length;
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
    return [...this.#jobs].some(([key, jobs]) => jobs.length >= this.#askedOf(key) && jobs.length < this.#limit);
  }

  #askedOf(key: string): number {
    return this.#asked.get(key) ?? 1;
  }
}

export interface KeyCount {
  readonly key: string;
  readonly count: number;
}

const keyOf = ({ gate }: WaitingJob): string => encodedShare(gate)!.key;
const weightOf = ({ gate }: WaitingJob): number => encodedShare(gate)!.weight;
