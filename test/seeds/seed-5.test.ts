// Seed 5, "Leases and transitions", statement by statement.
import { describe, expect, test } from 'vitest';
import { cron, Engine, jobDef, jobType, lockOf, Refusal, scheduledState, typed, type Logger } from '../../src/index.ts';
import { apply } from '../../src/apply.ts';
import { seededRandom } from '../../src/random.ts';
import type { Command, CommandName } from '../../src/model/command.ts';
import { step, transitions } from '../../src/model/machine.ts';
import { states } from '../../src/model/state.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { Store } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { Cluster } from '../engine/api/cluster.ts';
import {
  Door, forever, hour, kindsOf, newYear, refused, second, start, ticksOf, told, untilTold,
} from '../engine/api/kit.ts';

const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
const quick = jobType('quick', { run: () => 'done' });

const work = { kinds: ['run'], names: { exact: ['held'] }, limit: 1, leaseMs: 10 * second } as const;

describe('about', () => {
  test('5.01 "they handle the leasing of scheduled jobs and task state transitions"', async () => {
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(quick, { delay: '1m' });
    expect([scheduledState(await run.get()), lockOf(await run.get()).owner]).toEqual(['pending', null]);
    await t.advance('1m');
    expect([scheduledState(await run.get()), lockOf(await run.get()).owner]).toEqual(['completed', null]);
    expect((await run.events()).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'succeeded']);
  });
});

