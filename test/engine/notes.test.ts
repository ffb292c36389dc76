// Notes: few writes, bounded memory, nothing after the end, and a store that fails or takes the job away.
import { describe, expect, test } from 'vitest';
import { logBytesMax, logLinesMax } from '../../src/engine/progress/job-notes.ts';
import { Notes } from '../../src/engine/progress/notes.ts';
import { progressBytesMax } from '../../src/engine/progress/progress-text.ts';
import { Tracker } from '../../src/engine/progress/tracker.ts';
import { Jobs } from '../../src/jobs.ts';
import { emptyProgress, track, type Progress, type ProgressStep } from '../../src/model/progress.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { Holding, NewLogLine, Note } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';

const start = 1_800_000_000_000;

/** Passes notes on to a store, remembers each write, and fails or waits as configured. */
class Desk {
  readonly writes: { readonly at: number; readonly notes: readonly Note[] }[] = [];
  failure: ((notes: readonly Note[]) => boolean) | null = null;
  calls = 0;
  gate: Promise<void> = Promise.resolve();
  readonly #store: MemoryStore;
  readonly #clock: VirtualClock;

  constructor(store: MemoryStore, clock: VirtualClock) {
    this.#store = store;
    this.#clock = clock;
  }

  async writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
    this.calls += 1;
    await this.gate;
    if (this.failure?.(notes)) throw new Error('cannot write: the store is away');
    this.writes.push({ at: this.#clock.now() - start, notes });
    return this.#store.writeNotes(notes);
  }

  of({ id }: Holding): Note[] {
    return this.writes.flatMap(({ notes }) => notes).filter((note) => note.id === id);
  }
}

async function setUp(count = 1) {
  const clock = new VirtualClock(start);
  const store = new MemoryStore(clock);
  const jobs = new Jobs(store);
  await jobs.createMany(Array.from({ length: count }, () => ({ type: 'test' })), 'tester');
  const names = { exact: ['test'] };
  const held = await jobs.claim({ kinds: ['run'], names, limit: count, holder: 'one', leaseMs: 600_000 });
  const holdings: Holding[] = held.map(({ id, fence }) => ({ id, fence }));
  const desk = new Desk(store, clock);
  const lost: [number, number][] = [];
  const errors: unknown[] = [];
  const notes = new Notes({
    store: desk,
    clock,
    onLost: (id, fence) => lost.push([id, fence]),
    onError: (error) => errors.push(error),
  });
  const end = ({ id, fence }: Holding) => jobs.succeed(id, fence, { by: 'one' });
  return { clock, store, jobs, notes, desk, lost, errors, end, holdings, job: holdings[0]! };
}

const after = (...steps: ProgressStep[]): Progress =>
  steps.reduce((progress, step) => track(progress, step, start), emptyProgress);
const told = (description: string): Progress => after({ kind: 'startProcess', description });
const textsOf = (lines: readonly NewLogLine[]): string[] => lines.map(({ text }) => text);

async function stored(store: MemoryStore, { id }: Holding): Promise<string | null> {
  const text = await store.progress(id);
  return text === null ? null : (JSON.parse(text) as Progress).processes[0]!.description;
}

/** Each time something is awaited in real code, a few turns pass; no time does. */
async function settle(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

describe('progress', () => {
  test('is written within 250 ms, and only the newest', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    notes.progress(job, told('a'));
    notes.progress(job, told('b'));
    await clock.advance(249);
    expect(desk.calls).toBe(0);
    await clock.advance(1);
    expect(desk.calls).toBe(1);
    expect(await stored(store, job)).toBe('b');
  });

  test('is written at most every 250 ms and once at the end, however often it changes', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    for (let ms = 0; ms < 2_000; ms++) {
      notes.progress(job, told(`at ${ms}`));
      await clock.advance(1);
    }
    await notes.finish(job);
    const times = desk.writes.map(({ at }) => at);
    expect(times.length).toBeGreaterThanOrEqual(7);
    expect(times.length).toBeLessThanOrEqual(9);
    expect(times.slice(1, -1).every((at, index) => at - times[index]! >= 250)).toBe(true);
    expect(await stored(store, job)).toBe('at 1999');
  });

  test('keeps to 250 ms also when a write takes long', async () => {
    const { clock, notes, desk, job, holdings } = await setUp(2);
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.progress(holdings[1]!, told('other'));
    void notes.finish(holdings[1]!);
    notes.progress(job, told('a'));
    await clock.advance(300);
    notes.progress(job, told('b'));
    await clock.advance(100);
    gate.resolve();
    await clock.advance(10);
    notes.progress(job, told('c'));
    await clock.advance(1_000);
    const times = desk.writes.filter(({ notes: [note] }) => note!.id === job.id).map(({ at }) => at);
    expect(times).toEqual([400, 660]);
  });

  test('of all jobs goes in one write', async () => {
    const { clock, notes, desk, holdings } = await setUp(50);
    for (const holding of holdings) {
      notes.progress(holding, told(`job ${holding.id}`));
      notes.log(holding, 'info', 'hello');
    }
    await clock.advance(250);
    expect(desk.writes.map((write) => write.notes.length)).toEqual([50]);
  });

  test('that does not change is not written again, and no timer stays armed', async () => {
    const { clock, notes, desk, job } = await setUp();
    notes.progress(job, told('a'));
    await clock.advance(250);
    expect(clock.pending()).toBe(0);
    await notes.finish(job);
    expect(desk.calls).toBe(1);
  });

  test('that follows from what is stored is written only to replace what does not', async () => {
    const { clock, notes, desk, store, holdings: [implied, replaced] } = await setUp(2);
    notes.progress(implied!, told('a'), true);
    notes.progress(replaced!, told('b'));
    await clock.advance(250);
    notes.progress(replaced!, told('c'), true);
    expect(notes.finish(implied!)).toBeNull();
    await notes.finish(replaced!);
    expect(desk.of(implied!)).toEqual([]);
    expect(await stored(store, replaced!)).toBe('c');
  });

  test('of a tracker is stored as the handler reported it', async () => {
    const { clock, notes, store, job } = await setUp();
    const tracker = new Tracker({ clock, onChange: (progress) => notes.progress(job, progress) });
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    await tracker.runStageInParallel(3, [1, 2, 3, 4], String, (item) => item === 2 && Promise.reject(new Error('no')));
    tracker.end();
    await notes.finish(job);
    expect(JSON.parse((await store.progress(job.id))!)).toEqual({ ...JSON.parse(JSON.stringify(tracker.progress)), fence: job.fence });
  });

  test('is cut to 256 KiB, items first, oldest first, and the counts stay', async () => {
    const { notes, store, job } = await setUp();
    const long = '漢'.repeat(500);
    let progress = after({ kind: 'startProcess', description: 'p' }, { kind: 'startStage', total: 400 });
    for (let item = 1; item <= 400; item++) {
      progress = track(progress, { kind: 'startItem', item, description: `${item} ${long}` }, start);
      progress = track(progress, { kind: 'completeItem', item, summary: long }, start);
    }
    notes.progress(job, progress);
    await notes.finish(job);
    const text = (await store.progress(job.id))!;
    const [stage] = (JSON.parse(text) as Progress).processes[0]!.stages;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(progressBytesMax);
    expect(stage).toMatchObject({ total: 400, done: 400, started: 400 });
    expect(stage!.items.length).toBeGreaterThan(10);
    expect(stage!.items.at(-1)!.description).toMatch(/^400 /);
  });

  test('fits even when every text is as long as it can be', async () => {
    const { notes, store, job } = await setUp();
    const long = '\ud800'.repeat(500);
    let progress = emptyProgress;
    for (let process = 0; process < 10; process++) {
      progress = track(progress, { kind: 'startProcess', description: long }, start);
      for (let stage = 0; stage < 100; stage++) {
        progress = track(progress, { kind: 'startStage', description: long }, start);
        progress = track(progress, { kind: 'completeStage', summary: long }, start);
      }
    }
    notes.progress(job, progress);
    await notes.finish(job);
    const text = (await store.progress(job.id))!;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(progressBytesMax);
    const [process] = (JSON.parse(text) as Progress).processes;
    expect(process!.stages.length + process!.stagesDropped).toBe(100);
  });
});

