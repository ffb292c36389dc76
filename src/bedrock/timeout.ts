/** The timeout of a command, in ms from its arrival. */
import { atoi, textOf, type Headers } from './parameters.ts';

const defaultMs = 110_000;
const maxMs = 86_400_000;

/** Returns the timeout in the headers, or the default; 0 or less: the command has timed out already. */
export function timeoutOf(headers: Headers): number {
  const text = textOf(headers, 'timeout');
  return text === undefined ? defaultMs : Math.min(atoi(text), maxMs);
}
