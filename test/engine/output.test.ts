// Output: chunks that readers get while the handler works, in order, once, and under the fence.
import { describe, expect, test, vi } from 'vitest';
import { currentOutput, jobType, LeaseLost, type OutputChunk, type RunHandle } from '../../src/index.ts';
import { outputOf } from '../../src/engine/attempt/output.ts';
import { readOutput } from '../../src/engine/inspect/output.ts';
import { Attempt } from '../../src/engine/attempt/attempt.ts';
import { chunkBytesMax, outputBytesMax, type NewChunk } from '../../src/model/output.ts';
import type { RunningJob } from '../../src/model/job.ts';
import { Door, refused, start } from './api/kit.ts';

const valuesOf = (chunks: readonly OutputChunk[]): unknown[] => chunks.map(({ value }) => value);
const current = async (run: RunHandle<unknown>): Promise<unknown[]> => valuesOf(currentOutput(await run.output()));

/** Collects the chunks that a reader gets. */
function follow(run: RunHandle<unknown>, after?: string): { readonly got: OutputChunk[]; readonly over: Promise<void> } {
  const got: OutputChunk[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of run.followOutput(after === undefined ? {} : { after })) got.push(chunk);
  };
  return { got, over: read() };
}

test('a reader gets chunks while the handler works, and an end', async () => {
  const door = new Door();
  const type = jobType('tokens', {
    run: async ({ output }) => {
      await output.write('Hel');
      await output.write('lo');
      await door.pass();
      await output.write({ tokens: 2 });
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  const reader = follow(run);
  await t.advance('1s');
  expect(valuesOf(reader.got)).toEqual(['Hel', 'lo']);
  const late = follow(run, reader.got[0]!.position);
  door.open();
  await t.advance('1s');
  await Promise.all([reader.over, late.over]);
  expect(reader.got.map(({ position, value, isFirst, fence }) => [position, value, isFirst, fence])).toEqual([
    ['1.1', 'Hel', true, 1], ['1.2', 'lo', false, 1], ['1.3', { tokens: 2 }, false, 1],
  ]);
  expect(late.got).toEqual(reader.got.slice(1));
  expect(await run.output({ after: '1.1', limit: 1 })).toEqual(reader.got.slice(1, 2));
});

test('the chunks of a new attempt come behind those of the failed one, and replace them', async () => {
  const type = jobType('again', {
    retry: { attempts: 2, base: '1s' },
    run: async ({ output, run }) => {
      await output.write(`a${run.attempt}`);
      await output.write(`b${run.attempt}`);
      if (run.attempt === 1) throw new Error('once more');
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  const all = await run.output();
  expect(all.map(({ position, value, isFirst }) => [position, value, isFirst])).toEqual([
    ['1.1', 'a1', true], ['1.2', 'b1', false], ['2.1', 'a2', true], ['2.2', 'b2', false],
  ]);
  expect(await current(run)).toEqual(['a2', 'b2']);
});

test('what a finished step has written stays when the handler is called again', async () => {
  const type = jobType('stepwise', {
    run: async ({ output, step, sleep }) => {
      await output.write('begin');
      await step('draft', () => output.write('draft'));
      await sleep('nap', '1h');
      await step('final', () => output.write('final'));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('2h');
  expect((await run.output()).map(({ step, value, fence }) => [step, value, fence])).toEqual([
    [null, 'begin', 1], ['draft', 'draft', 1], [null, 'begin', 2], ['final', 'final', 2],
  ]);
  expect(await current(run)).toEqual(['draft', 'begin', 'final']);
});

test('a step that is retried within its attempt begins its output anew', async () => {
  const type = jobType('retried', {
    run: ({ output, step }) => step('call', { retry: { attempts: 2, base: '1s' } }, async ({ attempt }) => {
      await output.write(attempt);
      if (attempt === 1) throw new Error('once more');
    }),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect((await run.output()).map(({ value, isFirst, fence }) => [value, isFirst, fence])).toEqual([[1, true, 1], [2, true, 1]]);
});

test('the output of a step is stored when the step has ended: a crash loses none of it', async () => {
  const door = new Door();
  const type = jobType('crashing', {
    run: async ({ output, step }) => {
      await step('draft', () => output.write('draft'));
      await door.pass();
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(door.knocks).toBe(1);
  t.crash();
  await t.restart();
  door.open();
  await t.advance('10m');
  expect((await run.get()).state).toBe('ended');
  expect(await current(run)).toEqual(['draft']);
});

test('an attempt that was stopped writes nothing more, and is told', async () => {
  const door = new Door();
  const errors: unknown[] = [];
  const type = jobType('stopped', {
    run: async ({ output }) => {
      await output.write('before');
      await door.pass();
      await output.write('after').catch((error: unknown) => errors.push(error));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  await run.stop();
  await t.advance('1s');
  door.open();
  await t.advance('1s');
  expect(errors).toEqual([expect.any(LeaseLost)]);
  expect(await current(run)).toEqual(['before']);
});

test('planning and gathering have outputs of their own, and so has each task', async () => {
  const type = jobType('tasks', {
    taskDetails: async ({ output }) => {
      await output.write('planned');
      return [1];
    },
    taskResults: ({ output, task }) => output.write(task),
    jobResults: ({ output }) => output.write('gathered'),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect((await run.output()).map(({ step, value }) => [step, value])).toEqual([[null, 'planned'], ['jobResults', 'gathered']]);
  expect(await current(run)).toEqual(['planned', 'gathered']);
  const { jobs: [task] } = await t.engine.find({ parent: run.id });
  expect(valuesOf(await t.engine.output(task!.id))).toEqual([1]);
});

test('a reader that waits costs two reads of the store per turn, and one that gets chunks costs one', async () => {
  const door = new Door();
  const type = jobType('slow', { run: async ({ output }) => {
    await output.write('a');
    await door.pass();
  } });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  const { store } = t.engine.jobs;
  const [outputs, loads] = [vi.spyOn(store, 'output'), vi.spyOn(store, 'load')];
  const chunks = run.followOutput();
  expect((await chunks.next()).value).toMatchObject({ value: 'a' });
  expect([outputs.mock.calls.length, loads.mock.calls.length]).toEqual([1, 0]);
  const rest = chunks.next();
  await t.advance('2s');
  expect(outputs.mock.calls.length).toBeLessThan(12);
  expect(loads.mock.calls.length).toBeLessThanOrEqual(outputs.mock.calls.length);
  door.open();
  await t.advance('2s');
  expect((await rest).done).toBe(true);
});

test('a page decodes no more segments than it returns', async () => {
  const read: number[] = [];
  const segments = Array.from({ length: 16 }, (_, at) => ({
    fence: 1, upto: (at + 1) * 2, bytes: 1,
    get text() {
      read.push(at);
      return '[{"at":1,"step":null,"isFirst":false,"chunks":[1,2]}]';
    },
  }));
  const chunks = await readOutput({ output: async () => segments }, 1, { limit: 3 });
  expect(chunks.map(({ position }) => position)).toEqual(['1.1', '1.2', '1.3']);
  expect(read).toEqual([0, 1]);
});

test('wrong reads are refused', async () => {
  const t = await start();
  expect(await refused(t.engine.output(999_999))).toBe('unknown.job');
  expect(await refused(t.engine.output(1, { after: 'x' }))).toBe('malformed.cursor');
  expect(await refused(t.engine.output(1, { limit: 1001 }))).toBe('malformed.number');
});

describe('an attempt', () => {
  const written = async (fence: number, stored: number) => {
    const chunks: NewChunk[] = [];
    const bytes = Promise.withResolvers<number>();
    const store = { now: () => 5, outputBytes: () => bytes.promise };
    const notes = { output: (_: unknown, chunk: NewChunk) => (chunks.push(chunk), Promise.resolve()) };
    const output = outputOf({ store, notes, outside: null }, new Attempt({ id: 1, fence } as RunningJob));
    return { chunks, output, load: () => bytes.resolve(stored) };
  };

  test('writes up to the size of a chunk, and no more', async () => {
    const { output, chunks } = await written(1, 0);
    await output.write('x'.repeat(chunkBytesMax - 2));
    expect(await refused(output.write('x'.repeat(chunkBytesMax - 1)))).toBe('malformed.json');
    expect(await refused(output.write(() => 1))).toBe('malformed.json');
    expect(chunks).toHaveLength(1);
  });

  test('marks the first chunk that is accepted, not one that was refused', async () => {
    const { output, chunks, load } = await written(2, outputBytesMax - 5);
    const write = output.write('too large');
    load();
    expect(await refused(write)).toBe('malformed.output');
    await output.write('ok');
    expect(chunks.map(({ text, isFirst }) => [text, isFirst])).toEqual([['"ok"', true]]);
  });

  test('continues with the size of what earlier attempts have stored, up to the size of an output', async () => {
    const { output, chunks, load } = await written(2, outputBytesMax - 8);
    const writes = [output.write('abc'), output.write('d'), output.write('e')].map((write) => refused(write).catch(() => null));
    expect(chunks).toEqual([]);
    load();
    expect(await Promise.all(writes)).toEqual([null, null, 'malformed.output']);
    expect(chunks.map(({ text, total, isFirst }) => [text, outputBytesMax - total, isFirst])).toEqual([
      ['"abc"', 3, true], ['"d"', 0, false],
    ]);
  });
});
