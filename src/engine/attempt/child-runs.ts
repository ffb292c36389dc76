/**
 * Child runs: the runs that a handler starts as children of its own run. They are stored when the handler has returned,
 * in one commit that makes the run wait for them. The details of such a run are the value that its handler returned.
 */
import { checkFields } from '../../jobs/checks/values.ts';
import type { Draft } from '../../jobs/draft.ts';
import { newJobs } from '../../jobs/new-jobs.ts';
import { planTasks } from '../../jobs/work.ts';
import type { Jobs } from '../../jobs.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { isOpen, type Job } from '../../model/job.ts';
import { jsonText } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { pagesOf } from '../../store/paging.ts';
import { childRequestNames, type ChildRequest } from '../declare/child-request.ts';
import type { AnyJobType, ChildRuns, EndedChild, EndedChildren, JobType } from '../declare/job-type.ts';
import { HandedOff, type Context } from '../handler/context.ts';
import { throwIfSleeping } from '../handler/errors.ts';
import type { Attempt } from './attempt.ts';

/** Returns the draft of a run of a type, and the jobs to which it belongs. */
export type DraftChild = (
  type: AnyJobType, request: ChildRequest<unknown>,
) => Promise<{ readonly draft: Draft; readonly jobs: Jobs }>;

export interface ChildRunsParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly draftChild: DraftChild;
}

export const childrenMax = 1_000;

interface AddedChild {
  readonly type: AnyJobType;
  readonly request: ChildRequest<unknown>;
}

/** The children that one attempt has added. */
export class AddedChildren implements ChildRuns {
  readonly #parent: JobType;
  readonly #children: AddedChild[] = [];

  constructor(parent: JobType) {
    this.#parent = parent;
  }

  get size(): number {
    return this.#children.length;
  }

  get all(): readonly AddedChild[] {
    return this.#children;
  }

  readonly add = (type: AnyJobType, request: ChildRequest<unknown> = {}): void => {
    refuseBlocking(this.#parent, type);
    if (this.#children.length === childrenMax) throw tooMany(this.#parent);
    this.#children.push({ type, request: checkFields('the request of a child', request, childRequestNames) });
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
  const shared = child.options.limits?.find(({ name, values }) => values?.concurrency != null && own.has(name));
  const { concurrency, limit, onePerType } = child.options;
  const isOwnType = child.name === parent.name && (concurrency !== undefined || limit !== undefined || onePerType === true);
  if (shared === undefined && !isOwnType) return;
  const what = shared === undefined ? `the limit of ${child.name}` : `the limit ${shared.name}`;
  const message =
    `a run of ${parent.name} cannot have a child of ${child.name}: it would keep its place in ${what} while the child waits ` +
    'for one; limit only one of them';
  throw new Refusal('malformed.option', message, { type: parent.name, child: child.name });
}

/** Stores the children and makes the run wait for them, in one commit. `beforeStored` is called before that commit. */
export async function planChildren(
  { jobs, by, draftChild }: ChildRunsParts,
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
  const drafts: Draft[] = [];
  for (const { type, request } of children.all) {
    const drafted = await draftChild(type, request);
    if (drafted.jobs !== jobs) throw otherStore(job, type);
    drafts.push(drafted.draft);
  }
  const tasks = await newJobs(jobs, drafts, by, job.id);
  attempt.signal.throwIfAborted();
  await beforeStored();
  await planTasks(jobs.store, job, { fence, tasks, details, by });
}

function otherStore({ id }: Job, { name }: AnyJobType): Refusal {
  const message = `run ${id} is kept in memory and a run of ${name} is not: both must be in the same store`;
  return new Refusal('malformed.option', message, { id, type: name });
}

/** Returns the result of a run whose children have ended: that of `jobResults`, or what `run` returned. */
export async function gatherChildren(
  { jobs }: Pick<ChildRunsParts, 'jobs'>,
  type: JobType,
  { job }: Attempt,
  context: Context,
  input: unknown,
): Promise<unknown> {
  const details = job.details === null ? undefined : parsePayload(job.details, `the details of run ${job.id}`);
  const { jobResults } = type.options;
  if (jobResults === undefined) return details;
  const children = await endedChildren(jobs, job.id);
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
