/** Reads the options of a store from the query of its URL: converts each text to the value that the option requires. */
import { Refusal } from '../refusal.ts';

/** Converts the text of one option to its value; throws an error whose message says which values are allowed. */
type ReadOption = (text: string) => unknown;

export type OptionReaders = Readonly<Record<string, ReadOption>>;

/**
 * Converts the options in `texts` by the readers of the same names. Refuses `malformed.store` if a name is unknown or a
 * value is not allowed. The message names `scheme` as the kind of URL.
 */
export function readOptions(scheme: string, readers: OptionReaders, texts: Readonly<Record<string, string>>): object {
  const read = ([name, text]: [string, string]): [string, unknown] => {
    checkName(scheme, readers, name);
    try {
      return [name, readers[name]!(text)];
    } catch (error) {
      throw new Refusal('malformed.store', `the option ${name} of the store URL ${(error as Error).message}`, { name });
    }
  };
  return Object.fromEntries(Object.entries(texts).map(read));
}

function checkName(scheme: string, readers: OptionReaders, name: string): void {
  if (Object.hasOwn(readers, name)) return;
  const known = Object.keys(readers).join(', ');
  const message = `unknown option "${name.slice(0, 40)}" of a ${scheme} URL; it takes ${known}`;
  throw new Refusal('malformed.store', message, { name: name.slice(0, 40) });
}

export const text: ReadOption = (value) => {
  if (value === '') throw new Error('must not be empty');
  return value;
};

export const flag: ReadOption = (value) => {
  if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
  return value === 'true';
};

export const whole = (min: number, max: number): ReadOption => (value) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`must be an integer from ${min} to ${max}`);
  return number;
};

export const oneOf = (...values: readonly string[]): ReadOption => (value) => {
  if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`);
  return value;
};
