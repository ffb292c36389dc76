/**
 * The tree of progress: processes, their stages and items, as plain JSON whose size is bounded.
 *
 * Counts are exact; the number of nodes is limited:
 * - A stage keeps 300 items: its first 100, and 200 later ones. When an item exceeds the limit, one of the later ones
 *   is dropped: the oldest that succeeded or was skipped; if there is none, the oldest that failed; else the oldest
 *   with an id. Dropped items that run are counted; the end of an item without a node counts as the end of one of them.
 * - When a stage or process starts, the items of all stages are reduced to 1,000; the oldest stages lose items first.
 * - A process keeps its newest 100 stages, a job its newest 10 processes; the number of dropped nodes is recorded.
 * - A text is cut at 500 characters and then ends with ….
 */

export const itemsKeptMax = 300;
export const itemsInAllMax = 1_000;
export const stagesKeptMax = 100;
export const processesKeptMax = 10;
export const progressTextMax = 500;

export type ProgressStatus = 'RUNNING' | 'SUCCESS' | 'ERROR' | 'CANCELLED';

/** The consequence of a failure. PARENT: for an item, the policy of its stage; for a stage, FAIL. */
export type FailurePolicy = 'PARENT' | EffectivePolicy;
export type EffectivePolicy =
  /** End the process as failed, and ask the work to stop. */
  | 'FAIL'
  /** Continue with the next stage. */
  | 'SKIP_STAGE'
  /** Continue with the next item. */
  | 'SKIP_ITEM'
  /** Like SKIP_ITEM if an item of the stage has succeeded before, otherwise like FAIL. */
  | 'SKIP_ITEM_OUTLIER';

export type ItemId = string | number;

export interface Progress {
  readonly processes: readonly ProcessNode[];
  readonly processesDropped: number;
  /** When the work was asked to stop, by a user or because of a failure. */
  readonly cancelledAt: number | null;
  /** Whether the work was asked to stop because of a failure; false: a user asked, or nobody did. */
  readonly aborted: boolean;
  /** The reason that the user gave, or the error of the failure. */
  readonly cause: string | null;
  readonly skipStage: boolean;
  readonly updatedAt: number | null;
  /** The fence of the claim under which the tree was written, which may be that of an earlier attempt; absent: unknown. */
  readonly fence?: number;
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
  /** The number of items that the handler announced, or that have ended if these are more; null: unknown. */
  readonly total: number | null;
  readonly policy: EffectivePolicy;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  /** All items ever started, including those whose nodes were dropped. */
  readonly started: number;
  readonly items: readonly ItemNode[];
  /**
   * The items that ran when their nodes were dropped, and have not ended before their stage, by their policies. Absent:
   * none.
   */
  readonly runningDropped?: Readonly<Partial<Record<EffectivePolicy, number>>>;
}

export interface ItemNode extends ProgressNode {
  /** The id that the handler gave; null: it gave none, and the start of the next item without an id ends this one. */
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

/** Returns how many running items of the stage have no node. */
export const runningDroppedOf = ({ runningDropped = {} }: StageNode): number =>
  Object.values(runningDropped).reduce((sum, count) => sum + count, 0);

/**
 * Returns the policy to assume for a running item whose node was dropped: the most frequent one in `runningDropped`.
 * Undefined: the stage has no such item.
 */
export function droppedPolicyOf({ runningDropped = {} }: StageNode): EffectivePolicy | undefined {
  const counts = Object.entries(runningDropped) as [EffectivePolicy, number][];
  const [policy, count] = counts.reduce((most, next) => (next[1] > most[1] ? next : most), counts[0] ?? ['FAIL', 0]);
  return count > 0 ? policy : undefined;
}

/** Returns the number of items that have ended, in any status. */
export const settledOf = ({ done, failed, skipped }: StageNode): number => done + failed + skipped;

export function cut(text: string | null | undefined): string | null {
  if (text == null) return null;
  return text.length <= progressTextMax ? text : `${text.slice(0, progressTextMax - 1).toWellFormed()}…`;
}

export function newest<T>(list: readonly T[], max: number): { kept: readonly T[]; dropped: number } {
  const dropped = Math.max(0, list.length - max);
  return { kept: list.slice(dropped), dropped };
}

/** Drops items so that all stages together have at most `itemsInAllMax`. The oldest stages lose items first. */
export function thinned(progress: Progress): Progress {
  let left = itemsInAllMax;
  const thinnedStage = (stage: StageNode): StageNode => {
    const kept = trimmed(stage, left);
    left -= kept.items.length;
    return kept;
  };
  const processes = progress.processes.toReversed().map((process) => ({
    ...process,
    stages: process.stages.toReversed().map(thinnedStage).toReversed(),
  }));
  return { ...progress, processes: processes.toReversed() };
}

/** Drops items so that the stage has at most `max`. */
export function trimmed(stage: StageNode, max: number): StageNode {
  if (stage.items.length <= max) return stage;
  const first = Math.floor(max / 3);
  const remaining = [...stage.items];
  while (remaining.length > max) remaining.splice(leastInformative(remaining, first), 1);
  return withOnly(stage, remaining);
}

/** Leaves only some of the items of the stage. Counts the running ones among the others in `runningDropped`. */
export function withOnly(stage: StageNode, items: readonly ItemNode[]): StageNode {
  const kept = new Set(items);
  const dropped = stage.items.filter((item) => isRunning(item) && !kept.has(item));
  return dropped.reduce((left, { policy }) => withDropped(left, policy, 1), { ...stage, items });
}

export const withDropped = (stage: StageNode, policy: EffectivePolicy, by: 1 | -1): StageNode => ({
  ...stage,
  runningDropped: { ...stage.runningDropped, [policy]: (stage.runningDropped?.[policy] ?? 0) + by },
});

/** A running item without an id is never dropped: the start of the next one ends it. There is at most one. */
function leastInformative(items: readonly ItemNode[], from: number): number {
  let failed = -1;
  let running = -1;
  for (let at = from; at < items.length; at++) {
    const { status, item } = items[at]!;
    if (status === 'SUCCESS' || status === 'CANCELLED') return at;
    if (status === 'ERROR' && failed < 0) failed = at;
    if (status === 'RUNNING' && item !== null && running < 0) running = at;
  }
  return [failed, running].find((at) => at >= 0) ?? from;
}
