/**
 * The batch runner: executes the jobs of a batch, from one call of `runBatch` to the stored outcome of each job. Each
 * job has an attempt of its own. The handler is called when every attempt has arrived, or is over without it.
 *
 * Saves (bench/LEDGER.md, "the jobs of a batch share one promise, one timer and one asynchronous context"): a quarter
 * of the CPU time of the process. A job has a promise of its own only if middleware or a span surrounds its handling.
 */
import type { Logger } from '../../logger.ts';
import type { Command } from '../../model/command.ts';
import { andThen, isPromiseLike, orElse, type MaybePromise } from '../../time/maybe-promise.ts';
import type { AroundWork } from '../declare/work-middleware.ts';
import { BatchOutcome } from '../handler/batch-job.ts';
import type { AbandonedHandlers } from './abandoned-handlers.ts';
import type { AttemptCounts } from './attempt-counts.ts';
import { batchJobOf, BatchMember, type BatchJobParts } from './batch-member.ts';
import type { Deadlines } from './deadlines.ts';
import { startExecution, timeoutOf, type Execution, type ExecutionParts } from './execution.ts';
import { fittingInput } from './fitting-input.ts';
import { workAttempt, type HandlerCaller } from './handler-caller.ts';
import type { JobBatch } from './job-batch.ts';
import type { OutcomeCommands } from './outcome-commands.ts';
import type { PendingOutcomes } from './pending-outcomes.ts';
import { storedError } from './stored-error.ts';
import { captureStrayRejections } from './stray-rejections.ts';
import type { TaskParents } from './task-parents.ts';
import type { TimeLimits } from './time-limits.ts';
import type { Tracing } from './tracing.ts';

export interface BatchRunnerParts extends ExecutionParts, BatchJobParts {
  readonly logger: Logger;
  readonly hidesErrors: boolean;
  readonly aroundWork: AroundWork | null;
  readonly tracing: Tracing;
  readonly parents: TaskParents;
  readonly timeLimits: TimeLimits;
  readonly counts: AttemptCounts;
  readonly caller: HandlerCaller;
  readonly commands: OutcomeCommands;
  readonly deadlines: Deadlines;
  readonly outcomes: PendingOutcomes;
  readonly abandoned: AbandonedHandlers;
}

export class BatchRunner {
  readonly #parts: BatchRunnerParts;

  constructor(parts: BatchRunnerParts) {
    this.#parts = parts;
  }

  /** Resolves when the attempts of all jobs are over. Never rejects. */
  async run(batch: JobBatch): Promise<void> {
    if (batch.jobs.length === 0) return batch.end();
    const { timeLimits, counts } = this.#parts;
    counts.noteBatch(batch.type.name, batch.jobs.length);
    const call = new BatchCall(this.#parts, batch);
    // While the batch blocks the event loop, the limit of one job suffices: the instance then gives up all its jobs.
    const limited = timeLimits.start(call.first.attempt.holding, timeoutOf(call.first));
    timeLimits.enter(limited);
    const over = call.run();
    timeLimits.leave();
    await over;
    timeLimits.end(limited);
    batch.end();
  }
}

/** One call of `runBatch`. */
class BatchCall {
  readonly #parts: BatchRunnerParts;
  readonly #batch: JobBatch;
  readonly #members: readonly BatchMember[];
  readonly #startedAt: number;
  readonly #abort = new AbortController();
  /** How many members have neither arrived nor are over. */
  #expected: number;
  /** How many members have no command yet. */
  #open: number;
  readonly #over = Promise.withResolvers<void>();
  /** Resolves when the handler has returned, or will not be called. */
  readonly #returned = Promise.withResolvers<void>();
  #stopTimers: readonly (() => void)[] = [];
  /** The members by the ids of their jobs; null: nobody has needed them yet. */
  #membersById: ReadonlyMap<number, BatchMember> | null = null;
  /** One function for all attempts. */
  readonly #afterAbort = (reason: Error): void => this.#abortIfAll(reason);

  constructor(parts: BatchRunnerParts, batch: JobBatch) {
    this.#parts = parts;
    this.#batch = batch;
    this.#startedAt = parts.clock.monotonic();
    this.#members = batch.jobs.map((job) => new BatchMember(startExecution(parts, job)));
    this.#expected = this.#open = this.#members.length;
  }

  get first(): Execution {
    return this.#members[0]!.execution;
  }

  /** Resolves when the attempts of all jobs are over. */
  run(): Promise<void> {
    this.#captureStrayRejections(() => {
      this.#members.forEach((member) => this.#enter(member));
    });
    if (this.#open > 0) this.#startTimers();
    return this.#over.promise;
  }

