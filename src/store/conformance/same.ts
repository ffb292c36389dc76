/** Sameness of what stores answer: by content, whatever the objects are made of. */
import { deepEqual } from 'node:assert/strict';

/** Plain data with sorted keys; what is undefined is not there. */
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

/** As `same` means it, without building anything: random histories ask this a million times. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map || b instanceof Map) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false;
  return hasFieldsOf(a, b) && hasFieldsOf(b, a);
}

function hasFieldsOf(a: object, b: object): boolean {
  for (const name of Object.keys(b)) {
    const [mine, theirs] = [(a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]];
    if (theirs !== undefined && mine !== theirs && !(Object.hasOwn(a, name) && isSame(mine, theirs))) return false;
  }
  return true;
}

/** The same members, in whatever order. */
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
