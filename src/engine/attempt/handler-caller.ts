/** Calls the handler of a job for its phase, in this thread or isolated, with the context and the validated input. */
import type { Job, RunningJob } from '../../model/job.ts';
import type { Logger } from '../../logger.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import type { Writable } from '../../model/writable.ts';
import type { Clock } from '../../time/clock.ts';
import { andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { ChildRequest } from '../declare/child-request.ts';
import { gathersChildren, hasTasks, type AnyJobType, type JobType } from '../declare/job-type.ts';
import type { WorkAttempt } from '../declare/middleware.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import type { AroundWork } from '../declare/work-middleware.ts';
import type { Context, JobLog, RunFacts } from '../handler/context.ts';
import { jobLog } from '../handler/job-log.ts';
import type { IsolatedCall, Isolation } from '../isolation/isolation.ts';
import type { Notes } from '../progress/notes.ts';
import type { Writer } from '../../store/store.ts';
import type { Attempt } from './attempt.ts';
import { AddedChildren, gatherChildren, planChildren, type ChildRunsParts } from './child-runs.ts';
import { completionOf, type CompletionParts } from './completion.ts';
import { phaseOf, type Execution } from './execution.ts';
import { fittingInput } from './fitting-input.ts';
import { jobLimits, limitUsesOf } from './limit-use.ts';
import { contextOf, factsOf, tickTimeOf } from './handler-context.ts';
import { outputOf, type OutputParts } from './output.ts';
import { gather, prepare, type PhaseParts } from './phases.ts';
import { gatherName, gatherPrefix } from '../../model/step.ts';
import { StepReads } from './step-reads.ts';
import { stepFunctions, type StepsParts } from './steps.ts';
import type { TaskParents } from './task-parents.ts';

export interface HandlerCallerParts extends PhaseParts, CompletionParts, ChildRunsParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isolation: Isolation;
  readonly notes: Notes;
  /** The epoch of the lease of this instance: it changes when the lease may have lapsed. */
  readonly leaseEpoch: () => symbol | null;
  /** Finds the types of children that an isolated handler adds. */
  readonly registry: Pick<TypeRegistry, 'require'>;
  readonly parents: TaskParents;
  /** Null: no middleware surrounds the attempts. */
  readonly aroundWork: AroundWork | null;
  /** Stands before the idempotency keys of the jobs, if their ids start anew with each process. */
  readonly keyPrefix?: string;
}

/** The return value of `call` after the planning phase, whose outcome is already stored together with the tasks. */
export const tasksPlanned = Symbol('tasks planned');

export class HandlerCaller {
  readonly #parts: HandlerCallerParts;
  readonly #stepReads: StepReads;
  readonly #steps: StepsParts;
  readonly #output: OutputParts;
  /** That of a gathering, whose output outside of steps has a name. */
  readonly #gatherOutput: OutputParts;

  constructor(parts: HandlerCallerParts) {
    const { jobs: { store }, clock, logger, by, notes, keyPrefix = '' } = parts;
    this.#parts = parts;
    this.#stepReads = new StepReads(store);
    this.#steps = { store, reads: this.#stepReads, clock, logger, by, keyPrefix, notes };
    this.#output = { store, notes, outside: null };
    this.#gatherOutput = { store, notes, outside: gatherName };
  }

  /** Call with jobs that were claimed together, before they start. */
  expect(jobs: readonly RunningJob[]): void {
    this.#stepReads.readAhead(jobs);
  }

