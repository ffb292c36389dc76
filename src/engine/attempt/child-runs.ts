/**
 * Child runs: the runs that a handler starts as children of its own run. They are stored when the handler has returned,
 * in one commit that makes the run wait for them. The details of such a run are the value that its handler returned.
 */
import type { Draft } from '../../jobs/draft.ts';
import { newJobs } from '../../jobs/new-jobs.ts';
import { readLimit } from '../../jobs/limits.ts';
import { planTasks } from '../../jobs/work.ts';
import type { Jobs } from '../../jobs.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { isOpen, type Job } from '../../model/job.ts';
import { jsonText } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { pagesOf } from '../../store/paging.ts';
import { addedTooLate, checkedChild, type AddedChild } from '../declare/added-child.ts';
import type { ChildRequest } from '../declare/child-request.ts';
import type { AnyJobType, ChildRuns, EndedChild, EndedChildren, JobType } from '../declare/job-type.ts';
import { HandedOff, type Context } from '../handler/context.ts';
import { throwIfSleeping } from '../handler/errors.ts';
import type { Limit } from '../declare/limit.ts';
import type { Attempt } from './attempt.ts';
import { limitUsesOf } from './limit-use.ts';
import { upgradeOf } from './phases.ts';

/** Returns the draft of a run of a type, and the jobs to which it belongs. */
export type DraftChild = (
  type: AnyJobType, request: ChildRequest<unknown>,
) => Promise<{ readonly draft: Draft; readonly jobs: Jobs }>;

export interface ChildRunsParts {
  readonly jobs: Jobs;
  readonly by: string;
  /** Returns a function for the children of one run: what they have in common is looked up once. */
  readonly draftChildren: () => DraftChild;
}

export const childrenMax = 1_000;

/** The children that one attempt has added. */
export class AddedChildren implements ChildRuns {
  readonly #parent: JobType;
  readonly #attempt: Attempt;
  readonly #children: AddedChild[] = [];
  #isClosed = false;

  constructor(parent: JobType, attempt: Attempt) {
    this.#parent = parent;
    this.#attempt = attempt;
  }

  get size(): number {
    return this.#children.length;
  }

  get all(): readonly AddedChild[] {
    return this.#children;
  }

  /** Call when the handler has returned: later children would be lost. */
  close(): void {
    this.#isClosed = true;
  }

