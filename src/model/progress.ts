/** Progress: how each step that a handler reports changes the tree, and predicates on the tree. */
import {
  changeProcess, changeStage, counted, countOf, currentStageOf, effective, endedDropped, endedItem, endedNode,
  endingInside, findRunning, implicitSuccess, isOpen, isUnderWay, itemIdOf, openStageOf, startedNode, success,
  wentWithItsStage,
} from './progress-nodes.ts';
import type { Ending, Text } from './progress-nodes.ts';
import {
  cut, droppedPolicyOf, emptyProgress, isRunning, itemsKeptMax, newest, processesKeptMax, runningDroppedOf,
  stagesKeptMax, thinned, trimmed,
} from './progress-tree.ts';
import type { FailurePolicy, ItemId, ItemNode, Progress, StageNode } from './progress-tree.ts';

export * from './progress-outline.ts';
export type * from './progress-tree.ts';
export { emptyProgress };

/** The error of a failed node. `cancelled`: the error is only the reaction to a cancel, such as an AbortError. */
interface Failure {
  readonly error: string;
  readonly cancelled?: boolean | undefined;
}

export type ProgressStep =
  | { readonly kind: 'startProcess'; readonly description?: Text }
  | { readonly kind: 'completeProcess'; readonly summary?: Text }
  | ({ readonly kind: 'failProcess' } & Failure)
  | StartStage
  | { readonly kind: 'completeStage'; readonly summary?: Text }
  | ({ readonly kind: 'failStage' } & Failure)
  | StartItem
  | { readonly kind: 'completeItem'; readonly item?: ItemId | undefined; readonly summary?: Text }
  | ({ readonly kind: 'failItem'; readonly item?: ItemId | undefined } & Failure)
  | SkipItem
  /** A user asks the work to stop at the next item or stage. */
  | { readonly kind: 'cancel'; readonly reason?: Text }
  /** The handler has ended, with or without an error; all open nodes end with it. */
  | { readonly kind: 'end'; readonly error?: Text; readonly cancelled?: boolean | undefined };

interface StartStage {
  readonly kind: 'startStage';
  readonly description?: Text;
  readonly total?: number | null | undefined;
  readonly policy?: FailurePolicy | undefined;
}

interface StartItem {
  readonly kind: 'startItem';
  readonly item?: ItemId | undefined;
  readonly description?: Text;
  readonly policy?: FailurePolicy | undefined;
}

/**
 * Skips the running item with the id `item`. Without `item`, or if no item with this id runs, counts `count` (default
 * 1) further items as skipped.
 */
interface SkipItem {
  readonly kind: 'skipItem';
  readonly item?: ItemId | undefined;
  readonly count?: number | undefined;
  readonly summary?: Text;
}

/** Whether the work was asked to stop, by a user or by a failure. */
export const isCancelled = (progress: Progress): boolean => progress.cancelledAt !== null;

export const isAborted = (progress: Progress): boolean => progress.aborted;

/** Whether the handler should start no further item of this stage. */
export const isSkipCurrentStage = (progress: Progress): boolean => progress.skipStage || isCancelled(progress);

/** Whether the work would count as a success if it ended now. */
export const isSuccessful = (progress: Progress): boolean =>
  !isCancelled(progress) && progress.processes.every(({ status }) => status === 'SUCCESS' || status === 'RUNNING');

/**
 * Returns the progress after one step. Never throws, and accepts steps in any order. An end without a start creates the
 * node that it ends, unless that node cannot start or has ended with its stage. A start ends the open node at the same
 * level, except items with ids, of which several can be open. After the work was asked to stop, no process or stage
 * starts. If `at` is before the last step, the time of the last step is used.
 */
export function track(progress: Progress, step: ProgressStep, at: number): Progress {
  const time = Math.max(at, progress.updatedAt ?? at);
  const next = taken(progress, step, time);
  return next === progress ? progress : { ...next, updatedAt: time };
}

function taken(progress: Progress, step: ProgressStep, at: number): Progress {
  switch (step.kind) {
    case 'startProcess':
      return startProcess(progress, step.description, at);
    case 'completeProcess':
      return completeProcess(progress, step.summary, at);
    case 'failProcess':
      return failProcess(progress, step, at);
    case 'startStage':
      return startStage(progress, step, at);
    case 'completeStage':
      return completeStage(progress, step.summary, at);
    case 'failStage':
      return failStage(progress, step, at);
    case 'startItem':
      return startItem(progress, step, at);
    case 'completeItem':
      return endItem(progress, step.item, success(step.summary), at);
    case 'failItem':
      return failItem(progress, step, at);
    case 'skipItem':
      return skipItem(progress, step, at);
    case 'cancel':
      return cancel(progress, step.reason, at);
    case 'end':
      return end(progress, step, at);
  }
}

