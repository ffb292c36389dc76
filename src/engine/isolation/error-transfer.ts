/** Transfers an error across a thread or process border: as data on one side, rebuilt on the other. */
import { jsonText, parseJson } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { Cancelled, Fail, Interrupted, LeaseLost, RetryAfter, Snooze, TimedOut } from '../handler/errors.ts';

export interface ErrorData {
  readonly name: string;
  /** Which class of ours it is, or of the language; the rest are plain errors with a name. */
  readonly meaning: Meaning | null;
  readonly message: string;
  readonly stack: string | null;
  /** What else hangs on it (`data`, `code`, `afterMs`), as JSON texts by name. */
  readonly extras: readonly (readonly [name: string, text: string])[];
  readonly cause: ErrorData | null;
}

/** Empty ones of each class that keeps its meaning; what they hold comes with the extras. */
const makers = {
  Fail: () => new Fail(''),
  RetryAfter: () => new RetryAfter('0s'),
  Snooze: () => new Snooze('0s'),
  Cancelled: () => new Cancelled(),
  TimedOut: () => new TimedOut(),
  LeaseLost: () => new LeaseLost(),
  Interrupted: () => new Interrupted(),
  Refusal: () => new Refusal('contended', ''),
  TypeError: () => new TypeError(),
  RangeError: () => new RangeError(),
  ReferenceError: () => new ReferenceError(),
  SyntaxError: () => new SyntaxError(),
} satisfies Record<string, () => Error>;

type Meaning = keyof typeof makers;

const classes: ReadonlyArray<readonly [Meaning, abstract new (...given: never[]) => Error]> = [
  ['Fail', Fail], ['RetryAfter', RetryAfter], ['Snooze', Snooze], ['Cancelled', Cancelled], ['TimedOut', TimedOut],
  ['LeaseLost', LeaseLost], ['Interrupted', Interrupted], ['Refusal', Refusal], ['TypeError', TypeError],
  ['RangeError', RangeError], ['ReferenceError', ReferenceError], ['SyntaxError', SyntaxError],
];

const causesMax = 4;
const messageMax = 10_000;
const stackMax = 20_000;
const extrasMax = 20;
const extraLimits = { bytes: 65_536, depth: 32 };
const ownWords: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause']);

/** Never throws, whatever was thrown: even a look at it may fail. */
export function errorToData(thrown: unknown): ErrorData {
  try {
    return toData(thrown, causesMax);
  } catch {
    return plain('Error', 'something was thrown that cannot be told');
  }
}

export function errorFromData({ name, meaning, message, stack, extras, cause }: ErrorData): Error {
  const error = meaning === null ? new Error() : makers[meaning]();
  const hidden: Record<string, unknown> = { message, stack: stack ?? `${name}: ${message}` };
  if (error.name !== name) hidden['name'] = name;
  if (cause) hidden['cause'] = errorFromData(cause);
  for (const [word, value] of Object.entries(hidden)) define(error, word, value, false);
  for (const [word, text] of extras) define(error, word, parseJson(text), true);
  return error;
}

function toData(thrown: unknown, causesLeft: number): ErrorData {
  if (!(thrown instanceof Error)) return valueToData(thrown);
  return {
    name: nameOf(thrown),
    meaning: classes.find(([, type]) => thrown instanceof type)?.[0] ?? null,
    message: String(thrown.message).slice(0, messageMax),
    stack: typeof thrown.stack === 'string' ? thrown.stack.slice(0, stackMax) : null,
    extras: extrasOf(thrown),
    cause: thrown.cause === undefined || causesLeft === 0 ? null : toData(thrown.cause, causesLeft - 1),
  };
}

/** `throw 'a text'` becomes an error with that text; other values are its data. */
function valueToData(thrown: unknown): ErrorData {
  if (typeof thrown === 'string') return plain('Error', thrown.slice(0, messageMax));
  return { ...plain('Error', `a handler threw no error but ${kindOf(thrown)}`), extras: extrasOf({ data: thrown }) };
}

const plain = (name: string, message: string): ErrorData => ({
  name, meaning: null, message, stack: null, extras: [], cause: null,
});

/** `class OutOfPaper extends Error {}` has the name Error, and its class tells more. */
function nameOf(error: Error): string {
  const { name } = error;
  const isSpecific = typeof name === 'string' && name !== '' && name !== 'Error';
  return (isSpecific ? name : error.constructor.name || 'Error').slice(0, 200);
}

function kindOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value).slice(0, 200);
}

function extrasOf(holder: object): [string, string][] {
  const words = Object.keys(holder).filter((word) => !ownWords.has(word)).slice(0, extrasMax);
  return words.flatMap((word) => {
    const text = textOf(holder, word);
    return text === null ? [] : [[word, text]];
  });
}

/** Null for what is no JSON: an error must arrive, with or without all that hangs on it. */
function textOf(holder: object, word: string): string | null {
  try {
    const value: unknown = Reflect.get(holder, word);
    return value === undefined ? null : jsonText(value, extraLimits);
  } catch {
    return null;
  }
}

function define(error: Error, word: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, word, { value, enumerable, configurable: true, writable: true });
}
