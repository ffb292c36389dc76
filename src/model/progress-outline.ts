/** The outline of progress: a summary in a few fields, for a list or a bar. */
import { isRunning, runningDroppedOf, settledOf } from './progress-tree.ts';
import type { ProcessNode, Progress, ProgressStatus, StageNode } from './progress-tree.ts';

export interface Outline {
  /** The status of the newest process; null: there is none yet. */
  readonly status: ProgressStatus | null;
  readonly process: string | null;
  readonly stage: StageOutline | null;
  /** How many stages of the newest process have started; the total is not known. */
  readonly stages: number;
  /**
   * If the process has succeeded: 100. If not: the percentage of items of the current stage that have ended, rounded
   * down; null if there is no stage, or its total is unknown or zero. If the stage or process was cancelled or has
   * failed, skipped items do not count as ended, because a cancel skips all remaining items.
   */
  readonly percent: number | null;
  /** The descriptions of the newest running items, at most ten. */
  readonly working: readonly string[];
}

/**
 * The outline of one stage. `settled` is the number of items that ended between `startedAt` and `until`. These fields
 * give the rate and, with `total`, the remaining time.
 */
export interface StageOutline {
  readonly description: string | null;
  readonly status: ProgressStatus;
  readonly total: number | null;
  readonly settled: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly running: number;
  readonly startedAt: number;
  readonly until: number;
}

export function outline(progress: Progress): Outline {
  const process = progress.processes.at(-1);
  const stage = process?.stages.at(-1);
  const working = stage?.items.filter(isRunning).slice(-10) ?? [];
  return {
    status: process?.status ?? null,
    process: process?.description ?? null,
    stage: stage === undefined ? null : stageOutline(stage, progress.updatedAt ?? stage.startedAt),
    stages: process === undefined ? 0 : process.stages.length + process.stagesDropped,
    percent: process?.status === 'SUCCESS' ? 100 : percentOf(stage, process),
    working: working.map(({ description }) => description ?? ''),
  };
}

const stageOutline = (stage: StageNode, updatedAt: number): StageOutline => ({
  description: stage.description,
  status: stage.status,
  total: stage.total,
  settled: settledOf(stage),
  done: stage.done,
  failed: stage.failed,
  skipped: stage.skipped,
  running: stage.completedAt === null ? stage.items.filter(isRunning).length + runningDroppedOf(stage) : 0,
  startedAt: stage.startedAt,
  until: stage.completedAt ?? updatedAt,
});

function percentOf(stage: StageNode | undefined, process: ProcessNode | undefined): number | null {
  if (stage === undefined || stage.total === null || stage.total === 0) return null;
  const ended = isStopped(stage.status) || isStopped(process!.status) ? stage.done + stage.failed : settledOf(stage);
  return Math.floor((ended * 100) / stage.total);
}

const isStopped = (status: ProgressStatus): boolean => status === 'CANCELLED' || status === 'ERROR';