describe('log lines', () => {
  test('are written together, in order, with level and time', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    notes.log(job, 'info', 'one');
    await clock.advance(100);
    notes.log(job, 'warn', 'two');
    await clock.advance(150);
    notes.log(job, 'error', 'three');
    await notes.finish(job);
    expect(desk.calls).toBe(2);
    expect(await store.log(job.id)).toEqual([
      { n: 1, at: start, level: 'info', text: 'one', fence: job.fence },
      { n: 2, at: start + 100, level: 'warn', text: 'two', fence: job.fence },
      { n: 3, at: start + 250, level: 'error', text: 'three', fence: job.fence },
    ]);
  });

  test('that come while a write is under way go with the next one, none lost and none doubled', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.log(job, 'info', 'one');
    await clock.advance(250);
    notes.log(job, 'info', 'two');
    gate.resolve();
    await clock.advance(250);
    expect(textsOf(await store.log(job.id))).toEqual(['one', 'two']);
  });

  test('up to the bound are all written', async () => {
    const { notes, store, job } = await setUp();
    for (let line = 1; line <= 9_000; line++) notes.log(job, 'info', `line ${line}`);
    await notes.finish(job);
    const lines = await store.log(job.id, 0, 20_000);
    expect([lines.length, lines[0]!.text, lines.at(-1)!.text]).toEqual([9_000, 'line 1', 'line 9000']);
  });

  test('beyond 10,000 are dropped: beginning and end stay, and a line between says how many went', async () => {
    const { clock, notes, store, job } = await setUp();
    for (let line = 1; line <= 50_000; line++) {
      notes.log(job, 'info', `line ${line}`);
      if (line % 5_000 === 0) await clock.advance(250);
    }
    await notes.finish(job);
    const lines = textsOf(await store.log(job.id, 0, 20_000));
    const gap = lines.findIndex((text) => text.includes('dropped'));
    expect(lines.length).toBeLessThanOrEqual(logLinesMax);
    expect(lines.length).toBeGreaterThan(logLinesMax - 10);
    expect(lines[gap - 1]).toBe(`line ${gap}`);
    expect(lines[gap]).toBe(`(${50_000 - lines.length + 1} lines were dropped here: the log was too large)`);
    expect(lines.slice(gap + 1)).toEqual(Array.from({ length: 100 }, (_, line) => `line ${49_901 + line}`));
  });

  test('beyond 4 MiB are dropped in the same way', async () => {
    const { notes, store, job } = await setUp();
    for (let line = 1; line <= 2_000; line++) notes.log(job, 'info', `${line} ${'x'.repeat(8_000)}`);
    await notes.finish(job);
    const lines = textsOf(await store.log(job.id, 0, 20_000));
    const bytes = lines.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(bytes).toBeLessThanOrEqual(logBytesMax);
    expect(bytes).toBeGreaterThan(logBytesMax * 0.95);
    expect(lines.filter((text) => text.includes('dropped'))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/^2000 /);
  });

  test('wait within a bound for all jobs together, and a line reports the gap when there is room again', async () => {
    const { clock, notes, desk, store, holdings } = await setUp(30);
    desk.failure = () => true;
    const text = 'x'.repeat(8_000);
    for (let line = 1; line <= 450; line++) {
      for (const holding of holdings) notes.log(holding, 'info', `${line} ${text}`);
    }
    await clock.advance(250);
    desk.failure = null;
    await clock.advance(10_000);
    const waited = desk.writes.flatMap((write) => write.notes).flatMap(({ log = [] }) => textsOf(log));
    const bytes = waited.reduce((sum, line) => sum + line.length, 0);
    expect(bytes).toBeLessThanOrEqual(64 * 1_024 * 1_024);
    expect(bytes).toBeGreaterThan(60 * 1_024 * 1_024);
    const last = holdings.at(-1)!;
    notes.log(last, 'info', 'room again');
    await notes.finish(last);
    const lines = textsOf(await store.log(last.id));
    const gap = lines.findIndex((line) => line.includes('dropped'));
    const dropped = Number(/\d+/.exec(lines[gap]!)![0]);
    expect(gap).toBeGreaterThan(0);
    expect(lines.length - 1 + dropped).toBe(451);
    expect(lines.at(-1)).toBe('room again');
  });

  test('of a flood go in writes of a bounded size', async () => {
    const { clock, notes, desk, holdings } = await setUp(12);
    for (let line = 0; line < 250; line++) {
      for (const holding of holdings) notes.log(holding, 'info', 'x'.repeat(8_000));
    }
    await clock.advance(250);
    expect(desk.writes.map((write) => write.notes.length)).toEqual([3, 3, 3, 3]);
  });
});

