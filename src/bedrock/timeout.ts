/** The timeout of a command, in ms from its arrival. */
import { atoi, textOf, type Headers } from './parameters.ts';

const defaultMs = 110_000;
/** Longer than any worker waits. */
const maxMs = 86_400_000;

/** 0 or less: the command has timed out already. */
export function timeoutOf(headers: Headers): number {
  const text = textOf(headers, 'timeout');
  return text === undefined ? defaultMs : Math.min(atoi(text), maxMs);
}
