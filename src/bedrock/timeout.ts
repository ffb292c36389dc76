/** The time that a command may take, in ms from its arrival. */
import { atoi, textOf, type Headers } from './parameters.ts';

const defaultMs = 110_000;
/** Longer than any worker waits, and short enough for a timer. */
const maxMs = 86_400_000;

/** 0 or less: there is no time left. */
export function timeoutOf(headers: Headers): number {
  const text = textOf(headers, 'timeout');
  return text === undefined ? defaultMs : Math.min(atoi(text), maxMs);
}
