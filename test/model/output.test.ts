// The output of a job: positions, segments, and the chunks that later ones replace.
import { expect, test } from 'vitest';
import {
  chunksOf, currentOutput, outputStart, parseOutputPosition, positionText, segmentText, type NewChunk,
} from '../../src/model/output.ts';

const chunk = (text: string, more: Partial<NewChunk> = {}): NewChunk =>
  ({ at: 5, step: null, isFirst: false, text, bytes: text.length, total: 0, ...more });

test('a position is read as it was written, and nothing else is', () => {
  expect(parseOutputPosition(positionText({ fence: 3, n: 17 }))).toEqual({ fence: 3, n: 17 });
  for (const wrong of ['', '3', '3.', '.1', '-1.2', '1.2.3', 'x', '1.2 ', `1.${'9'.repeat(30)}`]) {
    expect(() => parseOutputPosition(wrong), wrong).toThrow(expect.objectContaining({ code: 'malformed.cursor' }));
  }
});

test('a segment gives the chunks behind a position, and only its first chunk can be the first of a call', () => {
  const text = segmentText([chunk('"x"', { isFirst: true, step: 'a "b"' }), chunk('{"y":1}', { step: 'a "b"' }), chunk('null', { step: 'a "b"' })]);
  const segment = { fence: 2, upto: 12, bytes: 9, text };
  const all = chunksOf(segment, outputStart);
  expect(all.map(({ position, step, isFirst, value }) => [position, step, isFirst, value])).toEqual([
    ['2.10', 'a "b"', true, 'x'], ['2.11', 'a "b"', false, { y: 1 }], ['2.12', 'a "b"', false, null],
  ]);
  expect(chunksOf(segment, { fence: 1, n: 99 })).toEqual(all);
  expect(chunksOf(segment, { fence: 2, n: 3 })).toEqual(all);
  expect(chunksOf(segment, { fence: 2, n: 10 })).toEqual(all.slice(1));
  expect(chunksOf(segment, { fence: 2, n: 12 })).toEqual([]);
});

test('the chunks of several steps share a segment, in the order in which they were written', () => {
  const text = segmentText([
    chunk('1', { step: 'a', isFirst: true }), chunk('2', { step: 'b', isFirst: true }), chunk('3', { step: 'a' }),
    chunk('4', { step: 'a', isFirst: true, at: 6 }),
  ]);
  const shown = (n: number) => chunksOf({ fence: 1, upto: 4, bytes: 4, text }, { fence: 1, n })
    .map(({ position, at, step, isFirst, value }) => [position, at, step, isFirst, value]);
  const all = [['1.1', 5, 'a', true, 1], ['1.2', 5, 'b', true, 2], ['1.3', 5, 'a', false, 3], ['1.4', 6, 'a', true, 4]];
  expect(shown(0)).toEqual(all);
  expect(shown(2)).toEqual(all.slice(2));
});

test('a segment that cannot be decoded is shown by a placeholder, at its last position', () => {
  const text = '{"$encoded":"aes-256-gcm:k1:abc"}';
  expect(chunksOf({ fence: 1, upto: 4, bytes: 9, text }, outputStart)).toMatchObject([
    { position: '1.4', value: { $encrypted: 'k1' }, isFirst: false },
  ]);
});

test('the first chunk of a call replaces what earlier calls wrote in the same step, and nothing else', () => {
  const written = [
    { step: null, isFirst: true, value: 1 }, { step: 'a', isFirst: true, value: 2 }, { step: null, isFirst: false, value: 3 },
    { step: 'b', isFirst: true, value: 4 }, { step: 'a', isFirst: false, value: 5 },
    { step: null, isFirst: true, value: 6 }, { step: 'b', isFirst: true, value: 7 }, { step: 'b', isFirst: false, value: 8 },
  ];
  expect(currentOutput(written).map(({ value }) => value)).toEqual([2, 5, 6, 7, 8]);
  expect(currentOutput([])).toEqual([]);
});
