/** The nodes of the progress tree: how they start and end, are counted, found and changed. */
import {
  cut, droppedPolicyOf, isRunning, itemsKeptMax, runningDroppedOf, settledOf, trimmed, withDropped,
} from './progress-tree.ts';
import type {
  EffectivePolicy, FailurePolicy, ItemId, ItemNode, ProcessNode, Progress, ProgressNode, StageNode,
} from './progress-tree.ts';

export type Text = string | null | undefined;

/** How a node ends. `status` applies only to a node that is RUNNING: a process that was cancelled stays CANCELLED. */
export interface Ending {
  readonly status: 'SUCCESS' | 'ERROR' | 'CANCELLED';
  readonly summary: string | null;
  readonly error: string | null;
}

export const success = (summary: Text): Ending => ({ status: 'SUCCESS', summary: cut(summary), error: null });
export const implicitSuccess = (node: string): Ending => success(`(${node} completed implicitly)`);

/** Returns the ending of nodes that are still open when `parent` has ended: they get the status of `parent`. */
export function endingInside(parent: ProgressNode, node: string): Ending {
  if (parent.status === 'SUCCESS' || parent.status === 'RUNNING') return implicitSuccess(node);
  return { status: parent.status, summary: null, error: parent.error };
}

export const startedNode = (description: Text, at: number): ProgressNode => ({
  status: 'RUNNING',
  description: cut(description),
  summary: null,
  error: null,
  startedAt: at,
  completedAt: null,
});

export const endedNode = <N extends ProgressNode>(node: N, ending: Ending, at: number): N => ({
  ...node,
  status: node.status === 'RUNNING' ? ending.status : node.status,
  summary: ending.summary,
  error: ending.error,
  completedAt: at,
});

export function endedItem(stage: StageNode, item: ItemNode, ending: Ending, at: number): StageNode {
  const items = stage.items.with(stage.items.lastIndexOf(item), endedNode(item, ending, at));
  return counted({ ...stage, items }, countOf[ending.status], 1);
}

/**
 * Ends a running item whose node was dropped. If it failed, a node with its error is added; its description and start
 * are no longer known.
 */
export function endedDropped(stage: StageNode, item: ItemId | undefined, ending: Ending, at: number): StageNode {
  const policy = droppedPolicyOf(stage);
  if (policy === undefined) return stage;
  const ended = counted(withDropped(stage, policy, -1), countOf[ending.status], 1);
  if (ending.status !== 'ERROR') return ended;
  const node: ItemNode = { ...endedNode(startedNode(null, at), ending, at), item: itemIdOf(item), policy };
  return trimmed({ ...ended, items: [...ended.items, node] }, itemsKeptMax);
}

export const countOf = { SUCCESS: 'done', ERROR: 'failed', CANCELLED: 'skipped' } as const;

/** Adds to one of the counts of the stage. If more items have ended than were announced, raises the total. */
export function counted(stage: StageNode, count: 'done' | 'failed' | 'skipped', by: number): StageNode {
  const grown = { ...stage, [count]: stage[count] + by };
  return grown.total === null ? grown : { ...grown, total: Math.max(grown.total, settledOf(grown)) };
}

export const isOpen = (node: ProgressNode): boolean => node.completedAt === null;

export const currentStageOf = (progress: Progress): StageNode | undefined => progress.processes.at(-1)?.stages.at(-1);

export function openStageOf(progress: Progress): StageNode | undefined {
  const stage = currentStageOf(progress);
  return stage !== undefined && isOpen(stage) ? stage : undefined;
}

/** Returns the running item with this id; if the id is null, the running item that was started last. */
export function findRunning(stage: StageNode | undefined, id: ItemId | null): ItemNode | undefined {
  return stage?.items.findLast((item) => isRunning(item) && (id === null || item.item === id));
}

/**
 * Whether an item with this id runs. If running items were dropped, any id without a node is taken for one of them, as
 * their ids are not stored. The counts are exact once all of them have ended.
 */
export const isUnderWay = (stage: StageNode | undefined, id: ItemId | null): boolean =>
  stage !== undefined && (findRunning(stage, id) !== undefined || runningDroppedOf(stage) > 0);

/**
 * Whether the item belongs to a stage that has ended. All items of such a stage have ended, too, and a later step for
 * the item is ignored instead of creating a new stage.
 */
export const wentWithItsStage = (stage: StageNode | undefined, id: ItemId | null): boolean =>
  stage !== undefined && !isOpen(stage) && id !== null &&
  (stage.items.some(({ item }) => item === id) || runningDroppedOf(stage) > 0);

export function changeProcess(progress: Progress, change: (process: ProcessNode) => ProcessNode): Progress {
  const process = progress.processes.at(-1);
  return process === undefined ? progress : { ...progress, processes: progress.processes.with(-1, change(process)) };
}

/**
 * Changes the current stage. If a failure has already ended the process, moves the end of the process to `at`, so that
 * the process does not end before its stage.
 */
export const changeStage = (progress: Progress, at: number, change: (stage: StageNode) => StageNode): Progress =>
  changeProcess(progress, (process) => ({
    ...process,
    completedAt: isOpen(process) ? null : at,
    stages: process.stages.with(-1, change(process.stages.at(-1)!)),
  }));

export const effective = (policy: FailurePolicy | undefined, parent: EffectivePolicy): EffectivePolicy =>
  policy === undefined || policy === 'PARENT' ? parent : policy;

export const itemIdOf = (item: ItemId | undefined): ItemId | null => (typeof item === 'number' ? item : cut(item));
