/**
 * The tree of progress: processes, their stages and items, as plain JSON that stays small whatever the work.
 *
 * Counts are kept for ever, nodes only so many:
 * - Of a stage's items the oldest after the first 100 goes once there are more than 300: one that ended well before one
 *   that failed, and that before one still running. Of all older stages together, the newest keep 1,000 items.
 * - Of a process the newest 100 stages are kept, and of all processes the newest 10; how many went is told.
 * - A text is cut at 500 characters, and ends with … then.
 */

export const itemsKeptMax = 300;
export const itemsInAllMax = 1_000;
export const stagesKeptMax = 100;
export const processesKeptMax = 10;
export const progressTextMax = 500;

export type ProgressStatus = 'RUNNING' | 'SUCCESS' | 'ERROR' | 'CANCELLED';

/** What a failure means. PARENT is the policy of the node above, and FAIL at the top. */
export type FailurePolicy = 'PARENT' | EffectivePolicy;
export type EffectivePolicy =
  /** Give up: the process ends as failed, and the work is asked to stop. */
  | 'FAIL'
  /** Go on with the next stage. */
  | 'SKIP_STAGE'
  /** Go on with the next item. */
  | 'SKIP_ITEM'
  /** As SKIP_ITEM if an item of the stage succeeded before, else as FAIL. */
  | 'SKIP_ITEM_OUTLIER';

export type ItemId = string | number;

export interface Progress {
  readonly processes: readonly ProcessNode[];
  readonly processesDropped: number;
  /** When the work was asked to stop, by a user or by an abort. */
  readonly cancelledAt: number | null;
  /** Whether it was a failure that asked; false if a user did. */
  readonly aborted: boolean;
  /** The reason the user gave, or the error of the failure. */
  readonly cause: string | null;
  readonly skipStage: boolean;
  readonly updatedAt: number | null;
}

export interface ProgressNode {
  readonly status: ProgressStatus;
  readonly description: string | null;
  readonly summary: string | null;
  readonly error: string | null;
  readonly startedAt: number;
  readonly completedAt: number | null;
}

export interface ProcessNode extends ProgressNode {
  readonly cancelledAt: number | null;
  readonly stages: readonly StageNode[];
  readonly stagesDropped: number;
}

export interface StageNode extends ProgressNode {
  /** How many items there will be; null if nobody knows. */
  readonly total: number | null;
  readonly policy: EffectivePolicy;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  /** All items ever started, those whose nodes are gone included. */
  readonly started: number;
  readonly items: readonly ItemNode[];
}

export interface ItemNode extends ProgressNode {
  /** Null for an item of a stage that takes them one by one. */
  readonly item: ItemId | null;
  readonly policy: EffectivePolicy;
}

export const emptyProgress: Progress = {
  processes: [],
  processesDropped: 0,
  cancelledAt: null,
  aborted: false,
  cause: null,
  skipStage: false,
  updatedAt: null,
};

export const isRunning = (item: ItemNode): boolean => item.status === 'RUNNING';

/** Items that are over, in whichever way. */
export const settledOf = ({ done, failed, skipped }: StageNode): number => done + failed + skipped;

export function cut(text: string | null | undefined): string | null {
  if (text == null) return null;
  return text.length <= progressTextMax ? text : `${text.slice(0, progressTextMax - 1).toWellFormed()}…`;
}

export function newest<T>(list: readonly T[], max: number): { kept: readonly T[]; dropped: number } {
  const dropped = Math.max(0, list.length - max);
  return { kept: list.slice(dropped), dropped };
}

/** Leaves each stage as many items as the newer ones have not used up. */
export function thinned(progress: Progress): Progress {
  let left = itemsInAllMax;
  const thinnedStage = (stage: StageNode): StageNode => {
    const items = trimmed(stage.items, left);
    left -= items.length;
    return items === stage.items ? stage : { ...stage, items };
  };
  const processes = progress.processes.toReversed().map((process) => ({
    ...process,
    stages: process.stages.toReversed().map(thinnedStage).toReversed(),
  }));
  return { ...progress, processes: processes.toReversed() };
}

export function trimmed(items: readonly ItemNode[], max: number): readonly ItemNode[] {
  if (items.length <= max) return items;
  const first = Math.floor(max / 3);
  const remaining = [...items];
  while (remaining.length > max) remaining.splice(leastInformative(remaining, first), 1);
  return remaining;
}

function leastInformative(items: readonly ItemNode[], from: number): number {
  let failed = -1;
  for (let at = from; at < items.length; at++) {
    const { status } = items[at]!;
    if (status === 'SUCCESS' || status === 'CANCELLED') return at;
    if (status === 'ERROR' && failed < 0) failed = at;
  }
  return failed < 0 ? from : failed;
}
