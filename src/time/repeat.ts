/** Repeat rules of Bedrock: parses a rule of base and modifiers, and computes the next run of a job. */
import { malformed, requireText } from './malformed.ts';
import {
  applyModifiers, fixedLengthMs, itemsOf, modifierTextMax, readModifier, type Item, type Modifier,
} from './modifiers.ts';

export { applyModifiers, parseModifiers, type Modifier } from './modifiers.ts';

/** The time from which the next run is computed. */
export type RepeatBase = 'scheduled' | 'started' | 'finished';

export interface Repeat {
  readonly base: RepeatBase;
  /** At least one. */
  readonly modifiers: readonly Modifier[];
}

/** When the run that now ends was scheduled, started and finished. */
export type RepeatMoments = Readonly<Record<RepeatBase, number>>;

const namedRules = new Map<string, Modifier>([
  ['HOURLY', { kind: 'add', amount: 1, unit: 'hour' }],
  ['DAILY', { kind: 'add', amount: 1, unit: 'day' }],
  ['WEEKLY', { kind: 'add', amount: 7, unit: 'day' }],
]);

export function parseRepeat(text: string): Repeat {
  const list = requireText(text, 'malformed.repeat', 'A repeat rule', modifierTextMax);
  const whole = namedRules.get(list.toUpperCase());
  if (whole) return { base: 'finished', modifiers: [whole] };
  const [base, ...modifiers] = itemsOf(list);
  const repeat = { base: readBase(base, list), modifiers: modifiers.map((item) => readModifier(item, list)) };
  if (modifiers.length === 0) {
    throw malformed('malformed.repeat', 'Add a modifier after the base, like FINISHED, +1 HOUR.', list, list.length);
  }
  return repeat;
}

/**
 * Returns the time of the next run, in whole seconds. With base SCHEDULED it can be in the past, so that the job
 * catches up on missed runs. With `reanchor`, a job with a short interval skips them instead; see `reanchored`.
 */
export function nextRepeat(repeat: Repeat, moments: RepeatMoments, options: { reanchor?: boolean } = {}): number {
  const next = applyModifiers(repeat.modifiers, moments[repeat.base]);
  return options.reanchor ? reanchored(repeat, next, moments) : next;
}

/** With `reanchor`, only jobs with an interval below this skip missed runs, as in Bedrock. Other jobs catch up. */
const reanchorBelowMs = 4 * 3_600_000;

/**
 * If `next` is not after now, returns the first time after now that is a whole number of intervals after the scheduled
 * time, as Bedrock does since 2026. Applies only to rules with base SCHEDULED whose modifiers are all of kind `add`,
 * with an interval of at least one second and below `reanchorBelowMs`. In all other cases returns `next`.
 */
function reanchored({ base, modifiers }: Repeat, next: number, moments: RepeatMoments): number {
  const now = Math.floor(moments.finished / 1000) * 1000;
  const scheduled = Math.floor(moments.scheduled / 1000) * 1000;
  const interval = next - scheduled;
  const onlyAdds = modifiers.every(({ kind }) => kind === 'add');
  if (base !== 'scheduled' || !onlyAdds || next > now || interval < 1000 || interval >= reanchorBelowMs) return next;
  return scheduled + (Math.floor((now - scheduled) / interval) + 1) * interval;
}

/** Returns the time in ms from the base to the next run if the rule makes it constant and positive; otherwise null. */
export function periodOf({ modifiers }: Repeat): number | null {
  const length = fixedLengthMs(modifiers);
  return length !== null && length > 0 ? length : null;
}

function readBase(item: Item | undefined, list: string): RepeatBase {
  const base = item?.text.toLowerCase();
  if (base === 'scheduled' || base === 'started' || base === 'finished') return base;
  const sentence = 'Start a repeat with SCHEDULED, STARTED or FINISHED and a comma, or use HOURLY, DAILY or WEEKLY.';
  throw malformed('malformed.repeat', sentence, list, item?.position ?? 0);
}
