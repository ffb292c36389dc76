/**
 * JSON as Stint stores it: text within limits of size and depth, without the keys in `unsafeKeys`. Bedrock's data is
 * stored as written instead (`checkExactText`), because its workers use other languages.
 */
import { isRefusal, Refusal } from '../refusal.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface JsonLimits {
  /** Size of the text in UTF-8. */
  readonly bytes: number;
  /** Nesting of arrays and objects: `[]` has depth 1, a bare number 0. */
  readonly depth: number;
}

export const defaultJsonLimits: JsonLimits = { bytes: 1_048_576, depth: 64 };
/** SQLite's JSON functions, with which Bedrock's queries read the data, accept at most 1,000 levels. */
export const exactJsonLimits: JsonLimits = { bytes: 1_048_576, depth: 1000 };

const unsafeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const pathShownMax = 200;

/**
 * Returns the JSON text of a user's value. Undefined is left out of objects; in arrays and as the whole value, it
 * becomes null. Throws `malformed.json`, with the path of the wrong value in the detail, for NaN, BigInts, functions,
 * symbols, Maps and other objects that are neither plain nor have `toJSON`, for unsafe keys, and beyond the limits.
 * `checkJsonText` would return the same text.
 */
export function jsonText(value: unknown, limits: JsonLimits = defaultJsonLimits): string {
  if (value === undefined) return 'null';
  const text = new PlainDataCheck(limits).isPlainData(value) ? JSON.stringify(value) : wellFormed(checkedText(value, limits));
  checkBytes(text, limits);
  return text;
}

/**
 * Checks a text from outside, and returns it with half surrogate pairs replaced by escapes. Throws `malformed.json` if
 * the text is no JSON, exceeds the limits, or contains an unsafe key or a number such as 1e999, which is read as
 * Infinity.
 */
export function checkJsonText(text: string, limits: JsonLimits = defaultJsonLimits): string {
  checkBytes(text, limits);
  checkDepth(text, limits);
  const value = parsed(text);
  if (!isFit(value)) checkedText(value, limits);
  return wellFormed(text);
}

/**
 * Like `checkJsonText`, but accepts every key and number. Parse the text with `parseExact`. Do not copy the members of
 * the parsed value by assignment: a key may be `__proto__`.
 */
export function checkExactText(text: string, limits: JsonLimits = exactJsonLimits): string {
  checkBytes(text, limits);
  checkDepth(text, limits);
  parsed(text);
  return wellFormed(text);
}

const wellFormed = (text: string): string =>
  text.isWellFormed() ? text : text.replace(/\p{Surrogate}/gu, escapedUnit);

/**
 * Parses a text and leaves out the keys in `unsafeKeys`. A text that `checkJsonText` has accepted contains none of
 * them.
 */
export function parseJson(text: string): Json {
  return parsed(text, mayHaveUnsafeKey(text) ? leaveOutUnsafe : undefined);
}

/**
 * Parses a text and keeps its numbers as written, because other languages have integers beyond 2^53. Write the value
 * with `exactText`.
 */
export const parseExact = (text: string): Json => parsed(text, asWritten);

/** Parses a text and keeps only those numbers as written that JavaScript would write in another way. */
export const parseFaithfully = (text: string): Json => parsed(text, asWrittenIfOther);

/**
 * Returns the JSON text of a value from `parseExact`, also after changes to it. Throws `malformed.json` beyond the
 * limits.
 */
export const exactText = (value: Json): string => checkExactText(JSON.stringify(value));

/** Returns the text of a string, a number (as written), true or false; undefined for null, arrays and objects. */
export function scalarText(value: Json | undefined): string | undefined {
  if (isRaw(value)) return value.rawJSON;
  return value === null || typeof value === 'object' || value === undefined ? undefined : String(value);
}

/**
 * Applies a JSON Merge Patch (RFC 7396): members of the patch replace those of the target, and null removes a member.
 */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key) ?? null, change));
  }
  return Object.fromEntries(merged);
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value);

/** TypeScript's library does not declare JSON.rawJSON yet. */
const exactJson = JSON as unknown as { rawJSON(text: string): Json; isRawJSON(value: unknown): boolean };

/** Whether the value is a number that `parseExact` has kept as written. */
export const isExactNumber = (value: unknown): boolean => isRaw(value);

