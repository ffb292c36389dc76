// The map of numbers: after any calls it has what a Map has.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberMap } from '../../src/engine/attempt/number-map.ts';

/** Neighbours, keys beyond 32 bits, and keys that have the same bucket in every table. */
const key = fc.oneof(
  fc.nat(40),
  fc.nat(20).map((number) => 7 + number * 2 ** 32),
  fc.nat(20).map((number) => 2 ** 40 + number * 1_024),
);
const call = fc.record({ key, isDeleted: fc.boolean() });

test('after any calls it has what a Map has', () => {
  fc.assert(fc.property(fc.array(call, { maxLength: 300 }), (calls) => {
    const [map, expected] = [new NumberMap(), new Map<number, number>()];
    calls.forEach(({ key: changed, isDeleted }, index) => {
      if (isDeleted) expect(map.delete(changed)).toBe(expected.delete(changed));
      else {
        map.set(changed, index);
        expected.set(changed, index);
      }
      expect(map.size).toBe(expected.size);
      for (const { key: other } of calls) expect([map.has(other), map.get(other)]).toEqual([expected.has(other), expected.get(other)]);
    });
  }), { numRuns: 300 });
});

test('a map that gains and loses entries all the time has the latest ones', () => {
  const map = new NumberMap();
  for (let id = 1; id <= 100_000; id += 1) {
    map.set(id, id);
    map.delete(id - 500);
  }
  expect([map.size, map.get(99_501), map.get(99_500)]).toEqual([500, 99_501, undefined]);
});
