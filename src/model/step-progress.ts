/**
 * The progress of a job whose last attempt has reported nothing but steps that ended well, one after the other. It follows
 * from the stored steps, so that it need not be stored: a run that sleeps has no stored progress.
 */
import type { Job } from './job.ts';
import { track } from './progress.ts';
import { emptyProgress, stagesKeptMax, type Progress, type ProgressStatus } from './progress-tree.ts';
import { isEarlyAnswer, isEndedStep, isOpenWait, type StoredStep } from './step.ts';

/** The summaries of the stages of steps. */
export const storedEarlier = 'stored by an earlier attempt';
export const sleepOver = 'the sleep is over';
export const sleepsUntil = (at: number): string => `sleeps until ${new Date(at).toISOString()}`;
export const waitsForAnswer = 'waits for an answer';
export const answered = 'answered';

/** Whether a tree to which only steps were reported says nothing that does not follow from the stored steps. */
export const followsFromSteps = ({ processes, cancelledAt }: Progress): boolean =>
  cancelledAt === null && processes.length <= 1 && processes.every(({ status, stages, stagesDropped }) =>
    isWell(status) && stagesDropped === 0 && stages.every((stage) => stage.status === 'SUCCESS' && stage.started === 0));

/**
 * Returns the progress to show of a job: the stored one, unless its last attempt has stored none. `steps`: the stored steps
 * of the job, in their order.
 */
export function shownProgress(job: Job, stored: Progress | null, steps: readonly StoredStep[], now: number): Progress | null {
  const reached = steps.filter((step) => (isEndedStep(step) || isOpenWait(step)) && !isEarlyAnswer(step));
  const last = reached.at(-1);
  if (last === undefined || (stored !== null && !isOutdated(job, stored, last))) return stored;
  const tree = reached.slice(-stagesKeptMax).reduce((grown, step) => withStep(grown, step, job, now), emptyProgress);
  const ended = hasEndedWell(job, last) ? track(tree, { kind: 'end' }, job.changed) : tree;
  return { ...ended, fence: job.fence };
}

/** Whether the stored tree is of an earlier attempt. The tree of an attempt that fails or is cancelled is always stored. */
const isOutdated = (job: Job, { fence = job.fence }: Progress, last: StoredStep): boolean =>
  fence < job.fence && (job.state === 'running' || hasEndedWell(job, last));

const isWell = (status: ProgressStatus): boolean => status === 'SUCCESS' || status === 'RUNNING';

function withStep(tree: Progress, step: StoredStep, job: Job, now: number): Progress {
  const begun = track(tree, { kind: 'startStage', description: step.name, policy: 'SKIP_STAGE' }, step.startedAt);
  // While the run sleeps or waits, no time in the tree changes.
  const at = step.endedAt !== null && step.endedAt <= now ? step.endedAt : step.startedAt;
  return track(begun, { kind: 'completeStage', summary: summaryOf(step, job, now) }, at);
}

function summaryOf({ kind, endedAt, fence }: StoredStep, job: Job, now: number): string | null {
  switch (kind) {
    case 'step':
      return fence < job.fence ? storedEarlier : null;
    case 'sleep':
      return endedAt! > now ? sleepsUntil(endedAt!) : sleepOver;
    case 'wait':
      return endedAt === null ? waitsForAnswer : answered;
  }
}

/** Whether the last attempt has succeeded or fallen asleep. */
const hasEndedWell = (job: Job, last: StoredStep): boolean =>
  (job.state === 'ended' && job.fate === 'succeeded') || (job.state !== 'running' && last.kind !== 'step');
