/** Parses the numbers of command-line options. `Number` alone would take an empty text for 0, and `0x10` for 16. */
import { Refusal } from '../refusal.ts';

export function wholeNumber(flag: string, text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new Refusal('malformed.option', `${flag} must be a whole number, not "${text.slice(0, 40)}"`, { flag });
}

export function decimal(flag: string, text: string): number {
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
  throw new Refusal('malformed.option', `${flag} must be a number such as 0.05, not "${text.slice(0, 40)}"`, { flag });
}

/** Parses a number of seconds between `min` and a day; returns milliseconds. */
export function secondsMs(flag: string, text: string, min: number): number {
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= min && seconds <= 86_400) return seconds * 1000;
  const message = `${flag} must be a number of seconds from ${min} to 86400, not "${text.slice(0, 40)}"`;
  throw new Refusal('malformed.option', message, { flag });
}
