// Values that programs handle wrongly: texts, numbers and structures at or beyond a limit.
import fc, { type Arbitrary } from 'fast-check';

export const hostileTexts: readonly string[] = [
  '', ' ', '\0', '\u0000a', '\ud800', '\udfff x', '\u202e', 'é', 'e\u0301', '😀', '__proto__', 'constructor', 'toString', 'null',
  'undefined', 'NaN', '-0', '0x10', '1e999', '-1', '9007199254740993', '99999999999999999999', '1.5', '{}', '[', '{"a":', '%00',
  '%', '%ff', '*', '**', '?', "'", '"; drop table x; --', '$1', ':a', '../..', 'a/b', 'a,b', 'a=b', '=', '\r\n', 'a\nb',
  '1970-01-01T00:00:00Z', '+275760-09-13T00:00:00.001Z', '2026-02-30T00:00Z', '0s', '-1s', '1e9d', '999999999d', 'P1D',
  '* * * * *', '61 * * * *', '0/1m', '1/0s', '1e3/1m', 'Mars/Base', 'x'.repeat(300),
];
const hostileNumbers: readonly number[] = [
  0, -0, -1, 1.5, 1e-7, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e308, 8.64e15 + 1, Number.MAX_SAFE_INTEGER,
];

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.nat(4).map((power) => 'long '.repeat(4 ** (power + 2))) },
);

export const hostileJson: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.constantFrom(...hostileNumbers) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { '': 1 }, JSON.parse('{"__proto__":{"a":1}}')) },
  { weight: 2, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.constantFrom(5, 60, 300, 3_000).map(nested) },
);

/** Usually the first kind of values, sometimes the other: most inputs pass the first checks. */
export const mostly = <Value>(likely: Arbitrary<Value>, rest: Arbitrary<Value>): Arbitrary<Value> =>
  fc.oneof({ weight: 6, arbitrary: likely }, { weight: 1, arbitrary: rest });
