/** The tracker: builds the progress tree from the calls of a handler, and executes the stages of the handler. */
import {
  emptyProgress, isAborted, isCancelled, isSkipCurrentStage, track,
  type FailurePolicy, type ItemNode, type Progress, type ProgressStep, type StageNode,
} from '../../model/progress.ts';
import { followsFromSteps } from '../../model/step-progress.ts';
import type { Clock } from '../../time/clock.ts';
import type { ProgressTracker, StageOptions, StageOutcome } from '../handler/context.ts';
import { Cancelled } from '../handler/errors.ts';
import { errorText, plainText } from '../handler/plain-text.ts';
import { runParallel, type Items } from './parallel-items.ts';
import { checkStageArguments } from './stage-arguments.ts';

export interface TrackerOptions {
  readonly clock: Clock;
  /** Called synchronously with the tree after every change. */
  readonly onChange: (progress: Progress) => void;
}

type Describe<T> = (item: T, index: number) => string | null;
type ItemWork<T> = (item: T, index: number) => unknown;
type Summary = (succeeded: number, failed: number) => string;

/** The arguments of a call of `runStage` or `runStageInParallel` that passes items. */
interface StagePlan<T> {
  readonly items: Items<T>;
  readonly parallelism: number;
  readonly describe: Describe<T>;
  readonly work: ItemWork<T>;
  readonly summary: Summary | undefined;
}

export class Tracker implements ProgressTracker {
  readonly #clock: Clock;
  readonly #onChange: (progress: Progress) => void;
  #progress = emptyProgress;
  #failure: unknown;
  #isOver = false;
  /** How many calls of `runStage` and `runStageInParallel` have not returned. */
  #running = 0;
  #lastItem = 0;
  /** Whether the handler has reported nothing but steps. */
  #hasOnlySteps = true;
  /** The newest stage that was started for a step. */
  #steps: StepGroup | null = null;
  /** One controller for each running stage that has items; its abort prevents further items from starting. */
  #stops: readonly AbortController[] = [];

  constructor({ clock, onChange }: TrackerOptions) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Whether the tree says nothing that does not follow from the stored steps. */
  get followsFromSteps(): boolean {
    return this.#hasOnlySteps && followsFromSteps(this.#progress);
  }

  /** The error that aborted the work, as thrown or reported by the handler; undefined: the work was not aborted. */
  get failure(): unknown {
    return this.#failure;
  }

