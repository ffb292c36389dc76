/** Invariants of a job and its whole history. */
import type { Event } from '../model/event.ts';
import { evolve, blankJob } from '../model/evolve.ts';
import type { Job } from '../model/job.ts';
import { originOf } from '../store/row.ts';
import { isSame } from './same.ts';
import { checkStep, type HistoryStep } from './step.ts';
import { violation, type Violation } from './violation.ts';

export interface JobWithHistory {
  readonly job: Job;
  readonly events: readonly Event[];
}

export function checkHistory({ job, events }: JobWithHistory): Violation[] {
  const steps = stepsOf(job, events);
  // The history does not contain the policy before an edit, so S7 cannot be checked for attempts under that policy.
  const isRepriced = events.some((event) => event.kind === 'edited' && event.edit.policy !== undefined);
  const walked = steps.flatMap(checkStep).filter(({ invariant }) => invariant !== 'S7' || !isRepriced);
  const replayed = steps.at(-1)?.after ?? blankJob(originOf(job));
  return [...walked, ...checkFence(job, events), ...checkVersion(job, events), ...checkReplay(job, replayed)];
}

export function stepsOf(job: Job, events: readonly Event[]): HistoryStep[] {
  let before = blankJob(originOf(job));
  return events.map((event) => {
    const step = { before, event, after: evolve(before, event) };
    before = step.after;
    return step;
  });
}

/** S3: the fence is the number of claims, so it rises and never repeats. */
function checkFence({ id, fence }: Job, events: readonly Event[]): Violation[] {
  const claims = events.filter(({ kind }) => kind === 'claimed').length;
  return claims === fence ? [] : [violation('S3', id, `job ${id} has fence ${fence} after ${claims} claims`)];
}

/** S28: no change without an event, no event without a change. */
function checkVersion({ id, version, changed }: Job, events: readonly Event[]): Violation[] {
  const last = events.at(-1);
  if (version !== (last?.n ?? 0)) {
    return [violation('S28', id, `job ${id} has version ${version}, its newest event is number ${last?.n ?? 0}`)];
  }
  if (changed === last?.at) return [];
  return [violation('S28', id, `job ${id} changed at ${changed}, its newest event has time ${last?.at}`)];
}

/** S26: replaying the history gives the row. */
function checkReplay(job: Job, replayed: Job): Violation[] {
  const names = [...Object.keys(job), ...Object.keys(replayed).filter((name) => !Object.hasOwn(job, name))];
  const differing = (names as (keyof Job)[]).filter((name) => !isAsRecorded(name, job, replayed));
  if (differing.length === 0) return [];
  const shown = differing.map((name) => `${name} is ${text(job[name])} and its history says ${text(replayed[name])}`);
  return [violation('S26', job.id, `job ${job.id} differs from its replayed history: ${shown.join('; ')}`)];
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200);

/**
 * Whether a field is as the history determines it. Input and result are stored beside the history. Extending a lease is no
 * event, so a lease may end later than that of `replayed`.
 */
function isAsRecorded(name: keyof Job, job: Job, replayed: Job): boolean {
  if (name === 'input' || name === 'result' || job[name] === replayed[name]) return true;
  if (isSame(job[name], replayed[name])) return true;
  return (name as string) === 'lease' && isExtended(job, replayed);
}

function isExtended(job: Job, replayed: Job): boolean {
  if (job.state !== 'running' || replayed.state !== 'running') return false;
  const [is, says] = [job.lease, replayed.lease];
  return is.holder === says.holder && is.until !== null && says.until !== null && is.until > says.until;
}
