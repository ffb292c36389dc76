/** The refusal of a text that cannot be parsed, with the position of the error. */
import { Refusal, type RefusalCode } from '../refusal.ts';

const shownMax = 200;

/** A refusal to throw; `position` is the 0-based index of the error in `text`. */
export function malformed(code: RefusalCode, sentence: string, text: string, position: number): Refusal {
  return new Refusal(code, sentence, { position, text: text.slice(0, shownMax) });
}

/** Returns the value if it is a string of at most `max` characters, so that no parser gets a longer one. */
export function requireText(value: unknown, code: RefusalCode, what: string, max: number): string {
  if (typeof value !== 'string') throw malformed(code, `${what} must be a text, not ${kindOf(value)}.`, '', 0);
  if (value.length > max) {
    throw malformed(code, `${what} has ${value.length} characters: use at most ${max}.`, value, max);
  }
  return value;
}

/** Describes the type of a wrong value, without showing its content. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return value === undefined ? 'missing' : `a value of type ${typeof value}`;
}
