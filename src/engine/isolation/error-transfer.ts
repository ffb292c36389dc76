/** Transfers an error between threads or processes: converts it to data, and back. */
import { jsonText, parseJson } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import { Cancelled, Fail, Interrupted, LeaseLost, RateLimited, RetryAfter, Snooze, TimedOut } from '../handler/errors.ts';

export interface ErrorData {
  readonly name: string;
  /** The class in `makers` of which the error is an instance; null: none, and the error is rebuilt as an `Error`. */
  readonly knownClass: KnownClass | null;
  readonly message: string;
  readonly stack: string | null;
  /** The error's own enumerable properties, such as `data`, `code` and `afterMs`, as JSON. */
  readonly extras: readonly (readonly [name: string, text: string])[];
  readonly cause: ErrorData | null;
  /** The inner errors of an AggregateError. */
  readonly errors: readonly ErrorData[] | null;
}

/**
 * For each known class, a function that creates an empty error; `errorFromData` then sets the message, the stack and
 * the extras.
 */
const makers = {
  Fail: () => new Fail(''),
  RetryAfter: () => new RetryAfter('0s'),
  RateLimited: () => new RateLimited('', '0s'),
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
  AggregateError: () => new AggregateError([]),
} satisfies Record<string, () => Error>;

type KnownClass = keyof typeof makers;

const classes: ReadonlyArray<readonly [KnownClass, abstract new (...args: never[]) => Error]> = [
  ['Fail', Fail], ['RetryAfter', RetryAfter], ['RateLimited', RateLimited], ['Snooze', Snooze], ['Cancelled', Cancelled],
  ['TimedOut', TimedOut], ['LeaseLost', LeaseLost], ['Interrupted', Interrupted], ['Refusal', Refusal], ['TypeError', TypeError],
  ['RangeError', RangeError], ['ReferenceError', ReferenceError], ['SyntaxError', SyntaxError],
  ['AggregateError', AggregateError],
];

const causesMax = 4;
const innerMax = 10;
const messageMax = 10_000;
const stackMax = 20_000;
const extrasMax = 20;
const extraLimits = { bytes: 65_536, depth: 32 };
const standardNames: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause']);

/**
 * Converts a thrown value to data. Never throws: if the value cannot be read, because a getter or proxy throws, returns
 * the data of a generic error.
 */
export function errorToData(thrown: unknown): ErrorData {
  try {
    return toData(thrown, causesMax);
  } catch {
    return plain('Error', 'the handler threw a value that cannot be read');
  }
}

export function errorFromData({ name, knownClass, message, stack, extras, cause, errors }: ErrorData): Error {
  const error = knownClass === null ? new Error() : makers[knownClass]();
  const hidden: Record<string, unknown> = { message, stack: stack ?? `${name}: ${message}` };
  if (error.name !== name) hidden['name'] = name;
  if (cause) hidden['cause'] = errorFromData(cause);
  if (errors) hidden['errors'] = errors.map(errorFromData);
  for (const [key, value] of Object.entries(hidden)) define(error, key, value, false);
  for (const [key, text] of extras) define(error, key, parseJson(text), true);
  return error;
}

function toData(thrown: unknown, causesLeft: number): ErrorData {
  if (!(thrown instanceof Error)) return valueToData(thrown);
  return {
    name: nameOf(thrown),
    knownClass: classes.find(([, type]) => thrown instanceof type)?.[0] ?? null,
    message: String(thrown.message).slice(0, messageMax),
    stack: typeof thrown.stack === 'string' ? thrown.stack.slice(0, stackMax) : null,
    extras: extrasOf(thrown),
    cause: thrown.cause === undefined || causesLeft === 0 ? null : toData(thrown.cause, causesLeft - 1),
    errors: innerErrors(thrown, causesLeft),
  };
}

function innerErrors(thrown: Error, causesLeft: number): readonly ErrorData[] | null {
  if (!(thrown instanceof AggregateError) || causesLeft === 0) return null;
  return thrown.errors.slice(0, innerMax).map((inner: unknown) => toData(inner, causesLeft - 1));
}

/** `throw 'text'` becomes an error with that message; any other value becomes the `data` of an error. */
function valueToData(thrown: unknown): ErrorData {
  if (typeof thrown === 'string') return plain('Error', thrown.slice(0, messageMax));
  const message = `the handler threw ${kindOf(thrown)} instead of an error`;
  return { ...plain('Error', message), extras: extrasOf({ data: thrown }) };
}

const plain = (name: string, message: string): ErrorData => ({
  name, knownClass: null, message, stack: null, extras: [], cause: null, errors: null,
});

/**
 * Returns the `name` of an error, or the name of its class if `name` is only `Error`, as for
 * `class OutOfPaper extends Error {}`.
 */
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
  const names = Object.keys(holder).filter((name) => !standardNames.has(name)).slice(0, extrasMax);
  return names.flatMap((name) => {
    const text = textOf(holder, name);
    return text === null ? [] : [[name, text]];
  });
}

/** Returns a property as JSON text; null: JSON cannot hold it, and the error is transferred without the property. */
function textOf(holder: object, name: string): string | null {
  try {
    const value: unknown = Reflect.get(holder, name);
    return value === undefined ? null : jsonText(value, extraLimits);
  } catch {
    return null;
  }
}

function define(error: Error, name: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, name, { value, enumerable, configurable: true, writable: true });
}