describe('the end of a job', () => {
  test('what is left is written at once, without waiting for the timer', async () => {
    const { clock, notes, store, job, end } = await setUp();
    notes.progress(job, told('last'));
    notes.log(job, 'info', 'last words');
    await notes.finish(job);
    await end(job);
    expect(clock.now()).toBe(start);
    expect(await stored(store, job)).toBe('last');
    expect(textsOf(await store.log(job.id))).toEqual(['last words']);
  });

  test('a job without notes causes no write', async () => {
    const { notes, desk, job } = await setUp();
    await notes.finish(job);
    expect(desk.calls).toBe(0);
  });

  test('jobs that end together share a write', async () => {
    const { notes, desk, holdings } = await setUp(20);
    for (const holding of holdings) notes.log(holding, 'info', 'bye');
    await Promise.all(holdings.map((holding) => notes.finish(holding)!));
    expect(desk.writes.map((write) => write.notes.length)).toEqual([20]);
  });

  test('jobs that end while a write is under way share the next one', async () => {
    const { notes, desk, holdings } = await setUp(20);
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    const finished: Promise<unknown>[] = [];
    for (const holding of holdings) {
      notes.log(holding, 'info', 'bye');
      finished.push(notes.finish(holding)!);
      await settle();
    }
    gate.resolve();
    await Promise.all(finished);
    expect(desk.writes.map((write) => write.notes.length)).toEqual([1, 19]);
  });

  test('an older write never overtakes the last one', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.progress(job, told('old'));
    await clock.advance(250);
    notes.progress(job, told('new'));
    const finished = notes.finish(job);
    gate.resolve();
    await finished;
    expect(desk.of(job)).toHaveLength(2);
    expect(await stored(store, job)).toBe('new');
  });

  test('a job that ends while its last notes are being written costs no other write', async () => {
    const { clock, notes, desk, job } = await setUp();
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.log(job, 'info', 'bye');
    await clock.advance(250);
    const finished = notes.finish(job);
    gate.resolve();
    await finished;
    expect(desk.calls).toBe(1);
  });

  test('finish can be asked for twice, and both wait for the write', async () => {
    const { notes, desk, store, job } = await setUp();
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.log(job, 'info', 'bye');
    let over = 0;
    const both = [notes.finish(job), notes.finish(job)].map((finished) => finished!.then(() => (over += 1)));
    await settle();
    expect(over).toBe(0);
    gate.resolve();
    await Promise.all(both);
    expect(textsOf(await store.log(job.id))).toEqual(['bye']);
  });

  test('notes of a handler after its end are dropped without an error', async () => {
    const { clock, notes, desk, job, end, lost } = await setUp();
    notes.log(job, 'info', 'bye');
    await notes.finish(job);
    await end(job);
    notes.log(job, 'info', 'one more thing');
    notes.progress(job, told('late'));
    await clock.advance(60_000);
    expect([desk.calls, lost, clock.pending()]).toEqual([1, [], 0]);
  });

  test('close writes what is left of all jobs, and takes nothing any more', async () => {
    const { clock, notes, desk, store, holdings } = await setUp(4);
    for (const holding of holdings.slice(0, 3)) notes.log(holding, 'info', 'bye');
    await notes.close();
    expect(desk.writes.map((write) => write.notes.length)).toEqual([3]);
    for (const holding of holdings) notes.log(holding, 'info', 'late');
    expect(clock.pending()).toBe(0);
    await clock.advance(60_000);
    expect(desk.calls).toBe(1);
    expect(textsOf(await store.log(holdings[0]!.id))).toEqual(['bye']);
  });

  test('close waits for jobs that are ending', async () => {
    const { notes, desk, store, job } = await setUp();
    const gate = Promise.withResolvers<void>();
    desk.gate = gate.promise;
    notes.log(job, 'info', 'bye');
    void notes.finish(job);
    const closed = notes.close();
    gate.resolve();
    await closed;
    expect(textsOf(await store.log(job.id))).toEqual(['bye']);
  });
});

