// The text cache: equal values share a text, and values that differ in any field have texts of their own.
import { expect, test } from 'vitest';
import { areShallowEqual, cachedStringify } from '../../src/store/text-cache.ts';

interface Line {
  readonly n: number;
  readonly by?: string | undefined;
  readonly due?: number | undefined;
}

const lines: readonly Line[] = [
  { n: 1 }, { n: 2 }, { n: 2, by: 'me' }, { n: 2, due: 5 }, { n: 2, by: 'me', due: 5 }, { n: 2, by: 'me', due: undefined },
  { n: 2, by: undefined, due: 5 },
];

test('a value that equals the last one is not written again', () => {
  const written: Line[] = [];
  const text = cachedStringify<Line>((line) => {
    written.push(line);
    return JSON.stringify(line);
  });
  const same = { n: 1, by: 'me' };
  expect([text(same), text({ ...same }), text(same)]).toEqual(Array(3).fill('{"n":1,"by":"me"}'));
  expect(written).toHaveLength(1);
});

test('a value with another field, or another value of a field, has a text of its own', () => {
  for (const last of lines) {
    for (const line of lines) {
      const text = cachedStringify<Line>();
      text(last);
      expect(text(line)).toBe(JSON.stringify(line));
      expect(areShallowEqual(last, line)).toBe(last === line);
    }
  }
});
