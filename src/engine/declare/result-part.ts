/**
 * The result part: a reference to the result of a run that has not ended yet, or to a part of it. It is data, not a
 * function, so that any process can insert the value when the run has ended.
 */
import type { Path } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';

declare const partOf: unique symbol;
declare const maybeOf: unique symbol;

/** A part of the result of a run that succeeds. */
export interface SurePart<T> {
  readonly [partOf]: T;
}

/** The result of a run, or null if the run does not succeed. */
export interface MaybePart<T> extends SurePart<T> {
  readonly [maybeOf]: T;
}

/** The result of a run, whose members are parts as well. Elements of an array are reached by their index. */
export type ResultPart<T> = SurePart<T> & PartMembers<T>;

type PartMembers<T> = T extends readonly (infer Element)[] ? { readonly [index: number]: ResultPart<Element> }
  : T extends object ? { readonly [Name in keyof T]: ResultPart<T[Name]> }
  : unknown;

/** An input in which every part may be a part of a result. `Part` says which parts are accepted. */
export type Linked<T, Certainty extends 'sure' | 'maybe'> = T | PartFor<T, Certainty> | LinkedMembers<T, Certainty>;

type PartFor<T, Certainty> = Certainty extends 'sure' ? SurePart<T> : MaybePart<T>;

type LinkedMembers<T, Certainty extends 'sure' | 'maybe'> =
  T extends readonly (infer Element)[] ? readonly Linked<Element, Certainty>[]
  : T extends object ? { readonly [Name in keyof T]: Linked<T[Name], Certainty> }
  : never;

/** A part of the result of the run `run`, and where it is inserted. */
export interface PlacedPart {
  readonly run: object;
  readonly from: Path;
  readonly to: Path;
  readonly isSure: boolean;
}

const parts = new WeakMap<object, Omit<PlacedPart, 'to'>>();

/** Refuses what needs the value of a result: a part would silently become "[object Object]" or an empty object. */
const opaque = {
  get: (_: object, name: string | symbol): undefined => {
    if (name === Symbol.toPrimitive) throw notKnownYet('become text or a number');
    if (name === Symbol.iterator) throw notKnownYet('be iterated');
  },
  ownKeys: (): never => {
    throw notKnownYet('be spread');
  },
};

/** Returns a reference to the result of `run`; its members are references to the members of the result. */
export function resultPart<T>(run: object, from: Path = []): ResultPart<T> {
  const part = new Proxy({}, {
    // `then` is absent: otherwise an accidental `await` of a part would wait forever.
    ...opaque,
    get: (target, name) =>
      (typeof name === 'symbol' || name === 'then' ? opaque.get(target, name) : resultPart(run, [...from, name])),
  });
  parts.set(part, { run, from, isSure: true });
  return part as ResultPart<T>;
}

const notKnownYet = (what: string): Refusal => new Refusal(
  'malformed.flow', `a result cannot ${what} before its run has ended: use it, or a member of it, as a part of the input`,
);

export function resultOrNullPart<T>(run: object): MaybePart<T | null> {
  const part = new Proxy({}, opaque);
  parts.set(part, { run, from: [], isSure: false });
  return part as MaybePart<T | null>;
}

const depthMax = 200;

/** Returns the input with null in place of result parts, and these parts; an input without parts is returned as it is. */
export function separateParts(input: unknown): { readonly input: unknown; readonly placed: readonly PlacedPart[] } {
  const placed: PlacedPart[] = [];
  const separated = replaceParts(input, (part) => {
    placed.push(part);
    return null;
  });
  return placed.length === 0 ? { input, placed } : { input: separated, placed };
}

/** Returns the input with `replace` of each result part. */
export function replaceParts(input: unknown, replace: (part: PlacedPart) => unknown): unknown {
  const replaced = (value: unknown, to: Path): unknown => {
    if (typeof value !== 'object' || value === null || to.length > depthMax) return value;
    const part = parts.get(value);
    if (part) return replace({ ...part, to });
    if (Array.isArray(value)) return value.map((element, index) => replaced(element, [...to, index]));
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member, [...to, name])]));
  };
  return replaced(input, []);
}

export const unsureResult = (): Refusal =>
  new Refusal('malformed.flow', 'the run starts although the run before it may have no result: use resultOrNull');

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