describe('locking and leasing', () => {
  test('5.02 "a way to atomically tell all the other instances when one requires exclusive access"', async () => {
    const cluster = new Cluster();
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const engines = [];
    for (let count = 0; count < 4; count += 1) engines.push(await cluster.join({ types: [slow] }));
    const run = await engines[0]!.createJobRun(slow);
    await cluster.advance('1m');
    expect(door.knocks).toBe(1);
    const owners = await Promise.all(engines.map(async (engine) => lockOf((await engine.snapshot(run.id)).job).owner));
    expect(new Set(owners).size).toBe(1);
  });

  test('5.03 "any write requires exclusive access; reads are safe to run in any context"', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held);
    await t.drain();
    const { jobs } = t.engine;
    expect(await refused(jobs.succeed(run.id, 99, { by: 'ann' }))).toBe('lost.lease');
    expect(await refused(jobs.release(run.id, 99, { by: 'ann' }))).toBe('lost.lease');
    expect(await jobs.store.writeNotes([{ id: run.id, fence: 99, progress: '{}' }])).toEqual([false]);
    await Promise.all([run.get(), run.events(), run.explain(), t.engine.stats(run.id), t.engine.stage(run.id)]);
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed']);
  });

  test('5.04 "once in exclusive access mode, its state must be re-read"', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held, { delay: '1h' });
    const stale = await run.get();
    await t.engine.jobs.edit(run.id, { priority: 5 }, { by: 'ann' });
    // Decided on what was seen before, written on what is there: the decision is made again.
    const { before, after } = await apply(
      t.engine.jobs.store, stale, { do: 'edit', edit: { due: newYear + 2 * hour } }, { by: 'bob' },
    );
    expect([before!.version, after]).toMatchObject([2, { priority: 5, due: newYear + 2 * hour, version: 3 }]);
  });

  test('5.05 "uses a leased lock through the data store to implement this exclusive access mode"', async () => {
    const t = await start();
    await t.createJobRun(held);
    const [claimed] = await t.engine.jobs.claim({ ...work, holder: 'ann' });
    expect(lockOf(claimed!)).toEqual({ owner: 'ann', expires: newYear + 10 * second, state: 'run' });
    expect(await t.engine.jobs.claim({ ...work, holder: 'bob' })).toEqual([]);
  });

  test('5.06 "depends on the underlying data store to provide the atomic updates"', async () => {
    const cluster = new Cluster();
    const engine = cluster.add();
    const run = await engine.createJobRun(held);
    const [job] = await cluster.store.load([run.id]);
    const change = (by: string) => step(job!, { do: 'edit', edit: { priority: by.length } }, { by, now: newYear });
    const [ann, beate] = ['ann', 'beate'].map(change);
    if (ann instanceof Refusal || beate instanceof Refusal) throw new Error('an edit cannot be refused');
    expect(await cluster.store.commit({ changes: [ann!] })).toEqual([true]);
    expect(await cluster.store.commit({ changes: [beate!] })).toEqual([false]);
    expect((await run.get()).priority).toBe(3);
  });

  test('5.07 "a lease: such as if one service were to stop while it owned a lock"', async () => {
    const cluster = new Cluster();
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const first = await cluster.join({ types: [slow], lease: '10s' });
    const run = await first.createJobRun(slow);
    await cluster.advance('1s');
    cluster.kill(first);
    const second = await cluster.join({ types: [slow], lease: '10s' });
    await cluster.advance('15s');
    expect(lockOf((await second.snapshot(run.id)).job).owner).toBe('b');
  });

  test('5.08 "depends upon synchronized clocks": not here, only the clock of the store counts', async () => {
    const storeClock = new VirtualClock(newYear);
    const store = new MemoryStore(storeClock);
    const done: string[] = [];
    const typeOn = (name: string) => jobType('timed', { run: () => void done.push(name) });
    // One of them believes it is years ago, the other that it is years ahead.
    const engines = ['2001', '2077'].map((year) => {
      const clock = new VirtualClock(Date.parse(`${year}-01-01T00:00:00Z`));
      return {
        clock, engine: new Engine({ store, clock, types: [typeOn(year)], random: seededRandom(1), instance: year }),
      };
    });
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left >= 0; left -= second) {
        await Promise.all([storeClock, ...engines.map(({ clock }) => clock)].map(
          (clock) => clock.advance(Math.min(second, left)),
        ));
        for (let turns = 0; turns < 5; turns += 1) await turn();
      }
    };
    const resumed = engines.map(({ engine }) => engine.resume());
    await pass(0);
    await Promise.all(resumed);
    const run = await engines[0]!.engine.createJobRun(typeOn('2001'), { delay: '1m' });
    expect((await run.get()).due).toBe(newYear + 60 * second);
    await pass(58 * second);
    expect(done).toEqual([]);
    await pass(10 * second);
    expect(done).toHaveLength(1);
    const closed = engines.map(({ engine }) => engine.close());
    await pass(second);
    await Promise.all(closed);
  });

  test('5.09 "a task requires first locking its owner": here the task, under its run\'s word', async () => {
    const tasks = jobType('tasks', { taskDetails: () => [1, 2], taskResults: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [tasks], slots: 1 });
    const run = await t.createJobRun(tasks);
    await t.drain();
    const { jobs: found } = await t.engine.find({ parent: run.id });
    for (const { id } of found) expect(await refused(t.engine.jobs.succeed(id, 77, { by: 'ann' }))).toBe('lost.lease');
    await apply(t.engine.jobs.store, run.id, { do: 'cancel', code: 'user' }, { by: 'ann' });
    // After the run's note no task of it is handed out any more.
    const claimed = await t.engine.jobs.claim({
      ...work, kinds: ['task'], names: { exact: ['tasks'] }, limit: 10, holder: 'bob',
    });
    expect(claimed).toEqual([]);
  });

  test('5.10 "expired leases are transitioned into repair, to recover the execution"', async () => {
    let prepared = 0;
    const done = new Set<number>();
    const tasks = jobType('tasks', {
      taskDetails: () => { prepared += 1; return [1, 2, 3]; },
      taskResults: ({ task }) => { if (task === 2 && !done.has(1)) return forever(); done.add(task); return task; },
      jobResults: ({ counts }) => counts.succeeded,
    });
    const t = await start({ types: [tasks], slots: 3 });
    const run = await t.createJobRun(tasks);
    await t.drain();
    t.crash();
    await t.restart();
    await t.advance('1m');
    expect([await run.result(), prepared]).toEqual([3, 1]);
  });

  test('5.11 "its lock state indicates the state transition being performed"', async () => {
    const doors = { prepare: new Door(), gather: new Door() };
    const phased = jobType('phased', {
      taskDetails: async () => { await doors.prepare.pass(); return [1]; },
      taskResults: ({ signal }) => untilTold(signal),
      jobResults: () => doors.gather.pass(),
    });
    const t = await start({ types: [phased, held] });
    const run = await t.createJobRun(phased);
    const other = await t.createJobRun(held);
    await t.drain();
    const state = async (id: number): Promise<string | null> => lockOf((await t.engine.snapshot(id)).job).state;
    expect([await state(run.id), await state(other.id)]).toEqual(['prepare', 'run']);
    doors.prepare.open();
    await t.drain();
    const { jobs: [task] } = await t.engine.find({ parent: run.id });
    expect([await state(run.id), await state(task!.id)]).toEqual([null, 'run']);
    await t.engine.cancelJobRun(task!.id);
    await t.drain();
    expect(await state(run.id)).toBe('gather');
  });

  test('5.12 "helps aid the repair operations to understand the state at the time of failure"', async () => {
    const door = new Door();
    const phased = jobType('phased', {
      taskDetails: async () => { await door.pass(); return [1]; }, taskResults: () => {},
    });
    const t = await start({ types: [phased, held] });
    const runs = [await t.createJobRun(phased), await t.createJobRun(held)];
    await t.drain();
    t.crash();
    await t.restart();
    await t.advance('20s');
    const repairs = await Promise.all(runs.map(async (run) => (await run.events()).find(
      ({ kind }) => kind === 'lapsed',
    )));
    expect(repairs).toMatchObject([{ holder: 'test-1', phase: 'prepare' }, { holder: 'test-1', phase: 'run' }]);
  });

  test('5.13 "when the lock is released, this state must also be cleared"', async () => {
    const t = await start();
    const run = await t.createJobRun(held);
    const [claimed] = await t.engine.jobs.claim({ ...work, holder: 'ann' });
    expect(lockOf(claimed!).state).toBe('run');
    await t.engine.jobs.release(run.id, claimed!.fence, { by: 'ann' });
    expect(lockOf(await run.get())).toEqual({ owner: null, expires: null, state: null });
  });
});