  #enter(member: BatchMember): void {
    const { attempt } = member.execution;
    attempt.onEnd((reason) => this.#endEarly(member, reason));
    attempt.afterAbort(this.#afterAbort);
    const { aroundWork, tracing } = this.#parts;
    const isSurrounded = aroundWork !== null || tracing.isOn;
    try {
      const entered = isSurrounded ? this.#surround(member) : this.#arriveWithInput(member);
      if (isPromiseLike(entered)) void entered.then(undefined, (error: unknown) => this.#fail(member, error));
    } catch (error) {
      this.#fail(member, error);
    }
  }

  #arriveWithInput(member: BatchMember): MaybePromise<void> {
    const { type, attempt: { job } } = member.execution;
    const input = fittingInput(type, job);
    return isPromiseLike(input) ? input.then((value) => this.#arrive(member, value)) : this.#arrive(member, input);
  }

  /** Lets the job arrive inside the middleware and the span that surround its handling; resolves at their end. */
  #surround(member: BatchMember): MaybePromise<void> {
    const { aroundWork, tracing, parents } = this.#parts;
    const { job } = member.execution.attempt;
    const { promise } = (member.surrounded = Promise.withResolvers());
    const handle = (input: unknown): Promise<unknown> => {
      this.#arrive(member, input);
      return promise;
    };
    const callMiddleware = (input: unknown): Promise<unknown> => {
      if (aroundWork === null) return handle(input);
      member.job = batchJobOf(this.#parts, member, input);
      const about = { id: job.id, kind: 'run', phase: 'run', input, task: undefined } as const;
      return aroundWork(workAttempt(member.job, about), () => handle(input));
    };
    const call = (): MaybePromise<unknown> => andThen(fittingInput(this.#batch.type, job), callMiddleware);
    const result = tracing.trying(job, (traced) => parents.tagsOf(traced), call);
    member.surrounding = Promise.resolve(result);
    return member.surrounding.then((value) => this.#succeed(member, value));
  }

  #arrive(member: BatchMember, input: unknown): void {
    const { error } = this.#batch;
    if (member.isOver) return this.#reject(member, new Error('the attempt has ended'));
    if (error !== null) return this.#reject(member, error.thrown);
    member.job ??= batchJobOf(this.#parts, member, input);
    member.hasArrived = true;
    this.#expectOneLess(member);
  }

  /**
   * Whoever aborts one attempt may be about to abort the others, too, in a loop: the handler is called after the loop, so
   * that it gets no job of which that loop is about to end the attempt.
   */
  #expectOneLess({ execution }: BatchMember): void {
    this.#expected -= 1;
    if (this.#expected > 0) return;
    if (execution.attempt.isAborted) queueMicrotask(() => this.#call());
    else this.#call();
  }

  /** Calls the handler with the jobs whose attempts have not been aborted while the batch waited for the others. */
  #call(): void {
    this.#releaseUnheld();
    const called = this.#members.filter(({ hasArrived, execution }) => hasArrived && !execution.attempt.isAborted);
    if (called.length === 0) return this.#settle([]);
    const request = { jobs: called.map(({ job }) => job!), signal: this.#abort.signal };
    const call = (): unknown => this.#captureStrayRejections(() => this.#batch.type.options.runBatch!(request));
    void orElse(
      () => andThen(call(), (outcomes) => this.#settle(outcomes)),
      (error) => this.#rejectAll(error),
    );
  }

  /** Releases the jobs that this instance may no longer hold: the lease may have lapsed while their inputs were checked. */
  #releaseUnheld(): void {
    const epoch = this.#parts.leaseEpoch();
    this.#members.forEach(({ isOver, execution }) => {
      if (!isOver && execution.epoch !== epoch) execution.attempt.release();
    });
  }

  #settle(outcomes: unknown): void {
    this.#returned.resolve();
    checkedOutcomes(outcomes).forEach(({ job, outcome }, index) => {
      const member = this.#memberOf(job, index);
      if (member !== undefined) member.outcome = member.outcome === null ? outcome : 'several';
    });
    this.#members.forEach((member) => {
      if (member.hasArrived) this.#settleMember(member);
    });
  }

  /** Returns the member with a job whose outcome was returned at this index: usually the order is that of the jobs. */
  #memberOf(id: number, index: number): BatchMember | undefined {
    const likely = this.#members[index];
    if (likely !== undefined && idOf(likely) === id) return likely;
    this.#membersById ??= new Map(this.#members.map((member) => [idOf(member), member]));
    return this.#membersById.get(id);
  }

