/**
 * Fair share: the order in which a claim takes the jobs of types with `fairness`. The jobs of one kind, type and
 * priority form a group. The keys of a group take turns in the order of their texts; in its turn, a key starts as many
 * jobs as it has weight. A round is one turn of each key. Jobs that their gates do not admit take no turn: in its turn, a
 * key starts its first jobs that are admitted, and a key without such jobs is passed (share-line.ts). Each instance
 * remembers where its last claim stopped; no instance knows the turns of others.
 *
 * A claim reads the first due jobs of each lane in any case (gate-admission.ts). If these are all due jobs of a group, it
 * has all that it needs. Otherwise the store seeks from key to key, and for each key from gate to gate, in the index
 * `job_share`, from where the last claim stopped (share-walk.ts), and reads only as many jobs as the claim can take
 * (share-round.ts).
 *
 * Among the jobs of other types, the turns of a group have the places of its first jobs in claim order: the first turn
 * has the place of the job that was due first, whichever job has the first turn.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import { encodedShare } from '../model/gate.ts';
import type { ShareStops } from './share-stops.ts';
import type { GatedType, GateLane, Rank, ShareTurn, WaitingJob } from './waiting-job.ts';

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
  const groups = Map.groupBy(shared, groupName);
  const others = lanes.map((lane) => (shared.includes(lane) ? withoutShares(lane) : lane));
  return { groups: [...groups].map(([name, same]) => groupOf(name, same, lanes)), others };
}

export const groupName = ({ kind, type, priority }: Pick<ShareGroup, 'kind' | 'type' | 'priority'>): string =>
  `${priority} ${kind} ${type}`;

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

/** Returns the keys of these jobs, encoded, each once. */
export const keysOf = (jobs: readonly WaitingJob[]): string[] =>
  [...new Set(jobs.map(({ gate }) => encodedShare(gate)!.key))].sort();