  call(execution: Execution): MaybePromise<unknown> {
    const { type, attempt } = execution;
    const { job } = attempt;
    const context = this.#contextOf(execution);
    return job.kind === 'task'
      ? andThen(this.#parts.parents.of(job), (parent) => this.#callTask(execution, context, parent))
      : andThen(fittingInput(type, job), (input) => this.#callRun(execution, context, input));
  }

  /** What all attempts share is made once, by the constructor: this is done for every attempt. */
  #contextOf(execution: Execution): Context {
    const { type, attempt, tracker } = execution;
    const { job } = attempt;
    const prefix = stepPrefix(type, job);
    const { step, sleep, waitFor } = stepFunctions(this.#steps, execution, prefix);
    return contextOf(attempt, factsOf(attempt, this.#parts.keyPrefix), {
      progress: tracker,
      log: this.#logOf(attempt),
      output: outputOf(prefix === '' ? this.#output : this.#gatherOutput, attempt),
      complete: completionOf(this.#parts, execution, this.#finishNotes),
      limits: jobLimits(this.#parts.jobs.store, job),
      step, sleep, waitFor,
    });
  }

  /**
   * Throws if this instance may no longer hold the job: what the handler needs was awaited, and the lease may have lapsed
   * meanwhile. The job is then released, if it is still held.
   */
  #checkHeld({ attempt, epoch }: Execution): void {
    if (this.#parts.leaseEpoch() !== epoch) attempt.release();
    if (attempt.isEnded) attempt.signal.throwIfAborted();
  }

  #callRun(execution: Execution, context: Context, input: unknown): MaybePromise<unknown> {
    this.#checkHeld(execution);
    const { type, attempt: { job } } = execution;
    const { aroundWork } = this.#parts;
    refuseOtherShape(type, job);
    if (aroundWork === null) return this.#callPhase(execution, context, input);
    const about = { id: job.id, kind: 'run', phase: phaseOf(type, job), input, task: undefined } as const;
    return aroundWork(workAttempt(context, about), () => this.#callPhase(execution, context, input));
  }

  #callPhase(execution: Execution, context: Context, input: unknown): MaybePromise<unknown> {
    switch (phaseOf(execution.type, execution.attempt.job)) {
      case 'run':
        return this.#callParent(execution, context, input);
      case 'prepare':
        return this.#prepare(execution, context, input);
      case 'gather':
        return this.#gather(execution, context, input);
    }
  }

  #callParent(execution: Execution, context: Context, input: unknown): MaybePromise<unknown> {
    const { type, attempt } = execution;
    const children = new AddedChildren(type, attempt);
    const returned = type.options.isolate
      ? this.#callIsolated(execution, 'run', context.run, { input }, children)
      : (type.options.run!(withChildren(context, input, children)) as MaybePromise<unknown>);
    return andThen(returned, (value) => this.afterReturn(execution, children, value));
  }

  /**
   * Call with what a handler has returned that may have added children. If it has added some, stores them: the run waits
   * for them. Returns the outcome of the attempt.
   */
  afterReturn(execution: Execution, children: AddedChildren, returned: unknown): MaybePromise<unknown> {
    const { type, attempt } = execution;
    children.close();
    if (attempt.sleep !== null || attempt.isCompleted) return returned;
    if (children.size === 0 && !gathersChildren(type)) return returned;
    return this.#planChildren(execution, children, returned);
  }

  async #planChildren(execution: Execution, children: AddedChildren, returned: unknown): Promise<unknown> {
    await planChildren(this.#parts, execution.type, execution.attempt, children, returned, () => this.#finishNotes(execution));
    return tasksPlanned;
  }

  #callTask(execution: Execution, context: Context, parent: Job): MaybePromise<unknown> {
    const { type, attempt: { job } } = execution;
    const { aroundWork } = this.#parts;
    refuseOtherShape(type, job);
    const run = { ...context.run, id: parent.id, tickTime: tickTimeOf(parent), tags: { ...parent.tags } };
    const details = parent.details === null ? undefined : parsePayload(parent.details, detailsOf(parent));
    return andThen(fittingInput(type, parent), (input) => {
      this.#checkHeld(execution);
      const data = { input, details, task: parsePayload(job.input, `the input of task ${job.id}`), key: job.key };
      const handle = (): MaybePromise<unknown> => type.options.isolate
        ? this.#callIsolated(execution, 'taskResults', run, data)
        : type.options.taskResults!(Object.assign(context, { run, ...data }));
      if (aroundWork === null) return handle();
      const about = { id: job.id, kind: 'task', phase: 'run', input, task: data.task } as const;
      return aroundWork(workAttempt({ ...context, run }, about), handle);
    });
  }

  /**
   * Plans and stores the tasks. Writes progress and log lines before the commit of the tasks: this commit ends the
   * claim, and after it the store refuses notes.
   */
  async #prepare(execution: Execution, context: Context, input: unknown): Promise<unknown> {
    const { type, attempt } = execution;
    await prepare(this.#parts, type, attempt, context, input, {
      checkHeld: () => this.#checkHeld(execution),
      beforeStored: () => this.#finishNotes(execution),
    });
    return tasksPlanned;
  }

