/**
 * Retrying: reopens an ended job with its tasks, and optionally the runs that follow it, in one commit. A follower that
 * still waits, or is reopened as well, waits for the reopened run again.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edge } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import { step, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import { endedStandings, type Standing } from '../store/query.ts';
import type { Store, Writer } from '../store/store.ts';
import { workOf } from './work-of.ts';

export interface RetryScope {
  /** Reopens only those tasks that failed or were cancelled. */
  readonly only?: 'failed';
  /** Also reopens ended runs that follow the job, directly or not: all, or those that failed or were cancelled. */
  readonly downstream?: Downstream;
}

export type Downstream = 'all' | 'failed';
export const downstreams: readonly Downstream[] = ['all', 'failed'];

const edgePage = 1000;

/** Reopens an ended job; returns it. */
export async function retryJob(store: Store, id: number, asker: Asker, scope: RetryScope = {}): Promise<Job> {
  return (await retryJobs(store, [id], asker, scope))[0]!;
}

/** Reopens ended jobs, all in one commit. */
export async function retryJobs(
  store: Store,
  ids: readonly number[],
  asker: Asker,
  scope: RetryScope,
): Promise<readonly Job[]> {
  let edges: readonly Edge[] = [];
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const reopening = new Reopening(store, scope);
    for (const id of ids) await reopening.add(await workOf(store, id));
    const answers = await reopening.decide(asking);
    edges = reopening.edges;
    return answers.find((answer) => answer instanceof Refusal) ?? (answers as Change[]);
  }, () => (edges.length === 0 ? {} : { edges }));
  const jobs = new Map(changes.map(({ after }) => [after!.id, after!]));
  return ids.map((id) => jobs.get(id)!);
}

class Reopening {
  readonly #store: Store;
  readonly #scope: RetryScope;
  readonly #runs = new Map<number, Job>();
  readonly #waiting = new Map<number, Job>();
  /** The edges to reopened runs whose followers wait for them again. */
  edges: Edge[] = [];

  constructor(store: Store, scope: RetryScope) {
    this.#store = store;
    this.#scope = scope;
  }

  /** Adds a job, and of the jobs that follow it those that are to be reopened or that still wait. */
  async add(job: Job): Promise<void> {
    if (this.#runs.has(job.id)) return;
    this.#runs.set(job.id, job);
    for (let reached = [job]; reached.length > 0; ) {
      const next: Job[] = [];
      for (const run of reached) if (run.isFollowed) next.push(...(await this.#addFollowers(run)));
      reached = next;
    }
  }

  async #addFollowers(run: Job): Promise<readonly Job[]> {
    const added: Job[] = [];
    for (let after = 0; ; ) {
      const page = await this.#store.edges({ followed: run.id, after, limit: edgePage });
      const followers = new Map((await this.#store.load(page.map(({ follower }) => follower))).map((job) => [job.id, job]));
      for (const edge of page) {
        const follower = followers.get(edge.follower);
        if (follower === undefined || !this.#isAffected(follower)) continue;
        this.edges.push({ ...edge, outcome: null, result: null });
        if (isOpen(follower)) this.#waiting.set(follower.id, follower);
        else if (!this.#runs.has(follower.id)) {
          this.#runs.set(follower.id, follower);
          added.push(follower);
        }
      }
      if (page.length < edgePage) return added;
      after = page.at(-1)!.follower;
    }
  }

  #isAffected(follower: Job): boolean {
    if (follower.state === 'held') return follower.hold === 'runs';
    if (follower.state !== 'ended' || this.#scope.downstream === undefined) return false;
    return this.#scope.downstream === 'all' || follower.fate !== 'succeeded';
  }

  async decide(asking: Asking): Promise<readonly (Change | Refusal)[]> {
    const awaited = new Map<number, number>();
    for (const { follower } of this.edges) awaited.set(follower, (awaited.get(follower) ?? 0) + 1);
    const answers: (Change | Refusal)[] = [];
    for (const job of this.#runs.values()) {
      const tasks = isOpen(job) ? [] : await tasksToReopen(this.#store, job, this.#scope.only);
      answers.push(step(job, { do: 'retry', reopens: tasks.length, ...awaits(awaited.get(job.id)) }, asking));
      answers.push(...tasks.map((task) => step(task, { do: 'retry', reopens: 0 }, asking)));
      if (job.parent !== null) answers.push(await askParent(this.#store, job, asking));
    }
    for (const job of this.#waiting.values()) answers.push(step(job, { do: 'await', runs: awaited.get(job.id)! }, asking));
    return answers;
  }
}

const awaits = (runs: number | undefined): { readonly awaits?: number } => (runs === undefined ? {} : { awaits: runs });

/**
 * Returns the change that adds a reopened child to its parent; a refusal if the parent no longer waits for children.
 * The caller commits this change together with the child, so that the parent cannot continue in between.
 */
async function askParent(store: Writer, { id, parent }: Job, asking: Asking): Promise<Change | Refusal> {
  const [found] = await store.load([parent!]);
  if (found?.state === 'held' && found.hold === 'children') return step(found, { do: 'adopt', tasks: 1 }, asking);
  const message = `job ${id} is a child of job ${parent}, which no longer waits for it: retry job ${parent} instead`;
  return new Refusal('wrong.state', message, { id, parent });
}

async function tasksToReopen(store: Store, run: Job, only?: 'failed'): Promise<Job[]> {
  const standings: readonly Standing[] = only ? ['failed', 'cancelled'] : endedStandings;
  return (await Array.fromAsync(pagesOf(store, { parent: run.id, standings }))).flat();
}
