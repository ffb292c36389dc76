/** Reads flows: the newest ones with counts of their runs, and the runs of one with what each of them follows. */
import type { Jobs } from '../../jobs.ts';
import type { Edge } from '../../model/following.ts';
import type { Job } from '../../model/job.ts';
import { Refusal } from '../../refusal.ts';
import type { Standing } from '../../store/query.ts';
import type { FlowTally } from '../../store/store.ts';

export interface FlowSummary {
  /** The id of the flow, which is the id of its first run. */
  readonly id: number;
  /** The types of its first runs. */
  readonly types: readonly string[];
  readonly created: number;
  /** How many of its runs have each standing. */
  readonly counts: Readonly<Partial<Record<Standing, number>>>;
  /** Whether it has more runs than were counted. */
  readonly isCut: boolean;
}

export interface FlowRunStanding {
  readonly job: Job;
  /** The edges to the runs that it follows; at most `followedMax`, and `edgesMax` of all runs of a page. */
  readonly after: readonly Edge[];
}

export interface FlowPage {
  readonly id: number;
  readonly runs: readonly FlowRunStanding[];
  /** The `after` of the next page; null: this page is the last. */
  readonly next: number | null;
}

const countedMax = 1000;
const typesShown = 5;
export const followedMax = 1000;
export const edgesMax = 10_000;

export async function listFlows({ store }: Jobs, before: number | null, limit: number): Promise<readonly FlowSummary[]> {
  const flows = await store.flows(before, limit);
  const tallies = Map.groupBy(flows.length === 0 ? [] : await store.tallyFlows(flows, countedMax), ({ flow }) => flow);
  return flows.map((id) => summaryOf(id, tallies.get(id) ?? []));
}

function summaryOf(id: number, tallies: readonly FlowTally[]): FlowSummary {
  const counts: Partial<Record<Standing, number>> = {};
  for (const { standing, count } of tallies) counts[standing] = (counts[standing] ?? 0) + count;
  const sorted = tallies.toSorted((a, b) => a.first - b.first);
  const types = [...new Set(sorted.map(({ type }) => type))].slice(0, typesShown);
  const isCut = tallies.reduce((sum, { count }) => sum + count, 0) === countedMax;
  return { id, types, created: sorted[0]?.created ?? 0, counts, isCut };
}

export async function readFlow({ store }: Jobs, id: number, after: number, limit: number): Promise<FlowPage> {
  const ids = await store.flowRuns(id, after, limit);
  if (ids.length === 0 && after === 0) throw new Refusal('unknown.flow', `there is no flow ${id}`, { id });
  const jobs = (await store.load(ids)).toSorted((a, b) => a.id - b.id);
  const followers = jobs.filter(({ follows }) => follows !== null).map((job) => job.id);
  const edges = Map.groupBy(await edgesOf(store, followers), ({ follower }) => follower);
  const runs = jobs.map((job) => ({ job, after: (edges.get(job.id) ?? []).slice(0, followedMax) }));
  return { id, runs, next: ids.length === limit ? ids.at(-1)! : null };
}

const edgesOf = async (store: Jobs['store'], followers: readonly number[]): Promise<readonly Edge[]> =>
  (followers.length === 0 ? [] : store.edgesOfMany({ end: 'follower', ids: followers, limit: edgesMax }));