  get isCancelled(): boolean {
    return isCancelled(this.#progress);
  }

  get isAborted(): boolean {
    return isAborted(this.#progress);
  }

  get isSkipCurrentStage(): boolean {
    return this.#isOver || isSkipCurrentStage(this.#progress);
  }

  /** Call when the job is cancelled: no further stage starts, and a running stage stops before its next item. */
  cancel(reason?: unknown): void {
    this.#take({ kind: 'cancel', reason: reason === undefined ? null : errorText(reason, textBytesMax) });
  }

  /** Call after the handler has returned or thrown: ends open nodes, and ignores later calls. */
  end(error?: unknown): void {
    if (this.#progress.processes.length > 0) this.#endNodes(error);
    this.#isOver = true;
    this.#stopIfSkipped();
  }

  /**
   * Call after the handler has returned: ends the tree. If a reported failure has aborted the work, throws it: the
   * attempt has failed although the handler returned. It has also failed if a stage is still running, unless the stage
   * was told to stop: its remaining items would never be processed.
   */
  endReturned(): void {
    const error = this.#running > 0 && !this.isSkipCurrentStage ? new Error(notAwaited) : undefined;
    this.end(error);
    if (error !== undefined) throw error;
    if (this.isAborted) throw this.#failure;
  }

  /**
   * Call after the handler has thrown: ends the tree. Returns the error of the attempt. If the handler threw
   * `Cancelled` because a failure had aborted the work, the error is that failure; in all other cases it is `error`.
   */
  endThrown(error: unknown): unknown {
    this.end(error ?? 'the handler threw no value');
    return this.isAborted && isGivingUp(error, false) ? this.#failure : error;
  }

  startingProcess(description?: string): void {
    this.#take({ kind: 'startProcess', description: textOf(description) });
  }

  completedProcess(summary?: string): void {
    this.#take({ kind: 'completeProcess', summary: textOf(summary) });
  }

  failedProcess(cause: unknown): void {
    this.#fail('failProcess', cause);
  }

  startingStage(description: string, { total, onFailure }: StageOptions = {}): void {
    if (this.#isOver) throw new Cancelled(isEnded);
    if (this.isCancelled) throw this.#cancelled();
    this.#take({ kind: 'startStage', description: textOf(description), total, policy: policyOf(onFailure) });
  }

  completedStage(summary?: string): void {
    this.#take({ kind: 'completeStage', summary: textOf(summary) });
  }

  failedStage(cause: unknown): void {
    this.#fail('failStage', cause);
  }

  startingItem(description?: string, { onFailure }: { readonly onFailure?: FailurePolicy } = {}): void {
    this.#take({ kind: 'startItem', description: textOf(description), policy: policyOf(onFailure) });
  }

  completedItem(summary?: string): void {
    this.#take({ kind: 'completeItem', summary: textOf(summary) });
  }

  failedItem(cause: unknown): void {
    this.#fail('failItem', cause);
  }

  runStage<T>(items: Items<T>, describe: Describe<T>, work: ItemWork<T>, summary?: Summary): Promise<StageOutcome>;
  runStage<R>(work: () => R | Promise<R>, otherwise?: R): Promise<R | undefined>;
  runStage(
    first: Items<unknown> | (() => unknown),
    second: unknown,
    work?: ItemWork<unknown>,
    summary?: Summary,
  ): Promise<unknown> {
    if (typeof first === 'function') return this.#execute(() => this.#runWork(first, second));
    return this.runStageInParallel(1, first, second as Describe<unknown>, work!, summary);
  }

  runStageInParallel<T>(
    parallelism: number,
    items: Items<T>,
    describe: Describe<T>,
    work: ItemWork<T>,
    summary?: Summary,
  ): Promise<StageOutcome> {
    checkStageArguments(items, describe, work);
    return this.#execute(() => this.#runItems({ items, parallelism, describe, work, summary }));
  }

  /**
   * Records the start of a step: as a stage, or as an item if a stage is open. The stage of a step ends with the last of
   * the steps that are its items. An error of a step does not abort the work: the handler may catch it.
   */
  startStep(name: string): StepProgress {
    if (!isOpen(stageOf(this.#progress))) {
      this.#change({ kind: 'startStage', description: textOf(name), policy: 'SKIP_STAGE' });
      this.#steps = { stage: this.#stage, open: 0, failure: null };
      return this.#stepOf(this.#steps, null);
    }
    const item = ++this.#lastItem;
    this.#take({ kind: 'startItem', item, description: textOf(name), policy: 'SKIP_ITEM' });
    return this.#stepOf(this.#steps?.stage === this.#stage ? this.#steps : null, item);
  }

  #stepOf(group: StepGroup | null, item: number | null): StepProgress {
    if (group !== null) group.open += 1;
    const stage = this.#stage;
    const isItemOpen = (): boolean => item !== null && this.#isWithin(stage) && this.#endOf(item) === undefined;
    const leave = (): void => {
      if (group === null || (group.open -= 1) > 0) return;
      if (!this.#isWithin(stage)) return;
      if (group.failure === null) this.#change({ kind: 'completeStage', summary: group.summary });
      else this.#fail('failStage', group.failure.cause);
    };
    return {
      complete: (summary) => {
        if (isItemOpen()) this.#take({ kind: 'completeItem', item: item!, summary });
        if (group !== null && item === null) group.summary = summary;
        leave();
      },
      fail: (cause) => {
        if (isItemOpen()) this.#fail('failItem', cause, item!);
        if (group !== null && item === null) group.failure = { cause };
        leave();
      },
    };
  }

  async #execute<T>(runStage: () => Promise<T>): Promise<T> {
    if (this.#isOver) throw new Cancelled(isEnded);
    this.#running += 1;
    try {
      return await runStage();
    } finally {
      this.#running -= 1;
    }
  }

  async #runWork(work: () => unknown, otherwise: unknown): Promise<unknown> {
    const stage = this.#enterStage();
    if (this.isSkipCurrentStage) {
      this.#failSkippedStage(stage, '');
      return otherwise;
    }
    try {
      const result = await work();
      this.#completeStage(stage);
      return result;
    } catch (error) {
      this.#failStage(stage, error);
      return otherwise;
    }
  }

  async #runItems<T>(plan: StagePlan<T>): Promise<StageOutcome> {
    const stage = this.#enterStage(sizeOf(plan.items));
    const tally: ItemTally = { begun: 0, SUCCESS: 0, ERROR: 0, CANCELLED: 0 };
    let isComplete = false;
    try {
      const isAllBegun = await this.#runParallel(plan, tally);
      isComplete = isAllBegun && tally.CANCELLED === 0 && !this.#isGivenUp;
      this.#closeStage(stage, plan, tally, isComplete);
    } catch (error) {
      this.#failStage(stage, error);
    }
    return { succeeded: tally.SUCCESS, failed: tally.ERROR, isComplete };
  }

  async #runParallel<T>(plan: StagePlan<T>, tally: ItemTally): Promise<boolean> {
    const stop = new AbortController();
    this.#stops = [...this.#stops, stop];
    this.#stopIfSkipped();
    const work = async (item: T, index: number): Promise<void> => {
      tally.begun += 1;
      tally[await this.#runItem(plan, item, index)] += 1;
    };
    try {
      const parallel = { clock: this.#clock, parallelism: parallelismOf(plan.parallelism), stop: stop.signal, work };
      return await runParallel(plan.items, parallel);
    } finally {
      this.#stops = this.#stops.filter((one) => one !== stop);
    }
  }

  async #runItem<T>({ describe, work }: StagePlan<T>, item: T, index: number): Promise<EndStatus> {
    const id = ++this.#lastItem;
    this.#take({ kind: 'startItem', item: id, description: descriptionOf(describe, item, index) });
    const stage = this.#stage;
    try {
      await work(item, index);
      if (this.#isWithin(stage) && this.#endOf(id) === undefined) this.#take({ kind: 'completeItem', item: id });
      return this.#endOf(id) ?? 'SUCCESS';
    } catch (error) {
      return this.#failItem(id, error);
    }
  }

  /**
   * Records the error of an item, unless the handler has already reported that the item failed. If the handler has
   * reported that the item succeeded, the error is recorded in a new item. Returns the status of the failed item.
   */
  #failItem(id: number, error: unknown): EndStatus {
    const status = this.#endOf(id);
    if (isFailed(status)) return status;
    const failing = status === undefined ? id : ++this.#lastItem;
    const skipped = stageOf(this.#progress)?.skipped ?? 0;
    this.#fail('failItem', error, failing);
    // Without a node, only the count of skipped items shows whether the failure was the reaction to a cancel.
    return this.#endOf(failing) ?? ((stageOf(this.#progress)?.skipped ?? 0) > skipped ? 'CANCELLED' : 'ERROR');
  }

  /** Starts a stage if none is open; in a cancelled job, no stage starts. Returns the key of the newest stage. */
  #enterStage(total?: number): string {
    if (!isOpen(stageOf(this.#progress))) this.#take({ kind: 'startStage', total });
    return this.#stage;
  }

  #closeStage<T>(stage: string, plan: StagePlan<T>, tally: ItemTally, isComplete: boolean): void {
    const summary = summaryOf(plan, tally);
    if (isComplete) return this.#completeStage(stage, summary);
    const left = (sizeOf(plan.items) ?? 0) - tally.begun;
    if (left > 0 && this.#isWithin(stage)) this.#take({ kind: 'skipItem', count: left });
    this.#failSkippedStage(stage, summary);
  }

  #completeStage(stage: string, summary?: string): void {
    if (this.#isWithin(stage)) this.#take({ kind: 'completeStage', summary });
  }

  #endNodes(error: unknown): void {
    if (error === undefined) this.#take({ kind: 'end' });
    else this.#fail('end', error);
  }

  /**
   * Records the error of a stage, unless the handler has already reported that the stage failed. If the handler has
   * reported that the stage succeeded, the error is recorded in a new stage.
   */
  #failStage(stage: string, cause: unknown): void {
    if (this.#stage !== stage || !isFailed(stageOf(this.#progress)?.status)) this.#fail('failStage', cause);
  }

  #failSkippedStage(stage: string, summary: string): void {
    if (!this.#isWithin(stage)) return;
    if (this.isAborted) this.#fail('failStage', `skipped stage, failing item caused abort. ${summary}`);
    else if (this.isCancelled) this.#fail('failStage', new Cancelled(`cancelled. ${summary}`));
    else this.#fail('failStage', `skipped stage. ${summary}`);
  }

  #fail(kind: 'failProcess' | 'failStage' | 'failItem' | 'end', cause: unknown, item?: number): void {
    const cancelled = isGivingUp(cause, this.isCancelled);
    this.#take({ kind, item, error: errorText(cause, textBytesMax), cancelled }, cause);
  }

  /** Takes what the handler reports itself; `#change` alone takes its steps. */
  #take(step: ProgressStep, cause?: unknown): void {
    if (step.kind !== 'end') this.#hasOnlySteps = false;
    this.#change(step, cause);
  }

  #change(step: ProgressStep, cause?: unknown): void {
    if (this.#isOver) return;
    const before = this.#progress;
    this.#progress = track(before, step, this.#clock.now());
    if (this.#progress === before) return;
    if (this.isAborted && !isAborted(before)) this.#failure = cause;
    this.#onChange(this.#progress);
    this.#stopIfSkipped();
  }

  #stopIfSkipped(): void {
    if (this.isSkipCurrentStage) for (const stop of this.#stops) stop.abort();
  }

  #cancelled(): Cancelled {
    if (!this.isAborted) return new Cancelled('cannot start the stage: the job was cancelled');
    return new Cancelled('cannot start the stage: a failure has aborted the job', { cause: this.#failure });
  }

  /**
   * Whether a failure, or the end of the handler, stopped the stage. A cancel does not count: items that have started
   * can still end normally, and they may be all items of the stage.
   */
  get #isGivenUp(): boolean {
    return this.#isOver || this.isAborted || this.#progress.skipStage;
  }

  /** The key of the newest stage, such as `2/5`: the fifth stage of the second process, counting dropped ones, too. */
  get #stage(): string {
    const { processes, processesDropped } = this.#progress;
    const process = processes.at(-1);
    return `${processes.length + processesDropped}/${(process?.stages.length ?? 0) + (process?.stagesDropped ?? 0)}`;
  }

  #isWithin(stage: string): boolean {
    return this.#stage === stage && isOpen(stageOf(this.#progress));
  }

  /** The status of an ended item; undefined while it is running, and after its node was dropped. */
  #endOf(id: number): EndStatus | undefined {
    const status = stageOf(this.#progress)?.items.findLast(({ item }) => item === id)?.status;
    return status === 'RUNNING' ? undefined : status;
  }
}

/** The progress of a step. */
export interface StepProgress {
  complete(summary?: string): void;
  fail(cause: unknown): void;
}

/** The steps that share a stage: the step that started it, and those that began while it was open. */
interface StepGroup {
  readonly stage: string;
  open: number;
  failure: { readonly cause: unknown } | null;
  summary?: string | undefined;
}

const isEnded = 'cannot start the stage: the attempt has ended. Start stages before the handler returns';
const notAwaited =
  'the handler returned while a stage was running: await the promise of runStage or runStageInParallel';

type EndStatus = Exclude<ItemNode['status'], 'RUNNING'>;

type ItemTally = Record<EndStatus | 'begun', number>;

/** The most bytes of a handler's text that are passed to the model, which truncates the text to 500 characters. */
const textBytesMax = 2_048;

const textOf = (text: unknown): string | null => (text == null ? null : plainText(text, textBytesMax));

const policies: ReadonlySet<unknown> = new Set(['PARENT', 'FAIL', 'SKIP_STAGE', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER']);

const policyOf = (policy: FailurePolicy | undefined): FailurePolicy => (policies.has(policy) ? policy! : 'PARENT');

const stageOf = (progress: Progress): StageNode | undefined => progress.processes.at(-1)?.stages.at(-1);

const isFailed = (status: ItemNode['status'] | undefined): status is 'ERROR' | 'CANCELLED' =>
  status === 'ERROR' || status === 'CANCELLED';

const isOpen = (stage: StageNode | undefined): boolean => stage?.completedAt === null;

const parallelismOf = (parallelism: number): number => (parallelism >= 1 ? Math.floor(parallelism) : 1);

function sizeOf(items: Items<unknown>): number | undefined {
  if (Array.isArray(items)) return items.length;
  return items instanceof Set || items instanceof Map ? items.size : undefined;
}

/**
 * The description of an item; the number of the item if `describe` returns none or throws. An error of `describe` does
 * not fail the item.
 */
function descriptionOf<T>(describe: Describe<T>, item: T, index: number): string {
  try {
    return textOf(describe(item, index)) ?? `#${index + 1}`;
  } catch {
    return `#${index + 1}`;
  }
}

function summaryOf(
  { summary }: Pick<StagePlan<unknown>, 'summary'>,
  { SUCCESS: succeeded, ERROR: failed }: ItemTally,
): string {
  const plain = `${succeeded} successful and ${failed} failed items`;
  try {
    return textOf(summary?.(succeeded, failed)) ?? plain;
  } catch {
    return plain;
  }
}

/**
 * Whether an error is a reaction to a cancel, and not a failure. An AbortError is a reaction only if the job was
 * cancelled (`isAsked`); in any other job, the handler itself has aborted an operation.
 */
function isGivingUp(cause: unknown, isAsked: boolean): boolean {
  try {
    return cause instanceof Cancelled || (isAsked && cause instanceof Error && cause.name === 'AbortError');
  } catch {
    return false;
  }
}
