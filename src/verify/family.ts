/** Invariants between a run and its tasks, and between any parent and its children. */
import type { Event } from '../model/event.ts';
import { isOpen, type Job } from '../model/job.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

/**
 * How long a commit may take. The time of an event is when it was decided, not when it was committed. So a claim that
 * is committed before a cancel can have a later time than the cancel. S16 tolerates a difference up to this limit.
 */
const commitMaxMs = 30_000;

/** S12, S15, S35: checks a child together with its parent. `parent` is undefined if it does not exist. */
export function checkParent(child: Job, parent: Job | undefined): Violation[] {
  if (child.parent === null) return [];
  const [id, family] = [child.id, `job ${child.id}, a child of job ${child.parent},`];
  if (!isOpen(child)) return parent ? [] : [violation('S35', id, `${family} outlives it, and no retention finds it`)];
  if (!parent) return [violation('S15', id, `${family} is ${child.state}, and its parent is gone`)];
  if (isOpen(parent)) return checkHold(child, parent);
  const found = [violation('S15', id, `${family} is ${child.state}, and its parent has ${parent.fate}`)];
  if (parent.fate !== 'succeeded') return found;
  return [...found, violation('S12', parent.id, `job ${parent.id} succeeded while ${family} is open`)];
}

/**
 * S15: a child that waits for its parent will be freed. The parent can free the child only while the parent runs, or if
 * the parent must still wait for children (`hasChildrenWaiting`).
 */
function checkHold(child: Job, parent: Job): Violation[] {
  if (child.state !== 'held' || child.hold !== 'parent') return [];
  const isComing = parent.state === 'running' || parent.hasChildrenWaiting;
  const sentence = `job ${child.id} waits for job ${parent.id}, which is ${parent.state} and will not let it go`;
  return isComing ? [] : [violation('S15', child.id, sentence)];
}

/** S16: after a parent was asked to cancel, none of its children is claimed. */
export function checkClaims({ job, events }: JobWithHistory, parent: Job | undefined): Violation[] {
  if (!parent?.cancel) return [];
  const late = events.find(({ kind, at }) => kind === 'claimed' && at > parent.cancel!.at + commitMaxMs);
  if (!late) return [];
  const lateMs = late.at - parent.cancel.at;
  const sentence = `job ${job.id} was claimed ${lateMs} ms after job ${parent.id} was asked to give up`;
  return [violation('S16', job.id, sentence)];
}

/** Returns how many tasks the run has planned; null: it has not planned since they were deleted, or the job is not a run. */
export function plannedTasks({ job, events }: JobWithHistory): number | null {
  if (job.kind !== 'run') return null;
  let phase: string | undefined;
  let planned: number | null = null;
  for (const event of events) {
    phase = phaseAfter(phase, event);
    if (event.kind === 'reopened' && event.replans) planned = null;
    if (event.kind === 'planned' && phase === 'prepare') [planned, phase] = [event.tasks, 'gather'];
  }
  return planned;
}

const phaseAfter = (phase: string | undefined, event: Event): string | undefined =>
  event.kind === 'created' || event.kind === 'reopened' ? (event.phase ?? 'run') : phase;

/** S13: a run has the tasks that it planned, with distinct keys. */
export function checkTasks(run: Job, planned: number, tasks: Tasks): Violation[] {
  const { id } = run;
  const wrong = [
    ...(tasks.count === planned ? [] : [`run ${id} declared ${planned} tasks and has ${tasks.count}`]),
    ...(tasks.sharedKey === null ? [] : [`two tasks of run ${id} are called ${JSON.stringify(tasks.sharedKey)}`]),
  ];
  return wrong.map((sentence) => violation('S13', id, sentence));
}

export interface Tasks {
  readonly count: number;
  /** A key that two of the tasks have; null: all keys differ. */
  readonly sharedKey: string | null;
}