const isRaw = (value: unknown): value is { readonly rawJSON: string } => exactJson.isRawJSON(value);

const asWritten = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? exactJson.rawJSON(context.source) : value;

const asWrittenIfOther = (key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && String(value) === context?.source ? value : asWritten(key, value, context);

function checkedText(value: unknown, limits: JsonLimits): string {
  const walk = new JsonWalk(limits);
  try {
    const text: string | undefined = JSON.stringify(value, function (this: object, key, value: unknown) {
      return walk.visit(this, key, value);
    });
    return text ?? 'null';
  } catch (error) {
    const cause = error instanceof Error ? ` (${error.message.slice(0, 200)})` : '';
    throw isRefusal(error) ? error : walk.refusal(`it cannot be read${cause}`);
  }
}

/**
 * Detects plain data, which JSON.stringify writes without loss. All other values go through `JsonWalk`, which takes
 * five times as long and reports where an invalid value is.
 */
class PlainDataCheck {
  readonly #depth: number;
  #charsLeft: number;

  constructor({ bytes, depth }: JsonLimits) {
    this.#depth = depth;
    this.#charsLeft = bytes;
  }

  isPlainData(value: unknown): boolean {
    try {
      return this.#isData(value, this.#depth);
    } catch {
      // Reading the value threw an error. `JsonWalk` will get the same error and refuse the value.
      return false;
    }
  }

  #isData(value: unknown, depthLeft: number): boolean {
    this.#charsLeft -= typeof value === 'string' ? value.length : 1;
    if (this.#charsLeft < 0) return false;
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
    if (typeof value === 'number') return Number.isFinite(value);
    return typeof value === 'object' && depthLeft > 0 && this.#holdsData(value, depthLeft - 1);
  }

  #holdsData(value: object, depthLeft: number): boolean {
    if ('toJSON' in value) return false;
    if (Array.isArray(value)) {
      for (const item of value) if (!this.#isData(item, depthLeft)) return false;
      return true;
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const key in value) {
      const member = (value as Record<string, unknown>)[key];
      if (unsafeKeys.has(key) || (member !== undefined && !this.#isData(member, depthLeft))) return false;
    }
    return true;
  }
}

/**
 * Checks each value while JSON.stringify writes it, because only JSON.stringify sees the results of `toJSON`. Refuses
 * the first value that is too deep, so that the stack stays shallow. Refuses the whole value as soon as its text is
 * known to be too long: a small object that contains another many times could become a huge text.
 */
class JsonWalk {
  readonly #limits: JsonLimits;
  /** The objects and arrays that enclose the current value, outermost first. `#keys` has the current key of each. */
  readonly #holders: object[] = [];
  readonly #keys: string[] = [];
  #charsAtLeast = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  visit(holder: object, key: string, value: unknown): unknown {
    this.#follow(holder, key);
    if (unsafeKeys.has(key)) throw this.refusal(`a key cannot be ${key}`);
    if (value === undefined && !Array.isArray(holder)) return value;
    this.#checkLength(value);
    this.#checkKind(holder, key, value);
    if (typeof value === 'object' && value !== null) this.#checkObject(value);
    return value;
  }

  refusal(why: string): Refusal {
    const path = pathOf(this.#keys.slice(1));
    return new Refusal('malformed.json', `cannot keep this as JSON: ${why}, at ${path}`, { path });
  }

  #follow(holder: object, key: string): void {
    const depth = this.#holders.length;
    if (depth === 0 || this.#holders[depth - 1] !== holder) this.#turnTo(holder);
    this.#keys[this.#keys.length - 1] = key;
  }

  /**
   * Makes `holder` the last entry of `#holders`. If it is not an entry yet, adds it; if it is, removes the entries
   * after it.
   */
  #turnTo(holder: object): void {
    const level = this.#holders.lastIndexOf(holder);
    if (level < 0) this.#holders.push(holder);
    else this.#holders.length = level + 1;
    this.#keys.length = this.#holders.length;
  }

  #checkLength(value: unknown): void {
    this.#charsAtLeast += typeof value === 'string' ? value.length : 1;
    if (this.#charsAtLeast > this.#limits.bytes) throw this.refusal(tooLong(this.#limits));
  }

  #checkKind(holder: object, key: string, value: unknown): void {
    if (typeof value === 'number' && !Number.isFinite(value)) throw this.refusal(`${value} is no JSON number`);
    if (typeof value === 'bigint') throw this.refusal('a BigInt is no JSON value: make it a string');
    if (typeof value === 'function' || typeof value === 'symbol') throw this.refusal(`a ${typeof value} is no data`);
    if (value === null && isInvalidDate(Reflect.get(holder, key))) throw this.refusal('the Date is invalid');
  }

  #checkObject(value: object): void {
    if (isRaw(value) && !isFit(parsed(value.rawJSON))) throw this.refusal(`${value.rawJSON.slice(0, 50)} is no JSON number`);
    if (this.#holders.includes(value)) throw this.refusal('it contains itself');
    if (this.#holders.length > this.#limits.depth) throw this.refusal(tooDeep(this.#limits));
    if (!Array.isArray(value) && !isPlain(value)) {
      throw this.refusal(`a ${nameOfClass(value)} is no plain object and has no toJSON`);
    }
  }
}

const tooLong = ({ bytes }: JsonLimits): string => `its text is longer than ${bytes} bytes`;
const tooDeep = ({ depth }: JsonLimits): string => `it is more than ${depth} levels deep`;

const isInvalidDate = (value: unknown): boolean => value instanceof Date && Number.isNaN(value.getTime());

/** Whether the object is plain. Objects of another realm, with an Object.prototype of their own, are plain too. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOfClass(value: object): string {
  const { name } = value.constructor;
  return typeof name === 'string' && name !== '' ? name.slice(0, 50) : 'class instance';
}

/** Returns a path such as `$.lines[3].price`. Keys that are not identifiers are in brackets. */
function pathOf(keys: readonly string[]): string {
  const steps = keys.map((key) => {
    if (/^\d{1,10}$/.test(key)) return `[${key}]`;
    return /^[A-Za-z_]\w{0,50}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 50))}]`;
  });
  const path = `$${steps.join('')}`;
  return path.length > pathShownMax ? `${path.slice(0, pathShownMax)}…` : path;
}

function checkBytes(text: string, limits: JsonLimits): void {
  if (text.length <= limits.bytes && Buffer.byteLength(text) <= limits.bytes) return;
  throw new Refusal(
    'malformed.json', `cannot keep this as JSON: ${tooLong(limits)}`, { path: '$', bytesMax: limits.bytes },
  );
}

/** Refuses a text that is too deep before JSON.parse builds its values. The text could be a million brackets. */
function checkDepth(text: string, limits: JsonLimits): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === ']' || char === '}') depth--;
    else if ((char === '[' || char === '{') && ++depth > limits.depth) {
      const message = `cannot keep this as JSON: ${tooDeep(limits)}, at character ${at + 1}`;
      throw new Refusal('malformed.json', message, { path: '$', position: at });
    }
  }
}

function parsed(text: string, revive?: (key: string, value: unknown, context?: { source?: string }) => unknown): Json {
  try {
    return JSON.parse(text, revive) as Json;
  } catch (error) {
    throw notJson(text, error);
  }
}

/**
 * Returns the refusal of a text that is not JSON, with the position if the parser reports one. The refusal does not
 * quote the text, which may contain a secret.
 */
function notJson(text: string, error: unknown): Refusal {
  const found = /at position (\d+)/.exec(String(error))?.[1];
  const position = found === undefined ? null : Math.min(Number(found), text.length);
  const where = position === null ? '' : `, at character ${position + 1}`;
  return new Refusal('malformed.json', `cannot read this as JSON: it is not valid${where}`, { path: '$', position });
}

/**
 * Whether a parsed value has no unsafe key and no infinite number, such as 1e999. Faster than `JsonWalk`, which
 * `checkJsonText` uses only if the result is false, to report the path of the wrong value.
 */
function isFit(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isFit);
  return Object.entries(value).every(([key, member]) => !unsafeKeys.has(key) && isFit(member));
}

/** Whether the text may contain an unsafe key. Every `\u` escape counts, because it may be a part of such a key. */
const mayHaveUnsafeKey = (text: string): boolean => /__proto__|constructor|prototype|\\u/.test(text);

const leaveOutUnsafe = (key: string, value: unknown): unknown => (unsafeKeys.has(key) ? undefined : value);

const escapedUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16)}`;