function startProcess(progress: Progress, description: Text, at: number): Progress {
  if (isCancelled(progress)) return progress;
  const closed = endProcess(progress, implicitSuccess('process'), at);
  const begun = { ...startedNode(description, at), cancelledAt: null, stages: [], stagesDropped: 0 };
  const { kept, dropped } = newest([...closed.processes, begun], processesKeptMax);
  return thinned({ ...closed, processes: kept, processesDropped: closed.processesDropped + dropped });
}

function completeProcess(progress: Progress, summary: Text, at: number): Progress {
  return endProcess(withOpenProcess(progress, at), success(summary), at);
}

function failProcess(progress: Progress, failure: Failure, at: number): Progress {
  const ready = withOpenProcess(progress, at);
  const ending = failureOf(ready, failure);
  return endProcess(aborted(ready, ending, at), ending, at);
}

function startStage(progress: Progress, step: StartStage, at: number): Progress {
  if (isCancelled(progress)) return progress;
  const ready = endStage(withOpenProcess(progress, at), implicitSuccess('stage'), at);
  const begun: StageNode = {
    ...startedNode(step.description, at),
    total: wholeOrNull(step.total),
    policy: effective(step.policy, 'FAIL'),
    done: 0,
    failed: 0,
    skipped: 0,
    started: 0,
    items: [],
  };
  const grown = changeProcess(ready, (process) => {
    const { kept, dropped } = newest([...process.stages, begun], stagesKeptMax);
    return { ...process, stages: kept, stagesDropped: process.stagesDropped + dropped };
  });
  return thinned({ ...grown, skipStage: false });
}

function completeStage(progress: Progress, summary: Text, at: number): Progress {
  return endStage(withOpenStage(progress, at), success(summary), at);
}

function failStage(progress: Progress, failure: Failure, at: number): Progress {
  const ready = withOpenStage(progress, at);
  const stage = openStageOf(ready);
  if (stage === undefined) return ready;
  const ending = failureOf(ready, failure);
  const failed = endStage(ready, ending, at);
  return stage.policy === 'SKIP_STAGE' ? failed : aborted(failed, ending, at);
}

function startItem(progress: Progress, step: StartItem, at: number): Progress {
  const id = itemIdOf(step.item);
  if (id !== null && findRunning(currentStageOf(progress), id) !== undefined) return progress;
  const ready = withOpenStage(progress, at);
  if (openStageOf(ready) === undefined) return ready;
  return changeStage(ready, at, (stage) => {
    const last = id === null ? stage.items.findLast(isOneByOne) : undefined;
    return withItem(last === undefined ? stage : endedItem(stage, last, implicitSuccess('item'), at), id, step, at);
  });
}

function failItem(progress: Progress, step: ProgressStep & { kind: 'failItem' }, at: number): Progress {
  const ready = withRunningItem(progress, step.item, at);
  const stage = openStageOf(ready);
  if (stage === undefined) return ready;
  const ending = failureOf(ready, step);
  const failed = endItem(ready, step.item, ending, at);
  switch (findRunning(stage, itemIdOf(step.item))?.policy ?? droppedPolicyOf(stage)) {
    case undefined:
    case 'SKIP_ITEM':
      return failed;
    case 'SKIP_STAGE':
      return { ...failed, skipStage: true };
    case 'SKIP_ITEM_OUTLIER':
      return stage.done > 0 ? failed : aborted(failed, ending, at);
    case 'FAIL':
      return aborted(failed, ending, at);
  }
}

function skipItem(progress: Progress, step: SkipItem, at: number): Progress {
  if (step.item !== undefined && isUnderWay(openStageOf(progress), itemIdOf(step.item))) {
    return endItem(progress, step.item, { status: 'CANCELLED', summary: cut(step.summary), error: null }, at);
  }
  const ready = withOpenStage(progress, at);
  if (openStageOf(ready) === undefined) return ready;
  return changeStage(ready, at, (stage) => counted(stage, 'skipped', wholeOrNull(step.count) ?? 1));
}

/**
 * Sets the status of the current process to CANCELLED immediately. Its stage and items continue until they end, and
 * the process stays CANCELLED.
 */
