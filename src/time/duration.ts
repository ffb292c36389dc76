/** Durations: converts texts such as `30s`, `1h30m` and `250ms` to milliseconds and back. */
import { Refusal } from '../refusal.ts';
import { kindOf, malformed, requireText } from './malformed.ts';

export type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w';
type Part = `${number}${DurationUnit}`;

/** `30s`, `5m`, `1h30m`, `2d`, `1w`, `250ms`: one to three parts, largest unit first. */
export type Duration = Part | `${Part}${Part}` | `${Part}${Part}${Part}`;

/** 100 years of 365.25 days */
export const durationMax = 3_155_760_000_000;

const textMax = 64;
/** Largest first, the order of the parts in a text. */
const unitMs: ReadonlyArray<readonly [DurationUnit, number]> = [
  ['w', 604_800_000], ['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000], ['ms', 1],
];

/** Returns a duration in whole milliseconds. A number, or a text of digits only, is already in milliseconds. */
export function durationMs(value: Duration | `${number}` | number): number {
  if (typeof value === 'number') return checkBounds(value, String(value));
  const text = requireText(value, 'malformed.duration', 'A duration', textMax);
  return checkBounds(/^\d{1,15}$/.test(text) ? Number(text) : sumOfParts(text), text);
}

/** Returns a text such as `1h30m`, which `durationMs` parses to the same number. */
export function formatDuration(ms: number): string {
  let left = checkBounds(ms, String(ms));
  if (left === 0) return '0s';
  let text = '';
  for (const [unit, size] of unitMs) {
    const count = Math.floor(left / size);
    // Weeks are used only for whole weeks: 8d is easier to read than 1w1d.
    if (count === 0 || (unit === 'w' && left % size !== 0)) continue;
    text += `${count}${unit}`;
    left -= count * size;
  }
  return text;
}

function sumOfParts(text: string): number {
  const part = /(\d{1,15}(?:\.\d{1,9})?)(ms|[smhdw])/y;
  let sum = 0;
  let rank = -1;
  while (part.lastIndex < text.length || rank === -1) {
    const start = part.lastIndex;
    const found = part.exec(text);
    if (!found) throw malformed('malformed.duration', howTo, text, start);
    const next = unitMs.findIndex(([unit]) => unit === found[2]);
    if (next <= rank) {
      const sentence = 'Write the units of a duration from large to small, each once, like 1h30m.';
      throw malformed('malformed.duration', sentence, text, start);
    }
    rank = next;
    sum += product(Number(found[1]), unitMs[next]![1]);
  }
  return sum;
}

/**
 * Multiplies, and removes errors of floating point: 1.1h would be 3960000.0000000005 ms. A real fraction of a
 * millisecond stays, so that `checkBounds` refuses it.
 */
function product(count: number, size: number): number {
  const exact = count * size;
  const whole = Math.round(exact);
  return Math.abs(exact - whole) < 1e-3 ? whole : exact;
}

const howTo = 'Write the duration as numbers with units w, d, h, m, s or ms, like 30s, 5m or 1h30m.';

function checkBounds(ms: number, text: string): number {
  if (Number.isInteger(ms) && ms >= 0 && ms <= durationMax) return ms;
  const limits = 'a whole number of milliseconds between 0 and 100 years';
  throw new Refusal('malformed.duration', `A duration must be ${limits}, not ${kindOf(ms)}.`, { position: 0, text });
}
