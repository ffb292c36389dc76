/** Rates: converts texts such as `500/1m` and `10/s` to a number per period and back. */
import { durationMs, formatDuration, type Duration, type DurationUnit } from './duration.ts';
import { malformed, requireText } from './malformed.ts';

/** `500/1m`: 500 per minute. `10/s`: 10 per second. */
export type RateText = `${number}/${Duration | DurationUnit}`;

export interface CountPerPeriod {
  readonly count: number;
  /** The period, in milliseconds. */
  readonly per: number;
}

const textMax = 64;
const countMax = 1_000_000_000;
/** 366 days */
const perMax = 31_622_400_000;
const howTo = 'Write a rate as a number per period, like 500/1m or 10/s.';

export function parseRate(value: RateText | (string & {})): CountPerPeriod {
  const text = requireText(value, 'malformed.rate', 'A rate', textMax);
  const found = /^(\d{1,10})\/(.+)$/.exec(text);
  if (!found) throw malformed('malformed.rate', howTo, text, 0);
  const count = Number(found[1]);
  if (count < 1 || count > countMax) {
    throw malformed('malformed.rate', `The number of a rate must be from 1 to ${countMax}.`, text, 0);
  }
  return { count, per: periodOf(text, found[2]!) };
}

/** Returns a text such as `500/1m`, which `parseRate` parses to the same rate. */
export const formatRate = ({ count, per }: CountPerPeriod): string => `${count}/${formatDuration(per)}`;

function periodOf(text: string, period: string): number {
  const position = text.length - period.length;
  const per = periodMs(text, period, position);
  if (per >= 1 && per <= perMax) return per;
  throw malformed('malformed.rate', 'The period of a rate must be from 1ms to 366d.', text, position);
}

function periodMs(text: string, period: string, position: number): number {
  // A period needs a unit: `500/60` could mean seconds or milliseconds.
  if (/^\d+$/.test(period)) throw malformed('malformed.rate', howTo, text, position);
  try {
    return durationMs((/^[a-z]+$/.test(period) ? `1${period}` : period) as Duration);
  } catch {
    throw malformed('malformed.rate', howTo, text, position);
  }
}
