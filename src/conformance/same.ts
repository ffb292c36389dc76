/** Checks that answers of stores are equal in content; prototypes and the order of keys do not matter. */
import { deepEqual } from 'node:assert/strict';
import { isSame } from '../verify/same.ts';

/** Returns the value as plain data: keys sorted, undefined members omitted, and each Map as a sorted list of pairs. */
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

export function sameMembers(actual: readonly unknown[], expected: readonly unknown[], message?: string): void {
  same(sorted(actual), sorted(expected), message);
}

export const byId = <T extends { readonly id: number }>(jobs: readonly T[]): T[] =>
  [...jobs].sort((a, b) => a.id - b.id);

export const idsOf = (jobs: readonly { readonly id: number }[]): number[] => jobs.map(({ id }) => id);

const sorted = (members: readonly unknown[]): unknown[] =>
  members
    .map((member) => ({ member, text: JSON.stringify(plain(member)) }))
    .sort((a, b) => compare(a.text, b.text))
    .map(({ member }) => member);

const compare = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
