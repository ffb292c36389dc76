// The bounded map: what it keeps, and which entry it evicts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/time/bounded-map.ts';

const filled = (): BoundedMap<string, number> => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  return map;
};

test('a new key evicts the oldest one when the map is full', () => {
  const map = filled();
  map.set('c', 3);
  expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 2, 3, 2]);
});

test('a key that is set again evicts nothing and becomes the newest', () => {
  const map = filled();
  map.set('a', 9);
  expect([map.get('a'), map.get('b')]).toEqual([9, 2]);
  map.set('c', 3);
  expect([map.get('a'), map.get('b')]).toEqual([9, undefined]);
});

test('a deleted key makes room', () => {
  const map = filled();
  expect([map.delete('a'), map.delete('a')]).toEqual([true, false]);
  map.set('c', 3);
  expect([map.get('b'), map.size]).toEqual([2, 2]);
});

test('getOrSet computes a missing value once', () => {
  const map = new BoundedMap<string, number>(2);
  let computed = 0;
  const value = (): number => map.getOrSet('a', () => (computed += 1));
  expect([value(), value(), computed]).toEqual([1, 1, 1]);
});

test('after any calls it has the keys that were set last, at most as many as its size', () => {
  const call = fc.record({ key: fc.nat(9), isDeleted: fc.boolean() });
  fc.assert(fc.property(fc.integer({ min: 1, max: 5 }), fc.array(call, { maxLength: 60 }), (sizeMax, calls) => {
    const map = new BoundedMap<number, number>(sizeMax);
    let expected: number[] = [];
    for (const { key, isDeleted } of calls) {
      expected = expected.filter((other) => other !== key);
      if (isDeleted) map.delete(key);
      else {
        map.set(key, key);
        expected = [...expected, key].slice(-sizeMax);
      }
      expect(map.size).toBe(expected.length);
      expect(expected.every((other) => map.get(other) === other)).toBe(true);
    }
  }), { seed: 1 });
});
