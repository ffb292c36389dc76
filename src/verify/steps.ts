/**
 * S43: the steps of a job agree with its history. A step was stored under a claim of the job and in one of its
 * generations, each has its own place, and a wait has the end that the history states last, once.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { isEncodedPayload } from '../model/encoded-payload.ts';
import { parseJson } from '../model/json.ts';
import { isEndedStep, isOpenWait, type StoredStep } from '../model/step.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

export function checkSteps({ job, events }: JobWithHistory, steps: readonly StoredStep[]): Violation[] {
  const numbers = new Set<number>();
  const wrong = [
    ...checkEnds(events),
    ...steps.flatMap((step) => [
      ...(step.n > 0 && numbers.size === numbers.add(step.n).size ? [`step ${step.name} has the number ${step.n} of another`] : []),
      ...checkClaim(job, step),
      ...checkWait(step, events),
    ]),
  ];
  return wrong.map((sentence) => violation('S43', job.id, `job ${job.id}: ${sentence}`));
}

function checkClaim(job: Job, { name, n, fence, generation }: StoredStep): string[] {
  const found: string[] = [];
  if (fence > job.fence) found.push(`step ${name} was stored under fence ${fence}, after which nobody has claimed the job`);
  if (fence === 0 && n > 0) found.push(`step ${name} was stored without a claim`);
  if (generation > job.generation) found.push(`step ${name} was forgotten in generation ${generation}, which has not begun`);
  return found;
}

/** A wait has the end that its history states last. An early version of a question may be open after a retry. */
function checkWait(step: StoredStep, events: readonly Event[]): string[] {
  if (step.kind !== 'wait') return [];
  const last = events.findLast((event) => isEndOf(event, step.name) || event.kind === 'reopened');
  if (isOpenWait(step)) {
    return last?.kind === 'answered' ? [`the wait ${step.name} is open, although its history has an answer`] : [];
  }
  if (!isEndedStep(step) || step.result === null || isEncodedPayload(step.result)) return [];
  const isTimeout = 'timedOut' in (parseJson(step.result) as object);
  const end = events.findLast((event) => isEndOf(event, step.name));
  const isStated = isTimeout ? end?.kind === 'unanswered' && end.cause === 'timeout' : end?.kind === 'answered';
  return isStated ? [] : [`the wait ${step.name} has an ${isTimeout ? 'end' : 'answer'} that its history does not state`];
}

/** Of an answer and a timeout exactly one ends a wait; only the handler or a retry opens it again. */
function checkEnds(events: readonly Event[]): string[] {
  const found: string[] = [];
  const ended = new Set<string>();
  for (const event of events) {
    if (event.kind === 'reopened') ended.clear();
    if (event.kind !== 'answered' && event.kind !== 'unanswered') continue;
    const { name } = event;
    if (event.kind === 'unanswered' && event.cause !== 'timeout') ended.delete(name);
    else if (ended.size === ended.add(name).size) found.push(`the wait ${name} ended twice (event ${event.n})`);
  }
  return found;
}

const isEndOf = (event: Event, name: string): boolean =>
  (event.kind === 'answered' || event.kind === 'unanswered') && event.name === name;
