/** The phases of a run with tasks: planning the tasks, and gathering their results. */
import { newJobs } from '../../jobs/new-jobs.ts';
import { checkedInput, type Draft } from '../../jobs/draft.ts';
import { planStaged, planTasks, type Planning } from '../../jobs/work.ts';
import type { Jobs } from '../../jobs.ts';
import { isOpen, type Job } from '../../model/job.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { jsonText } from '../../model/json.ts';
import { isPromiseLike } from '../../time/maybe-promise.ts';
import type { LimitUse } from '../../model/limit.ts';
import { Refusal } from '../../refusal.ts';
import { pagesOf } from '../../store/paging.ts';
import type { Attempt } from './attempt.ts';
import type { Context } from '../handler/context.ts';
import { burstsInForce } from '../declare/bursts.ts';
import type { BurstOf } from '../declare/limit-uses.ts';
import { taskGate } from '../declare/type-registry.ts';
import type { EndedTask, JobType } from '../declare/job-type.ts';
import { shareUsesOf } from './limit-use.ts';
import { rulesOfType, type TypeRules } from '../declare/type-rules.ts';
import { currentVersion } from '../declare/upgrade.ts';
import { countTasks } from '../inspect/task-counts.ts';
import { LeaseLost, throwIfSleeping } from '../handler/errors.ts';
import { upgradedInput } from './fitting-input.ts';

/**
 * Up to this many tasks are stored in the commit that ends the planning. If a run has more tasks, all tasks are staged
 * before this commit, in batches.
 */
const tasksAtOnce = 1000;

export interface PhaseParts {
  readonly jobs: Jobs;
  readonly by: string;
}

export interface PlanningCalls {
  /** Throws if this instance may no longer hold the run: the lease may have lapsed while something was awaited. */
  readonly checkHeld: () => void;
  /** Writes the notes: the store refuses them after the commit of the tasks. */
  readonly beforeStored: () => Promise<void>;
}

/** Plans the tasks of a run and stores them. One commit makes the tasks visible and makes the run wait for them. */
export async function prepare(
  parts: PhaseParts,
  type: JobType,
  attempt: Attempt,
  context: Context,
  input: unknown,
  { checkHeld, beforeStored }: PlanningCalls,
): Promise<Job> {
  const { options } = type;
  const burstOf = await burstsInForce(parts.jobs.store, rulesOfType(type).entry.taskLimits);
  // Not behind `jobDetails`: if that blocks the event loop for long, the run would be released again and again.
  checkHeld();
  const details: unknown = await options.jobDetails?.({ ...context, input });
  attempt.signal.throwIfAborted();
  const detailsText = jsonText(details);
  const tasks = await options.taskDetails!({ ...context, input, details });
  const plan = new TaskPlan(parts, type, attempt, burstOf);
  await addTasks(plan, attempt, tasks);
  await attempt.steps?.end();
  throwIfSleeping(attempt);
  attempt.signal.throwIfAborted();
  await beforeStored();
  return plan.store(detailsText);
}

