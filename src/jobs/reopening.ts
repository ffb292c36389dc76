/**
 * Reopening: decides which changes reopen ended jobs with their tasks, and optionally the runs that follow them. A
 * follower that still waits, that is reopened with what it follows, or that has never started waits for its runs again.
 * Such a follower may get another input: it forgets its steps and plans its tasks anew, and the former ones are deleted.
 * So does a job that forgets a step from before its planning.
 */
import type { Change } from '../model/change.ts';
import { isEncodedPayload } from '../model/encoded-payload.ts';
import type { Edge } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import { step, type Asking } from '../model/machine.ts';
import {
  beforeSteps, gatherPrefix, isEarlyAnswer, isEndedStep, isOpenWait, unknownStep, type EndedStep, type ForgottenSteps,
  type StoredStep, type WaitEnd,
} from '../model/step.ts';
import { Refusal } from '../refusal.ts';
import { stepsPage } from '../store/step-row.ts';
import { pagesOf } from '../store/paging.ts';
import { endedStandings, type Standing } from '../store/query.ts';
import type { Batch, Store, Writer } from '../store/store.ts';
import { storedAnswer } from './answer.ts';
import { edgePages, openAgain, outcomesNow, wouldCancel, type Outcomes } from './edge-outcomes.ts';

export interface RetryScope {
  /** Reopens only those tasks that failed or were cancelled. */
  readonly only?: 'failed';
  /** Also reopens ended runs that follow the job, directly or not: all, or those that failed or were cancelled. */
  readonly downstream?: Downstream;
  /** The job forgets this step, and those that were stored after it. */
  readonly from?: string;
}

export type Downstream = 'all' | 'failed';
export const downstreams: readonly Downstream[] = ['all', 'failed'];

/** How many runs are asked for their tasks at the same time. */
const runsAtOnce = 50;

export class Reopening {
  readonly #store: Store;
  readonly #scope: RetryScope;
  readonly #runs = new Map<number, Job>();
  /** The open followers that wait again. */
  readonly #waiting = new Map<number, Job>();
  /** The ended followers of reopened runs. */
  readonly #reached = new Set<number>();
  /** The edges that change: to reopened runs, and to runs that were reopened before without their followers. */
  readonly edges: Edge[] = [];
  /** The reopened followers that wait for their runs. */
  readonly followers: number[] = [];
  /** The open runs for which these wait, except those that are reopened: they may end before the commit. */
  readonly awaited = new Set<number>();
  readonly #forgottenSteps: ForgottenSteps[] = [];
  /** The waits that are open again. */
  readonly #reopenedWaits: WaitEnd[] = [];

  constructor(store: Store, scope: RetryScope) {
    this.#store = store;
    this.#scope = scope;
  }

  /** The reopened jobs without their tasks. */
  get runs(): Iterable<number> {
    return this.#runs.keys();
  }

  /** Adds jobs, and of the jobs that follow them those that are to be reopened or that still wait. */
  async add(jobs: readonly Job[]): Promise<void> {
    for (let reached = this.#unknown(jobs); reached.length > 0; ) {
      for (const job of reached) this.#runs.set(job.id, job);
      reached = this.#unknown(await this.#followersOf(reached.filter(({ isFollowed }) => isFollowed)));
    }
  }

  #unknown(jobs: readonly Job[]): readonly Job[] {
    return jobs.filter(({ id }) => !this.#runs.has(id));
  }

