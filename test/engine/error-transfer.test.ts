// Data between the engine and a child: errors are transferred and rebuilt; frames, lines and printouts survive any
// split.
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader, frameOf } from '../../src/engine/isolation/frames.ts';
import { Lines, Printout } from '../../src/engine/isolation/printout.ts';
import { ProgressThrottle } from '../../src/engine/isolation/child/handler-call.ts';
import { errorFromData, errorToData } from '../../src/engine/isolation/error-transfer.ts';
import {
  Cancelled, Fail, Interrupted, LeaseLost, RetryAfter, Snooze, TimedOut,
} from '../../src/engine/handler/errors.ts';
import { emptyProgress } from '../../src/model/progress.ts';
import { Refusal } from '../../src/refusal.ts';
import { VirtualClock } from '../../src/time/clock.ts';

const across = (thrown: unknown): Error & Record<string, unknown> =>
  errorFromData(structuredClone(errorToData(thrown))) as Error & Record<string, unknown>;

describe('an error', () => {
  test.each([
    new Fail('no', { data: { id: 7 } }), new RetryAfter('90s'), new Snooze('2m'), new Cancelled('a'), new TimedOut('b'),
    new LeaseLost('c'), new Interrupted('d'), new Refusal('malformed.name', 'e', { name: '' }), new TypeError('f'),
    new RangeError('g'),
  ])('of class $name is the same on the other side', (error) => {
    const rebuilt = across(error);
    expect(rebuilt.constructor).toBe(error.constructor);
    expect(Object.entries(rebuilt)).toEqual(expect.arrayContaining(Object.entries(error)));
    expect([rebuilt.name, rebuilt.message, rebuilt.stack]).toEqual([error.name, error.message, error.stack]);
  });

  test('brings along what hangs on it and is JSON', () => {
    const error = across(Object.assign(new Error('refused'), { code: 'ECONNREFUSED', retry: () => {}, size: 1n }));
    expect(Object.entries(error)).toEqual([['code', 'ECONNREFUSED']]);
  });

  test('brings along its causes, but not without end', () => {
    const error = new Error('round');
    error.cause = error;
    let depth = 0;
    for (let at: unknown = across(error); at instanceof Error; at = at.cause) depth++;
    expect(depth).toBe(5);
  });

  test('is cut when it is huge', () => {
    const error = across(Object.assign(new Error('x'.repeat(1_000_000)), { data: 'x'.repeat(1_000_000) }));
    expect(error.message).toHaveLength(10_000);
    expect(error).not.toHaveProperty('data');
  });

  test('is made of whatever was thrown', () => {
    expect(across('only a text').message).toBe('only a text');
    expect(across({ is: 'no error' })).toMatchObject({
      message: 'the handler threw an object instead of an error',
      data: { is: 'no error' },
    });
    expect(across(Symbol('odd')).message).toBe('the handler threw Symbol(odd) instead of an error');
    expect(across(null).message).toBe('the handler threw null instead of an error');
  });

  test('that throws when it is read is transferred anyway', () => {
    const hostile = new Proxy(new Error(), {
      get: () => {
        throw new Error('do not look');
      },
    });
    expect(across(hostile).message).toBe('the handler threw a value that cannot be read');
  });
});

describe('frames', () => {
  test('are put together again however the stream was cut', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat(40)), (values, cuts) => {
        const reader = new FrameReader();
        const bytes = Buffer.concat(values.map(frameOf));
        expect(piecesOf(bytes, cuts).flatMap((piece) => reader.push(piece))).toEqual(values);
      }),
    );
  });
});

describe('lines', () => {
  test('are the same however the text was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'ü', '\n') }), fc.array(fc.nat(5)), (text, cuts) => {
        const heard: string[] = [];
        const lines = new Lines((line) => heard.push(line));
        for (const piece of piecesOf(text, cuts)) lines.push(piece);
        lines.end();
        expect(heard).toEqual(text.split('\n').filter((line) => line !== ''));
      }),
    );
  });

  test('without an end are handed on when they are long', () => {
    const heard: string[] = [];
    new Lines((line) => heard.push(line)).push('x'.repeat(25_000));
    expect(heard.map((line) => line.length)).toEqual([10_000, 10_000]);
  });
});

describe('a printout', () => {
  test('is complete when both streams have passed the mark, which is not shown', async () => {
    const heard: string[] = [];
    const printout = new Printout((level, text) => heard.push(`${level}: ${text}`));
    const [out, err] = [new PassThrough(), new PassThrough()];
    printout.read(out, 'info');
    printout.read(err, 'error');
    printout.expect('#mark');
    out.write('one\nunended#mark\n');
    err.write('two\n#ma');
    err.write('rk\n');
    await printout.passed;
    expect(heard.toSorted()).toEqual(['error: two', 'info: one', 'info: unended']);
  });
});

describe('progress of a child', () => {
  const at = (updatedAt: number) => ({ ...emptyProgress, updatedAt });

  test('is sent at once the first time, then at most every 100 ms, and when it is flushed', async () => {
    const clock = new VirtualClock(0);
    const sent: unknown[] = [];
    const throttle = new ProgressThrottle(clock, ({ updatedAt }) => sent.push([updatedAt, clock.monotonic()]));
    for (const change of [1, 2, 3]) throttle.update(at(change));
    await clock.advance(250);
    for (const change of [4, 5]) throttle.update(at(change));
    throttle.flush();
    throttle.flush();
    expect(sent).toEqual([[1, 0], [3, 100], [4, 250], [5, 250]]);
    expect(clock.pending()).toBe(0);
  });
});

interface Whole<T> {
  readonly length: number;
  slice(from: number, to?: number): T;
}

function piecesOf<T extends Whole<T>>(whole: T, cuts: number[]): T[] {
  const pieces: T[] = [];
  let from = 0;
  for (const cut of cuts) {
    pieces.push(whole.slice(from, from + cut));
    from += cut;
  }
  return [...pieces, whole.slice(Math.min(from, whole.length))];
}
