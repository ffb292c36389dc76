/** Invariants of every single step of a job: the state before, the event, the state after. */
import { endings, type Event, type EventKind } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { crashesMaxOf, retryOf } from '../model/retry.ts';
import type { State } from '../model/state.ts';
import { violation, type Invariant, type Violation } from './violation.ts';

export interface HistoryStep {
  readonly before: Job;
  readonly event: Event;
  readonly after: Job;
}

/** Returns the violation in words; null: the step violates nothing. */
type StepCheck = (step: HistoryStep) => string | null;

const possible: Readonly<Record<State, readonly EventKind[]>> = {
  // A Bedrock worker whose lease has lapsed can reclaim the pending job (handedOff) and give it children (adopted).
  pending: [
    'claimed', 'paused', 'resumed', 'handedOff', 'adopted', 'followed', 'answered', 'cancelled', 'failed', 'edited',
    'ticked',
  ],
  held: [
    'settled', 'freed', 'resumed', 'adopted', 'followed', 'proceeded', 'awaited', 'answered', 'cancelAsked', 'cancelled',
    'failed', 'edited', 'ticked',
  ],
  running: [
    'released', 'slept', 'answered', 'unanswered', 'lapsed', 'retried', 'handedOff', 'planned', 'adopted', 'followed',
    'cancelAsked', 'succeeded', 'failed',
    'cancelled', 'repeated', 'edited', 'ticked',
  ],
  ended: ['reopened', 'followed', 'edited'],
};

const checks: readonly (readonly [Invariant, StepCheck])[] = [
  ['S1', endsOnce],
  ['S2', staysEnded],
  ['S5', isHeldByOne],
  ['S6', lapsesInTime],
  ['S7', isWithinBudget],
  ['S9', beginsWithCreation],
  ['S14', isInTheTable],
  ['S17', cancelWins],
  ['S20', startsWhenDue],
  ['S27', isNumberedAndTimed],
];

export const checkStep = (step: HistoryStep): Violation[] =>
  checks.flatMap(([invariant, check]) => {
    const wrong = check(step);
    const { id } = step.after;
    return wrong === null ? [] : [violation(invariant, id, `event ${step.event.n} of job ${id}: ${wrong}`)];
  });

function endsOnce({ before, event }: HistoryStep): string | null {
  return endings.has(event.kind) && before.state === 'ended'
    ? `it ends a second time in generation ${before.generation}`
    : null;
}

function staysEnded({ before, event }: HistoryStep): string | null {
  const isAllowed = possible.ended.includes(event.kind);
  return before.state === 'ended' && !isAllowed ? `it was ${event.kind} after it had ended` : null;
}

function isHeldByOne({ before, event }: HistoryStep): string | null {
  if (event.kind !== 'claimed' || before.state !== 'running') return null;
  return `it was claimed by ${event.holder} while ${before.lease.holder} held it`;
}

/**
 * Compares the lapse with the end of the lease in the history. Extending a lease is no event, so a lapse before the end
 * of an extended lease is not found.
 */
function lapsesInTime({ before, event }: HistoryStep): string | null {
  if (event.kind !== 'lapsed' || before.state !== 'running' || before.lease.until === null) return null;
  const earlyMs = before.lease.until - event.at;
  return earlyMs > 0 ? `it lapsed ${earlyMs} ms before its lease was over` : null;
}

function isWithinBudget({ event, after }: HistoryStep): string | null {
  const { attemptsMax } = retryOf(after.policy);
  const crashesMax = crashesMaxOf(after.policy);
  if (event.kind === 'claimed' && after.attempt > attemptsMax) return `try ${after.attempt} of at most ${attemptsMax}`;
  if (event.kind === 'lapsed' && after.crashes > crashesMax) return `crash ${after.crashes} of at most ${crashesMax}`;
  return null;
}

function beginsWithCreation({ before, event }: HistoryStep): string | null {
  if ((event.kind === 'created') === (before.version === 0)) return null;
  return before.version === 0 ? `its history begins with ${event.kind}` : 'it was created a second time';
}

function isInTheTable({ before, event }: HistoryStep): string | null {
  if (before.version === 0 || event.kind === 'created') return null;
  return possible[before.state].includes(event.kind) ? null : `a job that is ${before.state} cannot be ${event.kind}`;
}

function cancelWins({ before, event }: HistoryStep): string | null {
  return event.kind === 'succeeded' && before.cancel !== null ? 'it succeeded after it was asked to give up' : null;
}

function startsWhenDue({ before, event }: HistoryStep): string | null {
  return event.kind === 'claimed' && event.at < before.due ? `it was claimed ${before.due - event.at} ms early` : null;
}

function isNumberedAndTimed({ before, event }: HistoryStep): string | null {
  if (event.n !== before.version + 1) return `it follows event ${before.version}`;
  const earlyMs = before.changed - event.at;
  return earlyMs > 0 ? `it happened ${earlyMs} ms before the one that it follows` : null;
}
