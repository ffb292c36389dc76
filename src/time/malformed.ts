/** The refusal of a text that cannot be parsed, with the position of the error. */
import { Refusal, type RefusalCode } from '../refusal.ts';

const shownMax = 200;

/** Returns a refusal for the caller to throw; `position` is the 0-based index of the error in `text`. */
export function malformed(code: RefusalCode, sentence: string, text: string, position: number): Refusal {
  return new Refusal(code, sentence, { position, text: text.slice(0, shownMax) });
}

/** Returns the value if it is a string of at most `max` characters; otherwise refuses it before it is parsed. */
export function requireText(value: unknown, code: RefusalCode, what: string, max: number): string {
  if (typeof value !== 'string') throw malformed(code, `${what} must be a text, not ${kindOf(value)}.`, '', 0);
  if (value.length > max) {
    throw malformed(code, `${what} has ${value.length} characters: use at most ${max}.`, value, max);
  }
  return value;
}

/** Describes a wrong value for a refusal: a number by its digits, any other value by its type. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return value === undefined ? 'missing' : `a value of type ${typeof value}`;
}
