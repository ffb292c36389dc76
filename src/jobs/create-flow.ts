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
import { isRefusal, Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';
import { createJobs, type Created } from './create.ts';
import type { Draft } from './draft.ts';
import { followerDrafts, followerPlan, followingOf, linksTo, type FollowedStart } from './follower-runs.ts';
import { newJobs, type Creator } from './new-jobs.ts';
import { proceedAll } from './proceed.ts';
import { registered } from './tick-knowledge.ts';

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
  return createTogether(creator, drafts, by, true);
}

/**
 * Creates one run that follows others. If its unique key is taken, returns the job that has the key, which follows
 * what it followed before.
 */
export async function createFollower(creator: Creator, draft: FlowDraft, by: string): Promise<Created> {
  refuseUpdate(draft);
  return createLeading(creator, draft, [], by);
}

/**
 * Creates a run of a definition together with runs of the definitions that follow it, as a tick does. If its unique key
 * is taken, the job that has the key keeps the followers that it has.
 */
export async function createWithFollowers(
  creator: Creator,
  draft: FlowDraft,
  { def, creating }: Pick<FollowedStart, 'def' | 'creating'>,
  by: string,
): Promise<Created> {
  const { store } = creator;
  await store.synchronize?.();
  const plan = await followerPlan(store, def, registered(creator));
  const followers = await followerDrafts(plan, { def, nominal: null, now: store.now(), by, creating });
  const drafts = followers.flatMap(({ draft: own, name, spec }) => (typeof own === 'string' ? [] : [{ draft: own, name, spec }]));
  const indexes = new Map([[def.def!, 0], ...drafts.map(({ name }, index) => [name, index + 1] as const)]);
  const isUpdate = draft.draft.unique?.onTaken === 'update';
  if (draft.after.length > 0) refuseUpdate(draft);
  const created = await createLeading(creator, draft, drafts.map(({ draft: own, spec }) => ({
    draft: own,
    after: spec.after!.map((name) => ({ run: { index: indexes.get(name)! }, links: linksTo(name, spec) })),
    follows: followingOf(spec),
  })), by);
  return created.outcome === 'existing' && isUpdate ? (await createJobs(creator, [draft.draft], by))[0]! : created;
}

function refuseUpdate({ draft: { unique } }: FlowDraft): void {
  if (unique?.onTaken !== 'update') return;
  const message = 'a run that follows others cannot update the run that has its key: leave out onTaken';
  throw new Refusal('malformed.option', message, { key: unique.key });
}

/** Creates a run and those that follow it. If its unique key is taken, returns the job that has the key. */
async function createLeading(creator: Creator, draft: FlowDraft, rest: readonly FlowDraft[], by: string): Promise<Created> {
  try {
    const [job] = await createTogether(creator, [draft, ...rest], by, rest.length > 0);
    return { id: job!.id, outcome: 'created', job: job! };
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'taken.key' || draft.draft.unique === undefined) throw error;
    const id = Number(error.detail['id']);
    return { id, outcome: 'existing', job: (await creator.store.load([id]))[0] ?? null };
  }
}

async function createTogether(
  creator: Creator,
  drafts: readonly FlowDraft[],
  by: string,
  isFlow: boolean,
): Promise<readonly Job[]> {
  checkSize(drafts);
  const { store } = creator;
  const fresh = (await newJobs(creator, drafts.map(({ draft }) => draft), by)).map(({ after }) => after!);
  const plan = new FlowPlan(drafts, fresh);
  const flow = isFlow ? { flows: [{ id: fresh[0]!.id, runs: fresh.map(({ id }) => id) }] } : {};
  const changes = await applyTogether(
    store, () => plan.decide(store, { by, now: store.now() }), () => ({ edges: plan.edges, ...flow }),
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