  #settleMember(member: BatchMember): void {
    const { outcome } = member;
    if (outcome === null) this.#reject(member, new Error(`runBatch returned no outcome for job ${idOf(member)}`));
    else if (outcome === 'several') this.#reject(member, new Error(`runBatch returned several outcomes for job ${idOf(member)}`));
    else if ('error' in outcome) this.#reject(member, outcome.error);
    else this.#resolve(member, outcome.result);
  }

  /** Settles a job with its result, after its children are stored if it has added some. */
  #resolve(member: BatchMember, result: unknown): void {
    const { execution, children, surrounded } = member;
    const stored = member.isOver ? result : this.#parts.caller.afterReturn(execution, children, result);
    if (surrounded !== null) return surrounded.resolve(stored);
    if (!isPromiseLike(stored)) return this.#succeed(member, stored);
    void stored.then((value) => this.#succeed(member, value), (error: unknown) => this.#fail(member, error));
  }

  #reject(member: BatchMember, error: unknown): void {
    if (member.surrounded !== null) member.surrounded.reject(error);
    else this.#fail(member, error);
  }

  #rejectAll(error: unknown): void {
    this.#returned.resolve();
    for (const member of this.#members) if (member.hasArrived) this.#reject(member, error);
  }

  #succeed(member: BatchMember, result: unknown): void {
    if (member.isOver) return;
    try {
      const command = this.#parts.commands.forResult(member.execution, result);
      this.#leave(member);
      this.#conclude(member, command);
    } catch (error) {
      this.#fail(member, error);
    }
  }

  #fail(member: BatchMember, error: unknown): void {
    if (member.isOver) return;
    this.#leave(member);
    void andThen(this.#parts.commands.forError(member.execution, error), (command) => this.#conclude(member, command));
  }

  /** Call when the attempt of a job is ended although the handler may still be working. */
  #endEarly(member: BatchMember, reason: Error): void {
    if (member.isOver) return;
    this.#parts.abandoned.add(member.execution.attempt.job, member.surrounding ?? this.#returned.promise);
    this.#fail(member, reason);
  }

  #leave(member: BatchMember): void {
    member.isOver = true;
    if (!member.hasArrived) this.#expectOneLess(member);
  }

  #conclude({ execution: { attempt } }: BatchMember, command: Command | null): void {
    attempt.forgetCalls();
    this.#parts.outcomes.add(attempt, command);
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const stop of this.#stopTimers) stop();
    this.#over.resolve();
  }

  /** Starts one timer for all jobs with the same timeout. */
  #startTimers(): void {
    const { clock, deadlines } = this.#parts;
    const elapsedMs = clock.monotonic() - this.#startedAt;
    const open = this.#members.filter(({ isOver }) => !isOver);
    const byTimeout = Map.groupBy(open, ({ execution }) => timeoutOf(execution));
    this.#stopTimers = Array.from(byTimeout, ([timeoutMs, members]) =>
      deadlines.after(Math.max(0, timeoutMs - elapsedMs), () => {
        for (const { isOver, execution } of members) if (!isOver) execution.attempt.timeOut(timeoutMs);
      }));
  }

  /** Aborts the signal of the batch if those of all jobs with which the handler was called are aborted. */
  #abortIfAll(reason: Error): void {
    if (this.#expected > 0) return;
    const isAborted = this.#members.every(({ hasArrived, execution }) => !hasArrived || execution.attempt.isAborted);
    if (isAborted) this.#abort.abort(reason);
  }

  #captureStrayRejections<T>(call: () => T): T {
    return captureStrayRejections((error) => this.#logStrayRejection(error), call);
  }

  #logStrayRejection(error: unknown): void {
    const { logger, hidesErrors } = this.#parts;
    const { type: { name: type }, jobs } = this.#batch;
    const ids = jobs.map(({ id }) => id);
    const about = hidesErrors ? { type, ids, name: storedError(error).name ?? 'Error' } : { error, type, ids };
    logger.error(`the handler of a batch of ${type} has a rejected promise that it did not handle`, about);
  }
}

const idOf = ({ execution }: BatchMember): number => execution.attempt.job.id;

function checkedOutcomes(outcomes: unknown): readonly BatchOutcome<unknown>[] {
  if (Array.isArray(outcomes) && outcomes.every((each) => each instanceof BatchOutcome)) return outcomes;
  throw new TypeError('runBatch must return an array of the outcomes that job.done(…) and job.failed(…) return');
}