  #gather(execution: Execution, context: Context, input: unknown): Promise<unknown> {
    const { type, attempt } = execution;
    const gatherResults = hasTasks(type) ? gather : gatherChildren;
    return gatherResults(this.#parts, type, attempt, context, input, () => this.#checkHeld(execution));
  }

  /** `writer`: the transaction in which the notes are written, if it keeps the store from writing them outside. */
  readonly #finishNotes = async ({ attempt, tracker }: Execution, writer?: Writer): Promise<void> => {
    const { notes } = this.#parts;
    const { writeNotes } = writer ?? {};
    tracker.end();
    await (writeNotes ? notes.finishIn({ writeNotes }, attempt.holding) : notes.finish(attempt.holding));
  };

  #callIsolated(
    { type, attempt }: Execution,
    phase: IsolatedCall['phase'],
    run: RunFacts,
    data: IsolatedCall['data'],
    children: AddedChildren | null = null,
  ): Promise<unknown> {
    const { isolation, notes, registry } = this.#parts;
    const log = this.#logOf(attempt);
    const { idempotencyKey, fence } = factsOf(attempt, this.#parts.keyPrefix);
    const limits = jobLimits(this.#parts.jobs.store, attempt.job);
    const limitNames = limitUsesOf(attempt.job).map(({ name }) => name);
    const facts = { run, idempotencyKey, fence, token: attempt.token, limitNames };
    const call = { module: type.options.module!, type: type.name, phase, data, facts };
    const { result, kill } = isolation.run(type.options.isolate!, call, {
      signal: attempt.signal,
      onProgress: (progress) => notes.progress(attempt.holding, progress),
      onLog: (level, text) => log[level](text),
      onChild: (child, request) => children?.add(registry.require(child) as AnyJobType, request as ChildRequest<unknown>),
      onSpend: (limit, cost) => void limits.spend(limit, cost).catch((error: unknown) => {
        log.error(`cannot spend ${cost} of the limit ${limit}: ${String(error)}`);
      }),
    });
    attempt.onKill(kill);
    return result;
  }

  #logOf({ holding }: Attempt): JobLog {
    return jobLog((level, text) => this.#parts.notes.log(holding, level, text));
  }
}

type ParentContext = Parameters<NonNullable<AnyJobType['options']['run']>>[0];

/** Adds what only `run` gets. Not by `Object.assign`, which is called for every job and looks up the names of the fields. */
function withChildren(context: Context, input: unknown, children: AddedChildren): ParentContext {
  const full = context as Writable<ParentContext>;
  full.input = input;
  full.children = children;
  return full;
}

const detailsOf = ({ id }: Job): string => `the details of run ${id}`;

type WorkAbout = Pick<WorkAttempt, 'id' | 'kind' | 'phase' | 'input' | 'task'>;

type WorkContext = Pick<Context, 'run' | 'signal' | 'log' | 'idempotencyKey' | 'fence'>;

export const workAttempt = ({ run, signal, log, idempotencyKey, fence }: WorkContext, about: WorkAbout): WorkAttempt =>
  ({ ...about, run, signal, log, idempotencyKey, fence });

/** The planning and the gathering of a run have steps of their own, which may have the same names. */
const stepPrefix = (type: JobType, job: Job): string =>
  (job.kind === 'run' && phaseOf(type, job) === 'gather' ? gatherPrefix : '');

/** Throws for a task, and for a run that plans or gathers tasks, if the code of the type no longer has tasks. */
function refuseOtherShape(type: JobType, { id, kind, phase }: Job): void {
  if (hasTasks(type) || (kind === 'run' && phase === 'run')) return;
  const what = kind === 'task' ? `task ${id}` : `run ${id}`;
  throw new Error(`${what} was planned when the job type ${type.name} had tasks, and its code has none now`);
}