  /** Returns the ended followers to reopen, some perhaps repeatedly, and notes those that wait. */
  async #followersOf(runs: readonly Job[]): Promise<readonly Job[]> {
    const ended: Job[] = [];
    for await (const page of edgePages(this.#store, 'followed', runs.map(({ id }) => id))) {
      const ids = new Set(page.map(({ follower }) => follower));
      const followers = new Map((await this.#store.load([...ids])).map((job) => [job.id, job]));
      for (const edge of page) {
        const follower = followers.get(edge.follower);
        if (follower === undefined || !this.#isAffected(follower)) continue;
        if (isOpen(follower)) {
          this.edges.push(openAgain(edge));
          this.#waiting.set(follower.id, follower);
        } else {
          this.#reached.add(follower.id);
          ended.push(follower);
        }
      }
    }
    return ended;
  }

  #isAffected(follower: Job): boolean {
    if (follower.state === 'held') return follower.hold === 'runs';
    if (follower.state !== 'ended' || this.#scope.downstream === undefined) return false;
    return this.#scope.downstream === 'all' || follower.fate !== 'succeeded';
  }

  /** What the commit of the changes also writes. */
  get alsoWritten(): Pick<Batch, 'edges' | 'forgottenSteps' | 'waitEnds'> {
    return {
      ...(this.edges.length === 0 ? {} : { edges: this.edges }),
      ...(this.#forgottenSteps.length === 0 ? {} : { forgottenSteps: this.#forgottenSteps }),
      ...(this.#reopenedWaits.length === 0 ? {} : { waitEnds: this.#reopenedWaits }),
    };
  }

  /** Decides the changes. Only the jobs with these ids forget steps from the given one on. */
  async decide(asking: Asking, ids: readonly number[]): Promise<readonly (Change | Refusal)[]> {
    const answers = this.#awaitAgain(asking);
    const jobs = [...this.#runs.values()];
    const outcomes = await outcomesNow(this.#store, jobs.filter((job) => this.#waits(job)).map(({ id }) => id), this.#runs);
    for (let from = 0; from < jobs.length; from += runsAtOnce) {
      const some = jobs.slice(from, from + runsAtOnce);
      const reopened = some.map((job) => {
        const from = ids.includes(job.id) ? this.#scope.from : undefined;
        return this.#reopen(job, from, outcomes.get(job.id), asking);
      });
      answers.push(...(await Promise.all(reopened)).flat());
    }
    return answers;
  }

  /** Whether a reopened job waits for the runs that it follows. One that has started keeps the input that it got. */
  #waits({ id, follows, startedAt }: Job): boolean {
    return follows !== null && (startedAt === null || this.#reached.has(id));
  }

  #awaitAgain(asking: Asking): (Change | Refusal)[] {
    const runs = new Map<number, number>();
    for (const { follower } of this.edges) runs.set(follower, (runs.get(follower) ?? 0) + 1);
    return [...this.#waiting.values()].map((job) => step(job, { do: 'await', runs: runs.get(job.id)! }, asking));
  }

  /** Reopens children, and the children of those that have some. */
  async #reopenChildren(children: readonly Job[], asking: Asking): Promise<readonly (Change | Refusal)[]> {
    const answers: (Change | Refusal)[] = [];
    for (const child of children) {
      const own = child.kind === 'run' && child.startedAt !== null ? await this.#childrenOf(child, false) : [];
      const forgotten = allForgotten(child);
      if (forgotten !== null) this.#forgottenSteps.push(forgotten);
      this.#reopenedWaits.push(...(await waitsToReopen(this.#store, child, asking.now)));
      answers.push(step(child, { do: 'retry', reopens: own.length }, asking), ...(await this.#reopenChildren(own, asking)));
    }
    return answers;
  }

  #childrenOf(job: Job, isAll: boolean): Promise<Job[]> {
    return tasksToReopen(this.#store, job, isAll ? undefined : this.#scope.only);
  }

  async #reopen(
    job: Job,
    from: string | undefined,
    outcomes: Outcomes | undefined,
    asking: Asking,
  ): Promise<readonly (Change | Refusal)[]> {
    const isAnew = outcomes !== undefined && !isOpen(job) && job.startedAt !== null;
    const first = from === undefined || isAnew || isOpen(job) ? undefined : await findStep(this.#store, job, from);
    if (first === null) return [unknownStep(job.id, from!)];
    const forgotten = isAnew ? everyStep(job) : first === undefined ? allForgotten(job) : stepsFrom(job, first);
    if (!isOpen(job) && outcomes !== undefined) {
      if (wouldCancel(job.follows, outcomes)) return [cancelledAgain(job, outcomes)];
      this.followers.push(job.id);
      this.edges.push(...outcomes.stale);
      for (const id of outcomes.open) if (!this.#runs.has(id)) this.awaited.add(id);
    }
    // A job that has never started has no tasks.
    if (forgotten !== null) this.#forgottenSteps.push(forgotten);
    this.#reopenedWaits.push(...(await waitsToReopen(this.#store, job, asking.now, forgotten?.from)));
    const plansAnew = outcomes !== undefined || (first !== undefined && isBeforePlan(job, first));
    const children = isOpen(job) || job.startedAt === null ? [] : await this.#childrenOf(job, plansAnew);
    if (outcomes !== undefined) return [reopenedFollower(job, outcomes, from, asking), ...children.map(removal)];
    const kept = plansAnew ? [] : children;
    const planning = plansAnew ? planningOf(job) : {};
    return [
      step(job, { do: 'retry', reopens: kept.length, ...planning, ...(from === undefined ? {} : { from }) }, asking),
      ...(plansAnew ? children.map(removal) : await this.#reopenChildren(kept, asking)),
      ...(job.parent === null ? [] : [await askParent(this.#store, job, asking)]),
    ];
  }
}

const removal = (before: Job): Change => ({ before, after: null, events: [] });

/** Reopens a job that waits for the runs that it follows. */
function reopenedFollower(
  job: Job,
  { open }: Outcomes,
  from: string | undefined,
  asking: Asking,
): Change | Refusal {
  return step(job, { do: 'retry', reopens: 0, awaits: open.length, ...planningOf(job), ...(from === undefined ? {} : { from }) }, asking);
}

/** The phase in which a job that has planned begins anew. It may have planned no task and no child. */
function planningOf({ phase, details }: Job): { readonly plansIn?: 'prepare' | 'run' } {
  if (phase === 'gather') return { plansIn: 'prepare' };
  return details === null ? {} : { plansIn: 'run' };
}

/** Whether the step belongs to the planning of the tasks or children that the job has. */
const isBeforePlan = (job: Job, { name }: StoredStep): boolean =>
  planningOf(job).plansIn !== undefined && !name.startsWith(gatherPrefix);

const stepsFrom = ({ id, generation }: Job, { n }: StoredStep): ForgottenSteps => ({ job: id, from: n, generation: generation + 1 });

/**
 * Finds a finished step or an open question by its name. An answer for which no handler has asked is none, and has no
 * place among the steps.
 */
async function findStep(store: Store, { id }: Job, name: string): Promise<StoredStep | null> {
  const found = await store.stepNamed(id, name);
  return found !== undefined && (isEndedStep(found) || isOpenWait(found)) && !isEarlyAnswer(found) ? found : null;
}

/**
 * Returns the waits that made the job fail because nobody answered in time: its handler asks again. A wait after whose
 * end a step has begun stays as it is, because the handler has caught the error and went on. Waits from the number
 * `before` on are forgotten.
 */
async function waitsToReopen(store: Store, job: Job, at: number, before = Infinity): Promise<readonly WaitEnd[]> {
  if (before === 0 || job.state !== 'ended' || job.fate !== 'failed' || !hasTimedOutWait(job)) return [];
  const steps = (await Array.fromAsync(stepPages(store, job.id))).flat().filter((step) => isEndedStep(step) && !isEarlyAnswer(step)) as EndedStep[];
  const [timedOut, others] = [steps.filter(isTimedOut), steps.filter((step) => !isTimedOut(step))];
  const lastBegin = others.reduce((last, { startedAt }) => Math.max(last, startedAt), 0);
  return timedOut.filter(({ n, endedAt }) => n < before && endedAt > lastBegin).map(({ name }) => ({ job: job.id, name, at, result: null }));
}

const hasTimedOutWait = ({ error }: Job): boolean =>
  [error, ...(error?.causes ?? [])].some((one) => one?.name === timedOutName);

/** The name of the error that `waitFor` throws. */
const timedOutName = 'AnswerTimedOut';

/** A process that cannot decode the end of a wait leaves it as it is. */
const isTimedOut = ({ name, kind, result }: StoredStep): boolean =>
  kind === 'wait' && result !== null && !isEncodedPayload(result) && 'timedOut' in storedAnswer(name, result);

async function* stepPages(store: Store, id: number): AsyncGenerator<readonly StoredStep[]> {
  for (let after = beforeSteps; ; ) {
    const page = await store.steps([id], after, stepsPage);
    yield page;
    if (page.length < stepsPage) return;
    after = page.at(-1)!.n;
  }
}

const allForgotten = (job: Job): ForgottenSteps | null =>
  (job.state === 'ended' && job.fate === 'succeeded' ? everyStep(job) : null);

const everyStep = ({ id, generation }: Job): ForgottenSteps => ({ job: id, from: 0, generation: generation + 1 });

const namedMax = 10;

function cancelledAgain({ id }: Job, { unsuccessful }: Outcomes): Refusal {
  const runs = unsuccessful.slice(0, namedMax);
  const advice = runs.length === 0 ? 'create a new run instead' : `first retry run ${runs.join(', run ')}, or the whole flow`;
  const message = `run ${id} would be cancelled again, because the runs that it follows did not end as it requires: ${advice}`;
  return new Refusal('wrong.state', message, { id, runs });
}

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
