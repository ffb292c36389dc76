/** Texts and statuses of definitions, their policies and their ticks. */
import type { Answer, DefView } from '../../../../src/http/contract.ts';
import type { SelectOption } from '../../components/field.tsx';
import type { StatusLabel } from '../../state/run-status.ts';

const statuses: Readonly<Record<DefView['status'], StatusLabel>> = {
  SCHEDULED: { status: 'pending', text: 'scheduled' },
  RUNNING: { status: 'running', text: 'running' },
  DISABLED: { status: 'held', text: 'disabled' },
};

export function statusOf({ status, schedules, spec: { after = [] } }: DefView): StatusLabel {
  if (status !== 'SCHEDULED' || schedules.length > 0) return statuses[status];
  return { status: 'pending', text: after.length > 0 ? 'follows' : 'manual' };
}

/** Says when a definition runs by itself; null: never. */
export function scheduleText({ schedules, spec: { after = [] } }: DefView): string | null {
  const texts = [...schedules.map(({ words }) => words), ...(after.length > 0 ? [`after ${after.join(', ')}`] : [])];
  return texts.length > 0 ? texts.join('; ') : null;
}

const outcomes: Readonly<Record<DefView['lastExecutedStatus'], StatusLabel | null>> = {
  COMPLETED: { status: 'succeeded', text: 'succeeded' },
  FAILED: { status: 'failed', text: 'failed' },
  STOPPED: { status: 'cancelled', text: 'cancelled' },
  NOT_STARTED: null,
};

/** The outcome of the last run; null: no run has been executed yet. */
export const lastOutcomeOf = ({ lastExecutedStatus }: DefView): StatusLabel | null => outcomes[lastExecutedStatus];

type TickOutcome = Answer<'previewDef'>['items'][number]['does'];

const tickLabels: Readonly<Record<TickOutcome, StatusLabel>> = {
  runs: { status: 'pending', text: 'runs' },
  'is skipped': { status: 'cancelled', text: 'skipped' },
  waits: { status: 'held', text: 'waits' },
  replaces: { status: 'cancelling', text: 'replaces the running one' },
};

export const tickLabel = (outcome: TickOutcome): StatusLabel => tickLabels[outcome];

const skipReasons: Readonly<Record<string, string>> = {
  undeclared: 'no running instance declares it',
  predecessor: 'a definition that it follows got no run',
  misfire: 'missed, and the misfire policy is skip',
  window: 'missed by more than the misfire window',
  cap: 'more ticks were missed than the misfire policy allows',
  gap: 'this time did not exist on that day (daylight saving)',
  overlap: 'the previous run had not ended',
  disabled: 'the definition was disabled',
  edited: 'the schedule was removed',
  refused: 'a middleware, or the rules of the type, refused the run',
};

export const skipReason = (code: string): string => skipReasons[code] ?? code;

export const overlapTexts = {
  allow: 'allow: both run',
  skip: 'skip: the new run is skipped',
  queue: 'queue: the new run waits',
  replace: 'replace: the old run is cancelled',
} as const;

export const misfireTexts = {
  skip: 'skip: no run',
  once: 'once: one run for all missed ticks',
  all: 'all: one run for each missed tick',
} as const;

export const followTexts = {
  succeeded: 'after success: otherwise it is cancelled',
  wait: 'after success: otherwise it waits for a retry',
  failed: 'after a failure: otherwise it is cancelled',
  ended: 'after the end, whatever happened',
} as const;

export const gapTexts = {
  next: 'next: run when the gap ends', shift: 'shift: run an hour later', skip: 'skip: do not run',
} as const;

export const repeatTexts = {
  first: 'first: run only the first time', last: 'last: run only the second time', both: 'both: run twice',
} as const;

export const optionsOf = <T extends string>(texts: Readonly<Record<T, string>>): SelectOption<T>[] =>
  (Object.entries(texts) as [T, string][]).map(([value, label]) => ({ value, label }));
