// Output among the notes: few writes, each chunk once, nothing lost while the store is away.
import { expect, test } from 'vitest';
import { Notes } from '../../src/engine/progress/notes.ts';
import { Jobs } from '../../src/jobs.ts';
import { chunksOf, outputStart, type NewChunk } from '../../src/model/output.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { Note } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';

const textOf = (text: string, more: Partial<NewChunk> = {}): NewChunk =>
  ({ at: 5, step: null, isFirst: false, text: JSON.stringify(text), bytes: text.length + 2, total: 0, ...more });

async function setUp() {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = new MemoryStore(clock);
  const jobs = new Jobs(store);
  await jobs.createMany([{ type: 'test' }], 'tester');
  const [held] = await jobs.claim({ kinds: ['run'], names: { exact: ['test'] }, limit: 1, holder: 'one', leaseMs: 600_000 });
  const job = { id: held!.id, fence: held!.fence };
  const desk = { calls: 0, isAway: false, losesAnswers: false, meanwhile: () => {} };
  const writeNotes = async (notes: readonly Note[]): Promise<readonly boolean[]> => {
    desk.calls += 1;
    if (desk.isAway) throw new Error('the store is away');
    const written = await store.writeNotes(notes);
    desk.meanwhile();
    if (desk.losesAnswers) throw new Error('the answer is lost');
    return written;
  };
  const stored: number[] = [];
  const notes = new Notes({ store: { writeNotes }, clock, onLost: () => {}, onOutput: (id) => stored.push(id) });
  const read = async (): Promise<unknown[]> =>
    (await store.output(job.id, outputStart, 1000)).flatMap((segment) => chunksOf(segment, outputStart)).map(({ value }) => value);
  return { clock, jobs, job, store, desk, notes, read, stored };
}

async function settle(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

test('a thousand chunks within a quarter of a second are one write', async () => {
  const { clock, job, desk, notes, read, stored } = await setUp();
  for (let at = 0; at < 1000; at += 1) await notes.output(job, textOf(String(at), { isFirst: at === 0 }));
  expect(desk.calls).toBe(0);
  await clock.advance(250);
  await settle();
  expect(desk.calls).toBe(1);
  expect(await read()).toEqual(Array.from({ length: 1000 }, (_, at) => String(at)));
  expect(stored).toEqual([job.id]);
});

test('much output is written at once, and a writer that is too fast waits until it is', async () => {
  const { job, desk, notes, read } = await setUp();
  desk.isAway = true;
  const writes = Array.from({ length: 6 }, () => notes.output(job, textOf('x'.repeat(250_000)))!);
  let isFree = false;
  void writes.at(-1)!.then(() => (isFree = true));
  await settle();
  expect(desk.calls).toBeGreaterThan(0);
  expect(isFree).toBe(false);
  desk.isAway = false;
  await notes.flushOutput(job);
  await settle();
  expect(isFree).toBe(true);
  expect(await read()).toHaveLength(6);
});

test('a write whose answer was lost is not stored twice', async () => {
  const { clock, job, desk, notes, read } = await setUp();
  desk.losesAnswers = true;
  await notes.output(job, textOf('a'));
  await clock.advance(250);
  await settle();
  desk.losesAnswers = false;
  await notes.output(job, textOf('b'));
  const finished = notes.finish(job);
  expect(await finished).toBe(true);
  expect(await read()).toEqual(['a', 'b']);
});

test('the end of an attempt waits for its output while the store is away', async () => {
  const { clock, job, desk, notes, read } = await setUp();
  desk.isAway = true;
  await notes.output(job, textOf('a'));
  let isOver = false;
  const finished = notes.finish(job)!.finally(() => (isOver = true));
  await clock.advance(120_000);
  expect(isOver).toBe(false);
  desk.isAway = false;
  await clock.advance(10_000);
  expect(await finished).toBe(true);
  expect(await read()).toEqual(['a']);
});

test('when the engine closes without a store, the attempt ends, and it is told that output is lost', async () => {
  const { clock, job, desk, notes } = await setUp();
  desk.isAway = true;
  await notes.output(job, textOf('a'));
  const finished = notes.finish(job);
  await clock.advance(60_000);
  notes.stopRetrying();
  await clock.advance(20_000);
  expect(await finished).toBe(false);
});

test('nothing is accepted after the end of an attempt, or when the job was lost', async () => {
  const { clock, jobs, job, notes, read } = await setUp();
  await jobs.stop(job.id, { by: 'ada', code: 'user' });
  await notes.output(job, textOf('a'));
  await clock.advance(250);
  await settle();
  expect(notes.output(job, textOf('b'))).toBeNull();
  expect(await read()).toEqual([]);
});

test('many small chunks fill the buffer, too', async () => {
  const { job, desk, notes } = await setUp();
  desk.isAway = true;
  const writes = Array.from({ length: 10_000 }, (_, at) => notes.output(job, textOf('', { isFirst: at === 0 }))!);
  let isFree = false;
  void writes.at(-1)!.then(() => (isFree = true));
  await settle();
  expect(isFree).toBe(false);
});

test('what other steps write meanwhile does not hold up the end of a step', async () => {
  const { job, desk, notes, read } = await setUp();
  desk.meanwhile = () => void notes.output(job, textOf('b', { step: 'b' }));
  await notes.output(job, textOf('a', { step: 'a' }));
  let isStored = false;
  void notes.flushOutput(job)!.then(() => (isStored = true));
  await settle();
  expect(isStored).toBe(true);
  expect(desk.calls).toBe(1);
  expect(await read()).toEqual(['a']);
});

test('steps that write by turns do not make a segment of each chunk', async () => {
  const { job, store, notes } = await setUp();
  for (let at = 0; at < 1000; at += 1) await notes.output(job, textOf(String(at), { step: at % 2 === 0 ? 'a' : 'b' }));
  await notes.flushOutput(job);
  expect((await store.output(job.id, outputStart, 1000)).length).toBeLessThan(5);
});