  readonly add = (type: AnyJobType, request: ChildRequest<unknown> = {}): void => {
    const { id } = this.#attempt.job;
    if (this.#isClosed) throw addedTooLate(id, 'its handler has returned');
    if (this.#attempt.isCompleting) throw addedTooLate(id, 'complete() was called');
    const child = checkedChild(type, request);
    refuseBlocking(this.#parent, type);
    if (this.#children.length === childrenMax) throw tooMany(this.#parent);
    this.#children.push(child);
    this.#attempt.refuseCompletion(`run ${id} has added children and cannot be completed by complete()`);
  };
}

function tooMany({ name }: JobType): Refusal {
  const message = `a run of ${name} can have at most ${childrenMax} children: let children have children, or use tasks`;
  return new Refusal('malformed.option', message, { type: name });
}

/**
 * Refuses a child that its run would block: a run keeps its places in limits on the number of running jobs while it
 * waits for its children.
 */
function refuseBlocking(parent: JobType, child: AnyJobType): void {
  const own = new Set(parent.options.limits?.map(({ name }) => name));
  const shared = namedLimits(child).find(({ name, values }) => values?.concurrency != null && own.has(name));
  if (shared !== undefined) throw blocked(parent.name, child, `the limit ${shared.name}`);
  if (child.name === parent.name && hasOwnLimit(child)) throw blocked(parent.name, child, `the limit of ${child.name}`);
}

/** The named limits of the runs of a type, and of their tasks. */
const namedLimits = ({ options: { limits = [], taskLimits = [] } }: AnyJobType): readonly Limit[] => [...limits, ...taskLimits];

const hasOwnLimit = ({ options: { concurrency, limit, onePerType } }: AnyJobType): boolean =>
  concurrency !== undefined || limit !== undefined || onePerType === true;

function blocked(holder: string, { name: child }: AnyJobType, what: string): Refusal {
  const message =
    `a run of ${holder} cannot have a child of ${child}: it would keep its place in ${what} while the child waits ` +
    'for one; limit only one of them';
  return new Refusal('malformed.option', message, { type: holder, child });
}

/**
 * Refuses children that wait for a place that the run or one of its ancestors keeps: all of them wait for these children.
 * The values of named limits are those in force: operators can add a concurrency.
 */
async function refuseBlocked({ store }: Jobs, run: Job, children: AddedChildren): Promise<void> {
  const limited = [...new Set(children.all.map(({ type }) => type))].filter((type) =>
    hasOwnLimit(type) || namedLimits(type).length > 0);
  const isLimiting = new Map<string, boolean>();
  for (let holder: Job | undefined = limited.length === 0 ? undefined : run; holder !== undefined; ) {
    const { id, type: name, parent } = holder;
    const kept = new Set(limitUsesOf(holder).map((use) => use.name));
    for (const type of limited) {
      if (id !== run.id && type.name === name && hasOwnLimit(type)) throw blocked(name, type, `the limit of ${name}`);
      for (const limit of namedLimits(type).filter((each) => kept.has(each.name))) {
        if (!isLimiting.has(limit.name)) {
          isLimiting.set(limit.name, (await readLimit(store, limit.name))?.values.concurrency != null);
        }
        if (isLimiting.get(limit.name)) throw blocked(name, type, `the limit ${limit.name}`);
      }
    }
    holder = parent === null ? undefined : (await store.load([parent]))[0];
  }
}

/** Stores the children and makes the run wait for them, in one commit. `beforeStored` is called before that commit. */
export async function planChildren(
  { jobs, by, draftChildren: drafting }: ChildRunsParts,
  type: JobType,
  attempt: Attempt,
  children: AddedChildren,
  returned: unknown,
  beforeStored: () => Promise<void>,
): Promise<void> {
  const { job, holding: { fence } } = attempt;
  if (returned instanceof HandedOff) {
    throw new Refusal('malformed.option', `run ${job.id} has added children and cannot be handed off`, { id: job.id });
  }
  const details = jsonText(returned);
  await attempt.steps?.end();
  throwIfSleeping(attempt);
  attempt.signal.throwIfAborted();
  await refuseBlocked(jobs, job, children);
  const draftChild = drafting();
  const drafts: Draft[] = [];
  for (const { type: childType, request } of children.all) {
    const drafted = await draftChild(childType, request);
    if (drafted.jobs !== jobs) throw otherStore(job, childType);
    drafts.push(drafted.draft);
  }
  const tasks = await newJobs(jobs, drafts, by, job.id);
  attempt.signal.throwIfAborted();
  await beforeStored();
  await planTasks(jobs.store, job, { fence, tasks, details, by, ...upgradeOf(type, job) });
}

function otherStore({ id }: Job, { name }: AnyJobType): Refusal {
  const message = `run ${id} is kept in memory and a run of ${name} is not: both must be in the same store`;
  return new Refusal('malformed.option', message, { id, type: name });
}

/**
 * Returns the result of a run whose children have ended: that of `jobResults`, or what `run` returned. `checkHeld` throws
 * if this instance may no longer hold the run: the lease may have lapsed while the children were read.
 */
export async function gatherChildren(
  { jobs }: Pick<ChildRunsParts, 'jobs'>,
  type: JobType,
  { job }: Attempt,
  context: Context,
  input: unknown,
  checkHeld: () => void,
): Promise<unknown> {
  const details = job.details === null ? undefined : parsePayload(job.details, `the details of run ${job.id}`);
  const { jobResults } = type.options;
  if (jobResults === undefined) return details;
  const children = await endedChildren(jobs, job.id);
  checkHeld();
  return jobResults({ ...context, input, details, children });
}

async function endedChildren(jobs: Jobs, run: number): Promise<EndedChildren> {
  const all: (EndedChild<unknown> & { readonly type: string })[] = [];
  for await (const page of pagesOf(jobs, { parent: run })) {
    for (const job of page) if (!isOpen(job)) all.push(endedChild(job));
  }
  all.sort((a, b) => a.id - b.id);
  return {
    all,
    of: <Result>({ name }: JobType<never, Result>) => all.filter(({ type }) => type === name) as EndedChild<Result>[],
  };
}

const endedChild = (job: Extract<Job, { state: 'ended' }>): EndedChild<unknown> => ({
  id: job.id,
  type: job.type,
  input: parsePayload(job.input, `the input of run ${job.id}`),
  fate: job.fate,
  result: job.result === null ? null : parsePayload(job.result, `the result of run ${job.id}`),
  error: job.error && { code: job.error.code, message: job.error.message },
});