function cancel(progress: Progress, reason: Text, at: number): Progress {
  if (isCancelled(progress)) return progress;
  const asked = { ...progress, cancelledAt: at, cause: cut(reason) };
  return changeProcess(asked, (process) =>
    isOpen(process) ? { ...process, status: 'CANCELLED', cancelledAt: at } : process,
  );
}

function end(progress: Progress, step: ProgressStep & { kind: 'end' }, at: number): Progress {
  const process = progress.processes.at(-1);
  if (process === undefined) return progress;
  const { error, cancelled } = step;
  if (isOpen(process)) {
    return typeof error === 'string'
      ? failProcess(progress, { error, cancelled }, at)
      : endProcess(progress, implicitSuccess('process'), at);
  }
  // A failure has ended the process before, but not its stage and items: they end now.
  return endStage(progress, endingInside(process, 'stage'), at);
}

/**
 * Ends the process because of a failure that no policy tolerates, and asks the work to stop. Changes nothing if the
 * work was asked to stop before.
 */
function aborted(progress: Progress, ending: Ending, at: number): Progress {
  if (isCancelled(progress)) return progress;
  const asked = { ...progress, cancelledAt: at, aborted: true, cause: ending.error };
  return changeProcess(asked, (process) => (isOpen(process) ? endedNode(process, ending, at) : process));
}

/**
 * Returns the ending of a failed node. A failure with `cancelled` is only the reaction to a cancel. If the cancel
 * follows from an earlier failure (the work was aborted, or the stage is skipped), the node ends as ERROR; if not, as
 * CANCELLED.
 */
function failureOf(progress: Progress, { error, cancelled }: Failure): Ending {
  const isEcho = progress.aborted || (progress.skipStage && !isCancelled(progress));
  if (cancelled !== true) return { status: 'ERROR', summary: null, error: cut(error) };
  if (isEcho) return { status: 'ERROR', summary: null, error: cut(`processing aborted: ${error}`) };
  return { status: 'CANCELLED', summary: null, error: cut(error) };
}

function endProcess(progress: Progress, ending: Ending, at: number): Progress {
  const process = progress.processes.at(-1);
  if (process === undefined) return progress;
  const ended = isOpen(process) ? endedNode(process, ending, at) : process;
  if (ended === process && openStageOf(progress) === undefined) return progress;
  return endStage(changeProcess(progress, () => ended), endingInside(ended, 'stage'), at);
}

function endStage(progress: Progress, ending: Ending, at: number): Progress {
  if (openStageOf(progress) === undefined) return progress;
  return changeStage(progress, at, (stage) => {
    const ended = endedNode(stage, ending, at);
    const ofItems = endingInside(ended, 'item');
    const settled = stage.items.filter(isRunning).reduce((left, item) => endedItem(left, item, ofItems, at), ended);
    return counted(settled, countOf[ofItems.status], runningDroppedOf(stage));
  });
}

function endItem(progress: Progress, item: ItemId | undefined, ending: Ending, at: number): Progress {
  const ready = withRunningItem(progress, item, at);
  if (openStageOf(ready) === undefined) return ready;
  return changeStage(ready, at, (stage) => {
    const wanted = findRunning(stage, itemIdOf(item));
    return wanted === undefined ? endedDropped(stage, item, ending, at) : endedItem(stage, wanted, ending, at);
  });
}

function withOpenProcess(progress: Progress, at: number): Progress {
  const process = progress.processes.at(-1);
  return process !== undefined && isOpen(process) ? progress : startProcess(progress, null, at);
}

function withOpenStage(progress: Progress, at: number): Progress {
  return openStageOf(progress) !== undefined ? progress : startStage(progress, { kind: 'startStage' }, at);
}

function withRunningItem(progress: Progress, item: ItemId | undefined, at: number): Progress {
  const [stage, id] = [currentStageOf(progress), itemIdOf(item)];
  if (isUnderWay(openStageOf(progress), id) || wentWithItsStage(stage, id)) return progress;
  return startItem(progress, { kind: 'startItem', item }, at);
}

function withItem(stage: StageNode, item: ItemId | null, step: StartItem, at: number): StageNode {
  const started = stage.started + 1;
  const description = step.description ?? `#${started}`;
  const node: ItemNode = { ...startedNode(description, at), item, policy: effective(step.policy, stage.policy) };
  return trimmed({ ...stage, started, items: [...stage.items, node] }, itemsKeptMax);
}

const isOneByOne = (item: ItemNode): boolean => isRunning(item) && item.item === null;

const wholeOrNull = (count: number | null | undefined): number | null =>
  Number.isSafeInteger(count) && count! >= 0 ? count! : null;