/** Adds what `taskDetails` returned: with code that is not compiled, this can be anything. */
async function addTasks(plan: TaskPlan, attempt: Attempt, tasks: unknown): Promise<void> {
  if (isAsyncIterable(tasks)) for await (const task of tasks) await addTask(plan, attempt, task);
  else if (isIterable(tasks)) await addEach(plan, attempt, tasks);
  else throw notIterable(attempt.job, tasks);
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === 'function';

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof (value as Partial<Iterable<unknown>> | null | undefined)?.[Symbol.iterator] === 'function';

function notIterable({ id, type }: Job, tasks: unknown): TypeError {
  const given = tasks === null || tasks === undefined ? String(tasks) : `a value of type ${typeof tasks}`;
  const message = `cannot plan the tasks of run ${id}: taskDetails of job type ${type} returned ${given}, ` +
    'and must return an array or another iterable';
  return new TypeError(message);
}

/** Waits only where there is something to wait for: `for await` takes three promises for each task of a plain iterable. */
async function addEach(plan: TaskPlan, attempt: Attempt, tasks: Iterable<unknown>): Promise<void> {
  for (const given of tasks) {
    const task = isPromiseLike(given) ? await given : given;
    const added = addTask(plan, attempt, task);
    if (added !== null) await added;
  }
}

function addTask(plan: TaskPlan, attempt: Attempt, task: unknown): Promise<void> | null {
  attempt.signal.throwIfAborted();
  return plan.add(task);
}

/**
 * Calls `jobResults`, which computes the result of a run from its ended tasks. Without it, the result is undefined.
 * `checkHeld`: see `PlanningCalls`.
 */
export async function gather(
  parts: PhaseParts,
  type: JobType,
  { job }: Attempt,
  context: Context,
  input: unknown,
  checkHeld: () => void,
): Promise<unknown> {
  const details = job.details === null ? undefined : parsePayload(job.details, `the details of run ${job.id}`);
  const counts = await countTasks(parts.jobs, job.id);
  checkHeld();
  return type.options.jobResults?.({ ...context, input, details, counts, tasks: endedTasks(parts.jobs, job.id) });
}

/** Yields the ended tasks of a run. Reads them in pages, because they may not fit in memory together. */
async function* endedTasks(jobs: Jobs, run: number): AsyncGenerator<EndedTask<unknown, unknown>> {
  for await (const page of pagesOf(jobs, { parent: run })) {
    for (const job of page) if (!isOpen(job)) yield endedTask(job);
  }
}

const endedTask = (job: Extract<Job, { state: 'ended' }>): EndedTask<unknown, unknown> => ({
  id: job.id,
  key: job.key,
  task: parsePayload(job.input, `the input of task ${job.id}`),
  fate: job.fate,
  result: job.result === null ? null : parsePayload(job.result, `the result of task ${job.id}`),
  error: job.error && { code: job.error.code, message: job.error.message },
});

class TaskPlan {
  readonly #parts: PhaseParts;
  readonly #type: JobType;
  readonly #run: Job;
  readonly #fence: number;
  readonly #shareUses: readonly LimitUse[];
  readonly #burstOf: BurstOf | undefined;
  readonly #rules: TypeRules;
  /** What the drafts of all tasks have. */
  readonly #shared: Omit<Draft, typeof checkedInput | 'priority'>;
  readonly #gate: NonNullable<Draft['gate']>;
  readonly #keys = new Set<string>();
  #drafts: Draft[] = [];
  #staged = 0;
  /** Resolves when the latest batch is staged. The next batch is planned meanwhile. */
  #staging: Promise<void> = Promise.resolve();

  constructor(parts: PhaseParts, type: JobType, { job, holding }: Attempt, burstOf: BurstOf | undefined) {
    this.#burstOf = burstOf;
    this.#parts = parts;
    this.#type = type;
    this.#run = job;
    this.#fence = holding.fence;
    this.#shareUses = shareUsesOf(job, type.options.taskFairness);
    const { taskConcurrency, version } = type.options;
    const { onTaskFailure: _, retentionMs: _retention, startBy: _startBy, ...policy } = job.policy;
    this.#rules = rulesOfType(type);
    this.#gate = { type: taskGate(job.type), ...(taskConcurrency === undefined ? {} : { typeMax: taskConcurrency }) };
    this.#shared = {
      kind: 'task',
      type: job.type,
      def: job.def,
      policy,
      ...(version === undefined ? {} : { typeVersion: version }),
      ...(taskConcurrency !== undefined || policy.leaderOnly ? { gate: this.#gate } : {}),
    };
  }

  /** Null: there is room for the next task. */
  add(task: unknown): Promise<void> | null {
    const draft = this.#draftOf(task);
    const { key = null } = draft;
    if (key !== null && this.#keys.size === this.#keys.add(key).size) throw sharedKey(this.#run, key);
    this.#drafts.push(draft);
    return this.#drafts.length > tasksAtOnce ? this.#stage() : null;
  }

  async store(details: string): Promise<Job> {
    const { jobs, by } = this.#parts;
    if (this.#staged === 0) {
      const tasks = await newJobs(jobs, this.#drafts, by, this.#run.id);
      return planTasks(jobs.store, this.#run, { fence: this.#fence, tasks, details, by, ...upgradeOf(this.#type, this.#run) });
    }
    await this.#stage();
    await this.#staging;
    const planning = { fence: this.#fence, count: this.#staged, details, by, ...upgradeOf(this.#type, this.#run) };
    return planStaged(jobs.store, this.#run, planning);
  }

  /** Starts to stage a batch. Waits for the previous batch first, so that at most two batches are in memory. */
  async #stage(): Promise<void> {
    await this.#staging;
    const drafts = this.#drafts.splice(0);
    this.#staged += drafts.length;
    this.#staging = this.#store(drafts);
    this.#staging.catch(() => {}); // the next `await this.#staging` throws the error
  }

  async #store(drafts: readonly Draft[]): Promise<void> {
    const { jobs, by } = this.#parts;
    const [[current], tasks] = await Promise.all([
      jobs.store.load([this.#run.id]), newJobs(jobs, drafts, by, this.#run.id),
    ]);
    if (current?.state !== 'running' || current.fence !== this.#fence) {
      throw new LeaseLost(`run ${this.#run.id} is no longer held under fence ${this.#fence}`);
    }
    await jobs.store.stageChildren(this.#run.id, this.#fence, tasks);
  }

  #draftOf(task: unknown): Draft {
    const { taskKey, taskPriority } = this.#type.options;
    const priority = taskPriority ? taskPriority(task) : this.#run.priority;
    const draft = { ...this.#shared, [checkedInput]: jsonText(task), priority };
    const ownUses = this.#rules.taskLimitUses(task, this.#burstOf);
    // Tasks with one list of uses are written together.
    const limitUses = ownUses.length === 0 ? this.#shareUses : [...ownUses, ...this.#shareUses];
    if (!taskKey && limitUses.length === 0) return draft;
    return {
      ...draft,
      ...(taskKey ? { key: taskKey(task) } : {}),
      ...(limitUses.length === 0 ? {} : { gate: this.#gate, limitUses }),
    };
  }
}

/**
 * Returns the edit of a run that plans tasks or children. Tasks have the version of this code, and so has the run from now
 * on: an instance that knows only the version of the run could neither execute the tasks nor gather results.
 */
export function upgradeOf(type: JobType, run: Job): Pick<Planning, 'edit'> {
  const typeVersion = currentVersion(type.options);
  if (run.typeVersion === typeVersion) return {};
  return { edit: { input: jsonText(upgradedInput(type, run)), typeVersion } };
}

function sharedKey({ id }: Job, key: string): Refusal {
  const message = `two tasks of run ${id} have the key ${JSON.stringify(key)}: give each task its own key`;
  return new Refusal('malformed.name', message, { id, key });
}