describe('a lost lease', () => {
  test('is reported once, and no further notes of the job are buffered or written', async () => {
    const { clock, notes, desk, store, job, end, lost } = await setUp();
    await end(job);
    notes.progress(job, told('too late'));
    notes.log(job, 'info', 'too late');
    await clock.advance(250);
    expect(lost).toEqual([[job.id, job.fence]]);
    notes.log(job, 'info', 'still talking');
    await clock.advance(60_000);
    await notes.finish(job);
    expect([desk.calls, lost.length, clock.pending()]).toEqual([1, 1, 0]);
    expect(await store.log(job.id)).toEqual([]);
  });

  test('does not touch the other jobs of the write', async () => {
    const { clock, notes, store, holdings, end, lost } = await setUp(3);
    await end(holdings[1]!);
    for (const holding of holdings) notes.log(holding, 'info', `of ${holding.id}`);
    await clock.advance(250);
    expect(lost.map(([id]) => id)).toEqual([holdings[1]!.id]);
    expect(textsOf(await store.log(holdings[0]!.id))).toEqual([`of ${holdings[0]!.id}`]);
    expect(textsOf(await store.log(holdings[2]!.id))).toEqual([`of ${holdings[2]!.id}`]);
  });

  test('that is noticed at the end lets finish come to its end', async () => {
    const { notes, job, end, lost } = await setUp();
    notes.log(job, 'info', 'bye');
    await end(job);
    await notes.finish(job);
    expect(lost).toEqual([[job.id, job.fence]]);
  });

  test('of an older claim does not touch a newer claim of the same job', async () => {
    const { clock, notes, jobs, store, job, lost } = await setUp();
    await jobs.release(job.id, job.fence, { by: 'one' });
    const names = { exact: ['test'] };
    const [again] = await jobs.claim({ kinds: ['run'], names, limit: 1, holder: 'one', leaseMs: 1_000 });
    const newer = { id: again!.id, fence: again!.fence };
    notes.log(job, 'info', 'of the zombie');
    notes.log(newer, 'info', 'of the living');
    await clock.advance(250);
    expect(lost).toEqual([[job.id, job.fence]]);
    expect(textsOf(await store.log(job.id))).toEqual(['of the living']);
  });
});

