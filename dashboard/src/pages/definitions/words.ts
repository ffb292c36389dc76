/** Words and looks for definitions and what became of their ticks. */
import type { DefView } from '../../../../src/http/contract.ts';
import type { Look } from '../../state/run-words.ts';

export interface Told {
  readonly look: Look;
  readonly word: string;
}

const statuses: Readonly<Record<DefView['status'], Told>> = {
  SCHEDULED: { look: 'pending', word: 'scheduled' },
  RUNNING: { look: 'running', word: 'running' },
  DISABLED: { look: 'held', word: 'disabled' },
};

/** Without a schedule it waits for somebody to run it. */
export const statusOf = ({ status, schedules }: DefView): Told =>
  status === 'SCHEDULED' && schedules.length === 0 ? { look: 'pending', word: 'by hand' } : statuses[status];

const lasts: Readonly<Record<DefView['lastExecutedStatus'], Told | null>> = {
  COMPLETED: { look: 'succeeded', word: 'succeeded' },
  FAILED: { look: 'failed', word: 'failed' },
  STOPPED: { look: 'cancelled', word: 'cancelled' },
  NOT_STARTED: null,
};

/** Null: it has not been executed yet. */
export const lastOf = ({ lastExecutedStatus }: DefView): Told | null => lasts[lastExecutedStatus];

const skips: Readonly<Record<string, string>> = {
  misfire: 'nobody was there in time, and its misfire policy skips',
  window: 'it was longer ago than the misfire window',
  cap: 'too many were missed: the cap of its misfire policy',
  gap: 'this time did not exist on that day (daylight saving)',
  overlap: 'the run before was still under way',
  disabled: 'the definition was disabled',
  edited: 'its schedule was taken away',
};

export const skipReason = (code: string): string => skips[code] ?? code;

export const overlapWords = {
  allow: 'allow: both run',
  skip: 'skip the new one',
  queue: 'queue: the new one waits',
  replace: 'replace: the old one is stopped',
} as const;

export const misfireWords = {
  skip: 'skip what was missed',
  once: 'once: one run for all that was missed',
  all: 'all: a run for each',
} as const;

export const gapWords = {
  next: 'next: runs when the gap ends', shift: 'shift: runs an hour later', skip: 'skip: does not run',
} as const;

export const twiceWords = { first: 'first: only the first', last: 'last: only the second', both: 'both' } as const;

/** `{ value, says }` for each, as a select wants them. */
export const optionsOf = <T extends string>(words: Readonly<Record<T, string>>): { value: T; says: string }[] =>
  (Object.entries(words) as [T, string][]).map(([value, says]) => ({ value, says }));
