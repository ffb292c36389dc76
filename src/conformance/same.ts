/** Equality of stores' answers by content, ignoring prototypes. */
import { deepEqual } from 'node:assert/strict';
import { isSame } from '../verify/same.ts';

/** Plain data with sorted keys, without undefined members. */
export function plain(value: unknown): unknown {
  if (value instanceof Map) return plain([...value].sort(([a], [b]) => compare(a, b)));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => compare(a, b)).map(([name, field]) => [name, plain(field)]));
}

export function same(actual: unknown, expected: unknown, message?: string): void {
  if (!isSame(actual, expected)) deepEqual(plain(actual), plain(expected), message);
}

/** The same members in any order. */
export function sameMembers(actual: readonly unknown[], expected: readonly unknown[], message?: string): void {
  same(sorted(actual), sorted(expected), message);
}

export const byId = <T extends { readonly id: number }>(jobs: readonly T[]): T[] =>
  [...jobs].sort((a, b) => a.id - b.id);

const sorted = (members: readonly unknown[]): unknown[] =>
  members
    .map((member) => ({ member, text: JSON.stringify(plain(member)) }))
    .sort((a, b) => compare(a.text, b.text))
    .map(({ member }) => member);

const compare = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