const patience = { timeout: 60_000 };

describe('states and transitions', () => {
  /** A store that counts its calls, and dies with its engine at one of them: that is still done, its answer is lost. */
  function mortal(store: Store, dies = Infinity): { readonly store: Store; readonly count: () => number } {
    let calls = 0;
    const never = (): Promise<never> => new Promise(() => {});
    const isCounted = (name: string | symbol): boolean => name !== 'now' && name !== 'onWake';
    const proxy = new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as (...given: unknown[]) => unknown;
        return (...values: unknown[]) => {
          if (isCounted(name)) calls += 1;
          if (calls > dies) return never();
          const answer = member.apply(target, values);
          return calls === dies && isCounted(name) ? never() : answer;
        };
      },
    });
    return { store: proxy, count: () => calls };
  }

  test('5.14 "not requiring transactions across multiple requests": it may die at any', patience, async () => {
    const sums = jobType('sums', {
      input: typed<number>(),
      taskDetails: ({ input }) => Array.from({ length: input }, (_, index) => index + 1),
      taskResults: ({ task }) => task,
      jobResults: async ({ tasks }) => (await Array.fromAsync(tasks)).reduce((sum, { result }) => sum + result!, 0),
    });
    const def = jobDef('def', sums, { params: 3, schedules: cron('* * * * *'), overlap: 'allow', misfire: 'all' });
    const live = (cluster: Cluster, store: Store): void => {
      const options = { store, clock: cluster.clock, random: seededRandom(3), instance: 'doomed', defs: [def] };
      void new Engine(options).resume();
    };
    const dress = new Cluster();
    const counted = mortal(dress.store);
    live(dress, counted.store);
    await dress.advance('59s');
    const before = counted.count();
    await dress.advance('2s');
    expect((await dress.store.find({ kinds: ['run'], standings: ['succeeded'] })).jobs).toHaveLength(1);
    for (let dies = before; dies <= counted.count(); dies += 1) {
      const cluster = new Cluster();
      live(cluster, mortal(cluster.store, dies).store);
      await cluster.advance('61s');
      const survivor = await cluster.join({ defs: [def] });
      await cluster.advance('58s');
      const [ticks, { jobs: runs }] = [await ticksOf(survivor, 'def'), await survivor.find({ kinds: ['run'] })];
      expect(ticks.map(told)).toEqual(['2026-01-01T00:01 run']);
      expect(runs).toMatchObject([{ state: 'ended', fate: 'succeeded', result: '6' }]);
      expect((await survivor.find({ parent: runs[0]!.id })).jobs).toHaveLength(3);
    }
  });

  test('5.15 "each of which must deal with multiple starting states and error conditions"', async () => {
    const t = await start({ types: [held] });
    const known = new Set(transitions().map(([name, state]) => `${name} ${state}`));
    const names = [...new Set(transitions().map(([name]) => name))];
    const examples = {
      pending: await (await t.createJobRun(held, { delay: '1h' })).get(),
      held: await t.engine.jobs.pause((await t.createJobRun(held, { delay: '1h' })).id, { by: 'ann' }),
      running: await (async () => { const run = await t.createJobRun(held); await t.drain(); return run.get(); })(),
      ended: await (await t.createJobRun(held, { delay: '1h' })).cancel(),
    };
    for (const state of states) {
      for (const name of names.filter((each) => !known.has(`${each} ${state}`))) {
        const answer = step(examples[state], commandOf(name, examples[state].fence), { by: 'ann', now: t.clock.now() });
        expect([name, state, answer instanceof Refusal]).toEqual([name, state, true]);
      }
    }
  });

  const said = { holder: 'ann', until: null, code: 'user', retryable: true, due: 0, tasks: 1, reopens: 0, edit: {} };
  const commandOf = (name: CommandName, fence: number): Command =>
    ({ do: name, fence, ...said, error: { code: 'unknown', message: '' } }) as unknown as Command;
});

