/** Reads flows: the newest ones with counts of their runs, and the runs of one with what each of them follows. */
import type { Jobs } from '../../jobs.ts';
import type { Edge } from '../../model/following.ts';
import type { Job } from '../../model/job.ts';
import { Refusal } from '../../refusal.ts';
import { standingOf, type Standing } from '../../store/query.ts';

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
  /** The edges to the runs that it follows; at most `followedMax`. */
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

export async function listFlows({ store }: Jobs, before: number | null, limit: number): Promise<readonly FlowSummary[]> {
  const flows = await store.flows(before, limit);
  return Promise.all(flows.map(async (id) => {
    const ids = await store.flowRuns(id, 0, countedMax);
    const jobs = (await store.load(ids)).toSorted((a, b) => a.id - b.id);
    const counts: Partial<Record<Standing, number>> = {};
    for (const job of jobs) counts[standingOf(job)] = (counts[standingOf(job)] ?? 0) + 1;
    const types = [...new Set(jobs.map(({ type }) => type))].slice(0, typesShown);
    return { id, types, created: jobs[0]?.created ?? 0, counts, isCut: ids.length === countedMax };
  }));
}

export async function readFlow({ store }: Jobs, id: number, after: number, limit: number): Promise<FlowPage> {
  const ids = await store.flowRuns(id, after, limit);
  if (ids.length === 0 && after === 0) throw new Refusal('unknown.flow', `there is no flow ${id}`, { id });
  const jobs = (await store.load(ids)).toSorted((a, b) => a.id - b.id);
  const runs = await Promise.all(jobs.map(async (job) => ({
    job,
    after: job.follows === null ? [] : await store.edges({ follower: job.id, limit: followedMax }),
  })));
  return { id, runs, next: ids.length === limit ? ids.at(-1)! : null };
}
