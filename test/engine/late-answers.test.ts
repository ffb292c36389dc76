// Late answers: an answer that arrives after the lease of this instance may have lapsed starts no job.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { at, Engine, every, jobType, limit, openStore } from '../../src/index.ts';
import { seededRandom } from '../../src/random.ts';
import { Jobs } from '../../src/jobs.ts';
import { repairLapsed } from '../../src/jobs/repair.ts';
import type { Beat, Store } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { SlowLine } from '../support/slow-line.ts';

async function scene() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const real = openStore('memory:', { clock });
  const line = new SlowLine(real);
  const started: string[] = [];
  const greet = jobType('greet', { run: ({ run, fence }) => void started.push(`${run.id} under ${fence}`) });
  const split = jobType('split', {
    taskDetails: () => [1], taskResults: ({ run, fence }) => void started.push(`a task of ${run.id} under ${fence}`),
    jobResults: ({ run, fence }) => void started.push(`the results of ${run.id} under ${fence}`),
  });
  const engine = new Engine({
    store: line.store, clock, types: [greet, split], random: seededRandom(1), instance: 'ann', lease: '3s',
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await engine.resume();
  await clock.advance(1_000);
  const others = new Jobs(real);
  const operator = new Engine({ store: real, clock, types: [greet] });
  /** Delays the answers to this call and to heartbeats until the lease has lapsed. */
  const stall = async (name: 'claim' | 'commit', ask: () => Promise<unknown>): Promise<void> => {
    line.hold(name);
    void ask();
    await clock.advance(200);
    line.hold('beat');
    await clock.advance(6_000);
  };
  const createTwo = () => others.createMany([{ type: 'greet' }, { type: 'greet' }], 'someone');
  /** Another instance repairs the lapsed claims and claims the jobs. */
  const takeOver = async (): Promise<number> => {
    await repairLapsed(real, 'bob');
    return (await others.claim({ kinds: ['run', 'task'], names: { glob: '*' }, limit: 10, holder: 'bob', leaseMs: 600_000 })).length;
  };
  return { clock, line, engine, greet, split, others, operator, started, stall, createTwo, takeOver };
}

test('a claim that is answered after the lease lapsed and was renewed starts nothing', async () => {
  const { clock, line, started, stall, createTwo, takeOver } = await scene();
  await stall('claim', createTwo);
  expect(await takeOver()).toBe(2);
  line.letGo('beat');
  await clock.advance(1_500);
  line.letGo('claim');
  await clock.advance(20_000);
  expect(started).toEqual([]);
});

test('a claim that is answered while the lease is being renewed starts nothing', async () => {
  const { clock, line, started, stall, createTwo, takeOver } = await scene();
  await stall('claim', createTwo);
  expect(await takeOver()).toBe(2);
  line.letGo('beat');
  line.hold('beat');
  await clock.advance(600);
  line.letGo('claim');
  await clock.advance(10);
  line.letGo('beat');
  await clock.advance(20_000);
  expect(started).toEqual([]);
});

test('jobs that are still held by this instance are released and claimed again', async () => {
  const { clock, line, others, started, stall, createTwo } = await scene();
  await stall('claim', createTwo);
  const { id } = (await others.find({}, { order: 'oldest' })).jobs[0]!;
  line.letGo('beat');
  await clock.advance(1_500);
  line.letGo('claim');
  await clock.advance(20_000);
  expect(started).toEqual([`${id} under 2`, `${id + 1} under 2`]);
  expect((await others.history(id)).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
});

test('a run that was claimed on create and answered too late does not start here', async () => {
  const { clock, line, engine, greet, started, stall, takeOver } = await scene();
  await stall('commit', () => engine.createJobRun(greet));
  expect(await takeOver()).toBe(1);
  line.letGo('beat');
  await clock.advance(1_500);
  line.letGo('commit');
  await clock.advance(20_000);
  expect(started).toEqual([]);
});

test('a run whose schedule counts from its end does not start if the lease lapsed before the next tick was planned', async () => {
  const { clock, line, operator, others, started, takeOver } = await scene();
  await operator.pauseType('greet', { why: 'a system is down' });
  await operator.define('again', 'greet', { schedules: every('2s', { from: 'finished' }) });
  await clock.advance(15_000);
  line.hold('load');
  await operator.resumeType('greet', {});
  await clock.advance(100);
  const { jobs: [run] } = await others.find({ def: 'again', kinds: ['run'] });
  expect(run).toMatchObject({ state: 'running', fence: 1 });
  line.hold('beat');
  await clock.advance(6_000);
  expect(await takeOver()).toBe(1);
  line.letGo('load');
  await clock.advance(10);
  line.letGo('beat');
  await clock.advance(1_000);
  expect(started).toEqual([]);
});

test('a task does not start if the lease lapsed before its run was read', async () => {
  const { clock, line, engine, split, started, takeOver } = await scene();
  line.hold('load');
  await engine.createJobRun(split);
  await clock.advance(1_000);
  expect(line.waiting('load')).toBe(1);
  line.hold('beat');
  await clock.advance(6_000);
  expect(await takeOver()).toBe(1);
  line.letGo('load');
  await clock.advance(10);
  line.letGo('beat');
  await clock.advance(1_000);
  expect(started).toEqual([]);
});

test('the results of a run are not gathered if the lease lapsed before its tasks were counted', async () => {
  const { clock, line, engine, split, started, takeOver } = await scene();
  line.hold('count');
  const run = await engine.createJobRun(split);
  await clock.advance(1_000);
  expect(line.waiting('count')).toBe(1);
  line.hold('beat');
  await clock.advance(6_000);
  expect(await takeOver()).toBe(1);
  line.letGo('count');
  await clock.advance(10);
  line.letGo('beat');
  await clock.advance(1_000);
  expect(started).toEqual([`a task of ${run.id} under 1`]);
});

test('a run that becomes due before the answer to a claim arrives starts without a poll', async () => {
  const { clock, line, others, started } = await scene();
  line.hold('claim');
  const due = clock.now() + 50;
  const { job } = await others.create({ type: 'greet', due }, 'someone');
  await clock.advance(60);
  line.letGo('claim');
  await clock.advance(10);
  expect(started).toEqual([`${job!.id} under 1`]);
});

type Method = (...values: unknown[]) => Promise<unknown>;

/** A store whose heartbeats can be lost after a while, or take effect late. */
class SlowBeats {
  readonly store: Store;
  #before: Promise<void> | null = null;

  constructor(real: Store) {
    const beat: Store['beat'] = async (request) => {
      await this.#before;
      return real.beat(request);
    };
    this.store = new Proxy(real, {
      get: (target, name: string) => {
        if (name === 'beat') return beat;
        const member = target[name as keyof Store] as unknown as Method | undefined;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  delay(before: Promise<void>): void {
    this.#before = before;
  }

  stopDelay(): void {
    this.#before = null;
  }
}

test('a heartbeat that reaches the store after the lease lapsed starts no job that waited for a slot', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const real = openStore('memory:', { clock });
  const beats = new SlowBeats(real);
  const started: number[] = [];
  const quick = jobType('quick', { run: ({ run }) => void started.push(run.id) });
  const long = jobType('long', { run: ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  }) });
  const engine = new Engine({
    store: beats.store, clock, types: [quick, long], random: seededRandom(1), instance: 'ann', lease: '3s', slots: 1,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await engine.resume();
  // Quick handlers make the claimer claim ahead.
  await engine.createJobRuns(quick, Array.from({ length: 300 }, () => ({})));
  await clock.advance(5_000);
  const others = new Jobs(real);
  const [loss, delay] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  beats.delay(loss.promise);
  await clock.advance(1_300);
  beats.delay(delay.promise);
  loss.reject(new Error('the connection is lost'));
  const { leaseUntil } = (await real.instances())[0]!;
  // Just before the lease counts as unsafe. Earlier, the jobs would be released when they have waited for a slot for
  // half a second; later, they would not be claimed.
  await clock.advance(leaseUntil - clock.now() - 1_200);
  await others.createMany([{ type: 'long', priority: 1 }, { type: 'quick' }, { type: 'quick' }], 'someone');
  await clock.advance(10);
  const claimedAhead = async () => (await others.find({ types: ['quick'], standings: ['running'] })).jobs;
  const waiting = await claimedAhead();
  expect(waiting).toHaveLength(2);
  // The lease lapses while the second heartbeat, sent while it was safe, is still on its way.
  await clock.advance(leaseUntil - clock.now() + 1);
  expect(await claimedAhead()).toEqual(waiting);
  await repairLapsed(real, 'bob');
  const work = { kinds: ['run'], names: { glob: '*' }, limit: 10, holder: 'bob', leaseMs: 600_000 } as const;
  const taken = (await others.claim(work)).map(({ id }) => id);
  beats.stopDelay();
  delay.resolve();
  await clock.advance(20_000);
  expect(taken).toEqual(expect.arrayContaining(waiting.map(({ id }) => id)));
  expect(started.filter((id) => taken.includes(id))).toEqual([]);
});

test('a tick that becomes due before the answer to a search arrives is handled without a poll', async () => {
  const { clock, line, engine, others } = await scene();
  const pollMs = 10_000;
  await engine.define('soon', 'greet', { schedules: at(clock.now() + pollMs + 30) });
  await clock.advance(pollMs - 10);
  line.hold('claim');
  await clock.advance(50);
  line.letGo('claim');
  await clock.advance(10);
  expect((await others.find({ def: 'soon', kinds: ['run'] })).jobs).toHaveLength(1);
});

test('a claim that is answered after the engine began to stop starts nothing, and the jobs are released', async () => {
  const { clock, line, engine, others, started, createTwo } = await scene();
  line.hold('claim');
  const created = await createTwo();
  await clock.advance(200);
  const suspended = engine.suspend();
  line.letGo('claim');
  await suspended;
  expect(started).toEqual([]);
  for (const { id } of created) {
    expect((await others.history(id)).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'released']);
  }
});

test.each(['suspend', 'close'] as const)('%s stops claiming at once, while declarations wait for an answer', async (end) => {
  const { clock, line, engine, others, createTwo } = await scene();
  line.hold('instances');
  await clock.advance(10_000);
  expect(line.waiting('instances')).toBe(1);
  const ended = engine[end]();
  const created = await createTwo();
  await clock.advance(1_000);
  for (const { id } of created) expect((await others.history(id)).map(({ kind }) => kind)).toEqual(['created']);
  line.letGo('instances');
  await clock.advance(1_000);
  await ended;
});

test('a job that was claimed again before a heartbeat asked about its former claim is not dropped', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const real = openStore('memory:', { clock });
  const asking = Promise.withResolvers<void>();
  let listed: readonly number[] = [];
  /** The first heartbeat that lists a job reaches the store late. */
  const store = new Proxy(real, {
    get: (target, name: keyof Store) => {
      const member = target[name] as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'beat') return (member as () => unknown).bind(target);
      return async (beat: Beat) => {
        if (listed.length === 0 && beat.holds.length > 0) {
          listed = beat.holds.map(({ fence }) => fence);
          await asking.promise;
        }
        return target.beat(beat);
      };
    },
  });
  const attempt = Promise.withResolvers<void>();
  const occupied = Promise.withResolvers<void>();
  const flaky = jobType('flaky', {
    retry: { base: '1ms' }, run: ({ run }) => (run.attempt === 1 ? attempt.promise : undefined),
  });
  const long = jobType('long', { run: () => occupied.promise });
  const engine = new Engine({
    store, clock, types: [flaky, long], slots: 10, random: seededRandom(1), instance: 'ann', lease: '30s',
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await engine.resume();
  const run = await engine.createJobRun(flaky);
  await clock.advance(1_000);
  expect(listed).toEqual([1]);
  await engine.createJobRuns(long, Array.from({ length: 10 }, () => ({ priority: 1 })));
  await clock.advance(10);
  attempt.reject(new Error('not yet'));
  for (let step = 0; step < 30; step += 1) await clock.advance(10);
  expect(await run.get()).toMatchObject({ state: 'running', fence: 2 });
  asking.resolve();
  await clock.advance(100);
  occupied.resolve();
  await clock.advance(20_000);
  expect(await run.get()).toMatchObject({ state: 'ended', fate: 'succeeded' });
  await engine.close({ patience: '1s' });
});

/** A clock that can go on without firing the timers that are due, as when the process is paused and an answer goes first. */
class PausedClock extends VirtualClock {
  #pausedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.#pausedMs;
  }

  pause(ms: number): void {
    this.#pausedMs += ms;
    this.jump(ms);
  }
}

test('a batch does not start with jobs whose lease lapsed while their inputs were checked', async () => {
  const clock = new PausedClock(Date.UTC(2026, 0, 1));
  const checked = Promise.withResolvers<void>();
  let isCreated = false;
  const calls: number[][] = [];
  const index = jobType('index', {
    input: z.object({ n: z.number() }).refine(async ({ n }) => {
      if (isCreated && n === 2) await checked.promise;
      return true;
    }),
    batch: { size: 2 },
    runBatch: ({ jobs }) => {
      calls.push(jobs.map(({ fence }) => fence));
      return jobs.map((job) => job.done());
    },
  });
  await using engine = new Engine({
    store: openStore('memory:', { clock }), clock, types: [index], random: seededRandom(1), instance: 'ann', lease: '3s',
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await engine.createJobRuns(index, [{ input: { n: 1 } }, { input: { n: 2 } }]);
  isCreated = true;
  await engine.resume();
  await clock.advance(1_000);
  clock.pause(6_000);
  checked.resolve();
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(calls).toEqual([]);
  await clock.advance(20_000);
  expect(calls).toEqual([[2, 2]]);
});

const halves = limit('halves', { rate: '1000/1s' });
const part = jobType('part', { run: () => {} });

/** Types whose handlers note what was called. */
const phases = (noted: (call: string, fence: number) => void) => [
  jobType('planned', {
    taskLimits: [halves],
    taskCost: () => 1,
    jobDetails: ({ fence }) => noted('jobDetails', fence),
    taskDetails: ({ fence }) => {
      noted('taskDetails', fence);
      return [1];
    },
    taskResults: () => {},
  }),
  jobType('counted', { taskDetails: () => [1], taskResults: () => {}, jobResults: ({ fence }) => noted('jobResults', fence) }),
  jobType('parent', {
    run: ({ children }) => children.add(part), jobResults: ({ fence }) => noted('jobResults', fence),
  }),
];

test.each([
  { type: 'planned', read: 'load', expected: ['jobDetails under 2', 'taskDetails under 2'] },
  { type: 'counted', read: 'count', expected: ['jobResults under 3'] },
  { type: 'parent', read: 'find', expected: ['jobResults under 3'] },
] as const)('a run of type $type is released if a pause of the process outlasts the lease in $read', async (each) => {
  const { type, read, expected } = each;
  const clock = new PausedClock(Date.UTC(2026, 0, 1));
  const line = new SlowLine(openStore('memory:', { clock }));
  const calls: string[] = [];
  const types = phases((call, fence) => void calls.push(`${call} under ${fence}`));
  await using engine = new Engine({
    store: line.store, clock, types: [...types, part], random: seededRandom(1), instance: 'ann', lease: '3s',
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await engine.resume();
  await clock.advance(1_000);
  line.hold(read);
  const run = await engine.createJobRun(types.find(({ name }) => name === type)!);
  await clock.advance(1_000);
  expect(line.waiting(read)).toBeGreaterThan(0);
  clock.pause(6_000);
  line.letGo(read);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  expect(calls).toEqual([]);
  await clock.advance(20_000);
  expect(calls).toEqual(expected);
  expect(await run.get()).toMatchObject({ fate: 'succeeded' });
});