describe('create new scheduled job', () => {
  test('5.16 "can be run from anywhere, not just a Tern service"', async () => {
    const cluster = new Cluster();
    const def = jobDef('def', quick, { schedules: cron('* * * * *') });
    const client = cluster.add();
    await client.createJobRun(def);
    expect((await client.definition('def')).nextDue).toBe(newYear + 60 * second);
    await cluster.join({ types: [quick] });
    await cluster.advance('1m');
    expect((await client.find({ kinds: ['run'], standings: ['succeeded'] })).jobs).toHaveLength(2);
  });

  test('5.17 "no service can attempt to operate on it until it completes initialization"', async () => {
    const t = await start({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    const { job } = await t.engine.definition('def');
    // From its first event on it is whole.
    const [created] = await t.engine.history(job.id);
    expect(created).toMatchObject({
      kind: 'created', due: newYear + hour, plan: { schedules: [{ next: { nominal: newYear + hour } }] },
    });
  });

  test('5.18 "the scheduled job creates the first task, but must not run it"', async () => {
    const t = await start({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    expect((await t.engine.definition('def')).nextDue).toBe(newYear + hour);
    await t.advance('59m');
    expect(await t.runs()).toEqual([]);
    await t.advance('1m');
    expect(await t.runs()).toHaveLength(1);
  });

  test('5.19 "when it completes its initialization in the database, it must be unlocked"', async () => {
    const t = await start({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    const { job } = await t.engine.definition('def');
    expect([lockOf(job).owner, scheduledState(job)]).toEqual([null, 'pending']);
  });

  test('5.20 "can lead to dangling tasks without owning scheduled jobs": never here', async () => {
    const door = new Door();
    const tasks = jobType('tasks', {
      taskDetails: async function* () { yield* Array.from({ length: 2000 }, (_, index) => index); await door.pass(); },
      taskResults: () => {},
    });
    const t = await start({ types: [tasks] });
    const run = await t.createJobRun(tasks);
    await t.drain();
    t.crash();
    await t.restart();
    expect((await t.engine.find({ kinds: ['task'] })).jobs).toEqual([]);
    door.open();
    await t.advance('30s');
    const { jobs } = await t.engine.find({ kinds: ['task'] }, { limit: 1000 });
    expect(new Set(jobs.map(({ parent }) => parent))).toEqual(new Set([run.id]));
    expect((await t.engine.stats(run.id)).tasksTotal).toBe(2000);
  });

  test('5.21 "if repair finds a scheduled job in the creating state": there is none to be found', async () => {
    const cluster = new Cluster();
    const def = jobDef('def', quick, { schedules: cron('* * * * *') });
    for (let count = 0; count < 3; count += 1) {
      const engine = cluster.add({ defs: [def] });
      void engine.resume();
      cluster.kill(engine);
    }
    const survivor = await cluster.join({ defs: [def] });
    await cluster.advance('2m');
    const { jobs } = await survivor.find({ kinds: ['def'] });
    expect(jobs.map(scheduledState)).toEqual(['pending']);
    expect((await ticksOf(survivor, 'def')).map(told)).toEqual(['2026-01-01T00:01 run', '2026-01-01T00:02 run']);
  });

  test('5.22 "requires additional unit tests": many who create the same at once', async () => {
    const cluster = new Cluster();
    const def = jobDef('def', quick, { schedules: cron('* * * * *') });
    const engines = Array.from({ length: 5 }, () => cluster.add({ defs: [def] }));
    const resumed = engines.map((engine) => engine.resume());
    await cluster.advance('2m');
    await Promise.all(resumed);
    expect((await engines[0]!.definitions()).map(({ name }) => name)).toEqual(['def']);
    expect((await engines[0]!.find({ kinds: ['run'] })).jobs).toHaveLength(2);
  });
});

describe('start task execution', () => {
  test('5.23 "when a service discovers a task that needs execution, it begins to start it"', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held, { delay: '1m' });
    await t.advance('59s');
    expect(kindsOf(await run.events())).toEqual(['created']);
    await t.advance('1s');
    expect((await run.events())[1]).toMatchObject({ kind: 'claimed', at: newYear + 60 * second });
  });

  test('5.24 "obtain a lock, mark as starting, call, then mark according to the returned value"', async () => {
    const seen: string[] = [];
    const phased = jobType('phased', {
      taskDetails: async ({ run }) => { seen.push(scheduledState(await t.engine.run(run.id).get())); return [1]; },
      taskResults: async ({ run }) => { seen.push(scheduledState(await t.engine.run(run.id).get())); },
    });
    const outcomes = jobType('outcomes', {
      input: typed<string>(),
      retry: { attempts: 1 },
      run: ({ input, handOff }) => {
        if (input === 'failed') throw new Error('no');
        return input === 'running' ? handOff() : input;
      },
    });
    const t = await start({ types: [phased, outcomes] });
    await t.createJobRun(phased);
    const runs = await t.engine.createJobRuns(outcomes, ['completed', 'failed', 'running'].map((input) => ({ input })));
    await t.drain();
    expect(seen).toEqual(['starting', 'started']);
    expect(await Promise.all(runs.map(async (run) => scheduledState(await run.get())))).toEqual([
      'completed', 'failed', 'started',
    ]);
  });

  test('5.25 "this may optionally initiate a retry, and possibly trigger the creation of a new task"', async () => {
    const flaky = jobType('flaky', {
      retry: { base: '1s' }, run: ({ run }) => { if (run.attempt < 2) throw new Error('not yet'); },
    });
    const def = jobDef('def', flaky, { schedules: cron('* * * * *') });
    const t = await start({ defs: [def] });
    await t.advance('2m30s');
    const runs = await t.runs(def);
    expect(runs.map((run) => [run.attempt, scheduledState(run)])).toEqual([[2, 'completed'], [2, 'completed']]);
    expect((await t.engine.definition('def')).nextDue).toBe(newYear + 180 * second);
  });

  test('5.26 "all the operations for this transition must be done with a locked scheduled job"', async () => {
    const seen: unknown[] = [];
    const type = jobType('locked', {
      run: async ({ run, fence }) => {
        const job = await t.engine.run(run.id).get();
        seen.push([lockOf(job).owner, job.fence === fence]);
      },
    });
    const t = await start({ types: [type] });
    await t.createJobRun(type);
    await t.drain();
    expect(seen).toEqual([['test-1', true]]);
  });

  test('5.27 "if the lock cannot be obtained, some other service is performing a similar operation"', async () => {
    const t = await start();
    await t.createJobRun(held);
    const claims = await Promise.all(['ann', 'bob', 'cat'].map((holder) => t.engine.jobs.claim({ ...work, holder })));
    expect(claims.flat()).toHaveLength(1);
  });

  test('5.28 "it is safe to not report the lock-not-obtained error"', async () => {
    const complaints: string[] = [];
    const complain = (text: string): void => void complaints.push(text);
    const logger: Logger = { info: () => {}, warn: complain, error: complain };
    const cluster = new Cluster();
    const def = jobDef('def', quick, { schedules: cron('* * * * *') });
    for (let count = 0; count < 3; count += 1) await cluster.join({ defs: [def], logger });
    await cluster.advance('10m');
    expect(complaints).toEqual([]);
  });
});

describe('the other transitions', () => {
  test('5.29 "Task Execution Finished": stored once, under the lease, and the next one planned', async () => {
    const tokens: string[] = [];
    const outside = jobType('outside', {
      run: ({ handOff }) => { const given = handOff(); tokens.push(given.token); return given; },
    });
    const def = jobDef('def', outside, { schedules: cron('* * * * *') });
    const t = await start({ defs: [def] });
    await t.advance('1m');
    await t.engine.complete(tokens[0]!, 'finished');
    expect(await refused(t.engine.complete(tokens[0]!, 'twice'))).toBe('lost.lease');
    const [run] = await t.runs(def);
    expect(run).toMatchObject({ fate: 'succeeded', result: '"finished"' });
    expect((await t.engine.definition('def')).nextDue).toBe(newYear + 120 * second);
  });

  test('5.30 "Disable Scheduled Job": it stays disabled, whatever ends or starts in the meantime', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const def = jobDef('def', slow, { schedules: cron('* * * * *') });
    const t = await start({ defs: [def] });
    await t.advance('1m');
    await t.engine.disable('def', { by: 'ann', why: 'no more' });
    door.open();
    await t.advance('5m');
    await t.restart();
    await t.advance('5m');
    expect(await t.runs(def)).toHaveLength(1);
    const { isEnabled, job } = await t.engine.definition('def');
    expect(isEnabled).toBe(false);
    expect((await t.engine.history(job.id)).at(-1)).toMatchObject({ kind: 'paused', by: 'ann', why: 'no more' });
  });
});
