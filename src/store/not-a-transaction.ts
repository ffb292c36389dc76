/** The refusal of a value that was passed to `in` and is no open transaction. */
import { Refusal } from '../refusal.ts';

/** `what` says what was passed; `todo` says what to pass instead. */
export const notATransaction = (what: string, todo: string): Refusal =>
  new Refusal('malformed.store', `in() needs an open transaction and got ${what}: ${todo}`);

/** Says what a value is: its class if it has one. */
export function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object of the class ${name}` : 'an object';
}
