/**
 * Creating runs that follow other runs, with the edges between them, in one commit. A run that is followed for the first
 * time is changed in the same commit, guarded by its version: it cannot end or be reopened between the read and the
 * commit. A run that was followed before is not changed, so that many followers can be created at once; the edge to it
 * is stored open, and closed after the commit if the run has ended.
 */
import { applyTogether } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edge, Following, Link } from '../model/following.ts';
import type { Job } from '../model/job.ts';
import { create, step, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { FlowRuns, Writer } from '../store/store.ts';
import type { Draft } from './draft.ts';
import { checkDrafts, newJobs, type Creator } from './new-jobs.ts';
import { proceedAll } from './proceed.ts';

/** A draft of a run, with the runs that it follows. */
export interface FlowDraft {
  readonly draft: Draft;
  readonly after: readonly FollowedRun[];
  readonly follows: Following;
}

/** A run to follow: a stored one by its id, or one of the same flow by its place in the list of drafts. */
export interface FollowedRun {
  readonly run: { readonly id: number } | { readonly index: number };
  /** The parts of its result that become parts of the follower's input. */
  readonly links: readonly Link[];
}

export const flowRunsMax = 100_000;
export const edgesMax = 100_000;

/** Creates the runs of a flow; returns them in the order of the drafts. */
export async function createFlow(creator: Creator, drafts: readonly FlowDraft[], by: string): Promise<readonly Job[]> {
  if (drafts.length === 0) throw new Refusal('malformed.flow', 'a flow has at least one run: add one');
  return createTogether(creator, drafts, by, (runs) => [flowOf(runs)]);
}

/** The first run of a flow gives it its id. */
export const flowOf = (runs: readonly Job[]): FlowRuns => ({ id: runs[0]!.id, runs: runs.map(({ id }) => id) });

/** Refuses drafts that `createTogether` would refuse in every store. */
export function checkTogether(creator: Creator, drafts: readonly FlowDraft[], by: string): void {
  checkSize(drafts);
  checkDrafts(creator, drafts.map(({ draft }) => draft), by);
}

/** Creates all runs in one commit, and records which of them belong to flows. */
export async function createTogether(
  creator: Creator,
  drafts: readonly FlowDraft[],
  by: string,
  flowsOf: (runs: readonly Job[]) => readonly FlowRuns[],
): Promise<readonly Job[]> {
  checkSize(drafts);
  const { store } = creator;
  const fresh = (await newJobs(creator, drafts.map(({ draft }) => draft), by)).map(({ after }) => after!);
  const plan = new FlowPlan(drafts, fresh);
  const flows = flowsOf(fresh);
  const changes = await applyTogether(
    store, () => plan.decide(store, { by, now: store.now() }), () => ({ edges: plan.edges, flows }),
  );
  const closed = plan.unguarded.length === 0 ? [] : await store.closeEdges(plan.unguarded);
  const ready = [...new Set([...plan.stalled, ...closed])];
  await proceedAll(store, ready, { by });
  const jobs = changes.slice(0, fresh.length).map(({ after }) => after!);
  if (ready.length === 0) return jobs;
  const own = new Set(fresh.map(({ id }) => id));
  const stored = new Map((await store.load(ready.filter((id) => own.has(id)))).map((job) => [job.id, job]));
  return jobs.map((job) => stored.get(job.id) ?? job);
}

function checkSize(drafts: readonly FlowDraft[]): void {
  const edges = drafts.reduce((sum, { after }) => sum + after.length, 0);
  if (drafts.length <= flowRunsMax && edges <= edgesMax) return;
  const message = `a flow has at most ${flowRunsMax} runs and ${edgesMax} edges: ` +
    'let a run without work follow many runs, and be followed by many';
  throw new Refusal('malformed.flow', message, { runs: drafts.length, edges });
}

class FlowPlan {
  readonly #drafts: readonly FlowDraft[];
  readonly #fresh: readonly Job[];
  /** The edges of the last decision. */
  edges: readonly Edge[] = [];
  /** The followers all of whose runs have ended before. */
  stalled: readonly number[] = [];
  /** The stored runs that were followed before, and may end or be reopened before the commit. */
  unguarded: readonly number[] = [];

  constructor(drafts: readonly FlowDraft[], fresh: readonly Job[]) {
    this.#drafts = drafts;
    this.#fresh = fresh;
  }

  /** Returns the changes: first those of the new runs, in their order, then those of stored runs that are followed. */
  async decide(store: Writer, asking: Asking): Promise<readonly Change[] | Refusal> {
    const counts = this.#followersOf();
    const own = new Set(this.#fresh.map(({ id }) => id));
    const given = [...counts.keys()].filter((id) => !own.has(id));
    const stored = new Map((await store.load(given)).map((job) => [job.id, job]));
    const unknown = given.find((id) => stored.get(id)?.kind !== 'run');
    if (unknown !== undefined) {
      return new Refusal('unknown.job', `there is no run ${unknown} to follow`, { id: unknown });
    }
    const child = given.map((id) => stored.get(id)!).find(({ parent }) => parent !== null);
    if (child !== undefined) {
      const message = `run ${child.id} is a child of run ${child.parent}: follow that run instead`;
      return new Refusal('malformed.flow', message, { id: child.id, parent: child.parent });
    }
    this.unguarded = [...stored.values()].filter(({ isFollowed }) => isFollowed).map(({ id }) => id);
    this.#connect(stored);
    const created = this.#fresh.map((job, index) => this.#create(job, this.#drafts[index]!, counts, asking));
    const followed = [...stored.values()].filter(({ isFollowed }) => !isFollowed)
      .map((job) => step(job, { do: 'follow', runs: counts.get(job.id)! }, asking));
    return followed.find((answer) => answer instanceof Refusal) ?? [...created, ...(followed as Change[])];
  }

  #idOf({ run }: FollowedRun): number {
    return 'id' in run ? run.id : this.#fresh[run.index]!.id;
  }

  /** How many new runs follow each run. */
  #followersOf(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { after } of this.#drafts) {
      for (const followed of after) counts.set(this.#idOf(followed), (counts.get(this.#idOf(followed)) ?? 0) + 1);
    }
    return counts;
  }

  #connect(stored: ReadonlyMap<number, Job>): void {
    const outcomeOf = (id: number): Edge['outcome'] => {
      const job = stored.get(id);
      return job?.state === 'ended' && !job.isFollowed ? job.fate : null;
    };
    this.edges = this.#drafts.flatMap(({ after }, index) => after.map((each) => {
      const followed = this.#idOf(each);
      return { follower: this.#fresh[index]!.id, followed, outcome: outcomeOf(followed), links: each.links, result: null };
    }));
    const waiting = new Set(this.edges.filter(({ outcome }) => outcome === null).map(({ follower }) => follower));
    this.stalled = [...new Set(this.edges.map(({ follower }) => follower))].filter((id) => !waiting.has(id));
  }

  #create(job: Job, { after, follows }: FlowDraft, counts: ReadonlyMap<number, number>, asking: Asking): Change {
    const { due, priority, phase } = job;
    const isWaiting = after.length > 0;
    return create({ ...job, follows: isWaiting ? follows : null }, {
      due,
      priority,
      ...(phase === 'run' ? {} : { phase }),
      ...(isWaiting ? { hold: 'runs' } : {}),
      ...(counts.has(job.id) ? { isFollowed: true } : {}),
    }, asking);
  }
}
