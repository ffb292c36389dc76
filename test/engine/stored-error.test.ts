// Whatever a handler throws: its name, its own code, its causes and its data are stored, within bounds.
import { describe, expect, test } from 'vitest';
import { Fail } from '../../src/index.ts';
import { storedError } from '../../src/engine/attempt/stored-error.ts';
import { errorFromData, errorToData } from '../../src/engine/isolation/error-transfer.ts';

const refused = { message: 'connect ECONNREFUSED', id: 'ECONNREFUSED' };

describe.each([
  { where: 'in the process of the engine', across: (error: unknown) => error },
  { where: 'in a process of its own', across: (error: unknown) => errorFromData(errorToData(error)) },
])('an error that was thrown $where', ({ across }) => {
  test('keeps its name, its own code and its causes', () => {
    class OutOfPaper extends Error {}
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const failed = new TypeError('fetch failed', { cause });
    expect(storedError(across(failed))).toMatchObject({
      code: 'unknown', message: 'fetch failed', name: 'TypeError', causes: [refused],
    });
    expect(storedError(across(new OutOfPaper('tray 2')))).toMatchObject({ name: 'OutOfPaper' });
    expect(storedError(across(new Fail('no', { cause })))).toMatchObject({ name: 'Fail', causes: [refused] });
  });

  test('keeps its inner errors, each before its own causes', () => {
    const first = new Error('first', { cause: new RangeError('deep') });
    const { causes } = storedError(across(new AggregateError([first, new Error('second')], 'both failed')));
    expect(causes).toEqual([{ message: 'first' }, { message: 'deep', name: 'RangeError' }, { message: 'second' }]);
  });

  test('is an object that is no error: its code and its data are kept', () => {
    const stored = storedError(across({ message: 'quota used up', code: 429, left: 0 }));
    expect(JSON.stringify(stored)).toContain('quota used up');
    expect(stored).toMatchObject({ data: { code: 429, left: 0 } });
  });
});

test('an object without a message is told as JSON, not as [object Object]', () => {
  expect(storedError({ left: 0 })).toMatchObject({ message: 'object: {"left":0}', data: { left: 0 } });
});

test('a ring of causes, and ten thousand inner errors, are bounded', () => {
  const ring = new Error('ring');
  ring.cause = new Error('other', { cause: ring });
  expect(storedError(ring).causes).toEqual([{ message: 'other' }]);
  const inner = Array.from({ length: 10_000 }, (_value, index) => new Error(`${index} ${'x'.repeat(10_000)}`));
  const { causes = [] } = storedError(new AggregateError(inner));
  expect([causes.length, Math.max(...causes.map(({ message }) => message.length))]).toEqual([20, 1_000]);
});