describe('a store that fails', () => {
  test('never throws into the handler, and is asked less and less often', async () => {
    const { clock, notes, desk, errors, holdings } = await setUp(60);
    desk.failure = () => true;
    for (const [second, holding] of holdings.entries()) {
      notes.progress(holding, told(`at ${second}`));
      notes.log(holding, 'info', `line ${second}`);
      await clock.advance(1_000);
    }
    expect(desk.calls).toBeGreaterThan(6);
    expect(desk.calls).toBeLessThan(15);
    expect(errors).toHaveLength(1);
  });

  test('gets the newest progress and every line once it is back', async () => {
    const { clock, notes, desk, store, job, errors } = await setUp();
    desk.failure = () => true;
    for (let second = 0; second < 20; second++) {
      notes.progress(job, told(`at ${second}`));
      notes.log(job, 'info', `line ${second}`);
      await clock.advance(1_000);
    }
    desk.failure = null;
    await clock.advance(10_000);
    expect(await stored(store, job)).toBe('at 19');
    expect(textsOf(await store.log(job.id))).toEqual(Array.from({ length: 20 }, (_, line) => `line ${line}`));
    const { calls } = desk;
    notes.log(job, 'info', 'as usual');
    await clock.advance(250);
    expect([desk.calls, errors.length]).toEqual([calls + 1, 1]);
  });

  test('keeps a flood waiting within the bound', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    desk.failure = () => true;
    for (let line = 1; line <= 100_000; line++) notes.log(job, 'info', `line ${line}`);
    await clock.advance(5_000);
    desk.failure = null;
    await notes.finish(job);
    const lines = textsOf(await store.log(job.id, 0, 20_000));
    expect(lines.length).toBeLessThanOrEqual(logLinesMax);
    expect([lines[0], lines.at(-1)]).toEqual(['line 1', 'line 100000']);
  });

  test('at the end of a job is asked again, and the outcome waits for that', async () => {
    const { clock, notes, desk, store, job } = await setUp();
    desk.failure = () => desk.calls < 3;
    notes.log(job, 'info', 'bye');
    const finished = notes.finish(job);
    await clock.advance(1_000);
    await finished;
    expect(desk.calls).toBe(3);
    expect(textsOf(await store.log(job.id))).toEqual(['bye']);
  });

  test('at the end of a job is retried a few times only: an outcome does not wait for notes without limit', async () => {
    const { clock, notes, desk, job } = await setUp();
    desk.failure = () => true;
    notes.log(job, 'info', 'bye');
    const finished = notes.finish(job);
    await clock.advance(5_000);
    await finished;
    expect(desk.calls).toBe(5);
    await clock.advance(60_000);
    expect([desk.calls, clock.pending()]).toEqual([5, 0]);
  });

  test('leaves no trace of the lines that were given up', async () => {
    const { clock, notes, desk, store, holdings } = await setUp(21);
    desk.failure = () => true;
    for (const holding of holdings.slice(1)) {
      for (let line = 0; line < 600; line++) notes.log(holding, 'info', 'x'.repeat(8_000));
      const finished = notes.finish(holding);
      await clock.advance(5_000);
      await finished;
    }
    desk.failure = null;
    for (let line = 0; line < 300; line++) notes.log(holdings[0]!, 'info', 'there is room');
    await notes.finish(holdings[0]!);
    expect(await store.log(holdings[0]!.id)).toHaveLength(300);
  });

  test('only because of one job takes the notes of the others, and the one is tried alone', async () => {
    const { clock, notes, desk, store, holdings, errors } = await setUp(10);
    const bad = holdings[3]!;
    desk.failure = (batch) => batch.some(({ id }) => id === bad.id);
    for (let round = 0; round < 8; round++) {
      for (const holding of holdings) notes.log(holding, 'info', `round ${round}`);
      await clock.advance(1_000);
    }
    for (const holding of holdings) {
      expect(textsOf(await store.log(holding.id))).toHaveLength(holding === bad ? 0 : 8);
    }
    expect(errors).toHaveLength(1);
    const others = holdings.filter((holding) => holding !== bad);
    for (const holding of others) notes.log(holding, 'info', 'bye');
    const finished = Promise.all(others.map((holding) => notes.finish(holding)!));
    void notes.finish(bad);
    await finished;
    expect(desk.of(others[0]!).at(-1)!.log).toMatchObject([{ text: 'bye' }]);
  });

  test('is asked once per pause, not once per job', async () => {
    const { clock, notes, desk, holdings } = await setUp(200);
    desk.failure = () => true;
    for (const holding of holdings) notes.log(holding, 'info', 'hello');
    await clock.advance(10_000);
    expect(desk.calls).toBeLessThanOrEqual(6);
    desk.failure = null;
    await clock.advance(20_000);
    expect(new Set(desk.writes.flatMap((write) => write.notes.map(({ id }) => id))).size).toBe(200);
  });

  test('and throws instead of rejecting is no different', async () => {
    const { clock, store, job } = await setUp();
    let isAway = true;
    const notes = new Notes({
      clock,
      store: {
        writeNotes(all) {
          if (isAway) throw new Error('at once');
          return store.writeNotes(all);
        },
      },
      onLost: () => undefined,
    });
    notes.log(job, 'info', 'hello');
    await clock.advance(250);
    isAway = false;
    await clock.advance(500);
    expect(textsOf(await store.log(job.id))).toEqual(['hello']);
  });
});
