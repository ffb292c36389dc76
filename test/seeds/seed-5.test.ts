// Seed 5, "Leases and transitions", statement by statement, on SQLite and on PostgreSQL.
import { describe, expect } from 'vitest';
import {
  cron, jobDef, jobType, lockOf, Refusal, scheduledState, typed, type Engine, type Logger,
} from '../../src/index.ts';
import { apply } from '../../src/apply.ts';
import type { Command, CommandName } from '../../src/model/command.ts';
import { step } from '../../src/model/machine.ts';
import { states, type State } from '../../src/model/state.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { Door, forever, hour, kindsOf, newYear, refused, second, ticksOf, untilTold } from '../engine/api/kit.ts';
import { bySize } from '../support/size.ts';
import { seedStores, type SeedWorld } from './world.ts';

const held = jobType('held', { run: ({ signal }) => untilTold(signal) });
const quick = jobType('quick', { run: () => 'done' });
const everyTenSeconds = { schedules: cron('*/10 * * * * *') } as const;

const claimHeld = { kinds: ['run'], names: { exact: ['held'] }, limit: 1, leaseMs: 10 * second } as const;

/** The ticks of a definition with their outcomes, by seconds since the start of the test. */
const ticks = async (engine: Engine, def: string): Promise<string[]> =>
  (await ticksOf(engine, def)).map((tick) => {
    const outcome = 'run' in tick ? 'run' : tick.skipped;
    return `${(tick.nominal - newYear) / second} ${outcome}`;
  });

const ownerOf = async (world: SeedWorld, id: number): Promise<string | null> =>
  lockOf((await world.store.load([id]))[0]!).owner;

/** In the proof an instance dies after each of its writes, in npm test after every third. */
const writesPerDeath = bySize({ small: 3, ci: 1 });

type WritingCall = 'reserveIds' | 'commit' | 'claim' | 'beat' | 'lead';

/** Kills the engine when it has made so many of these calls: the last one is done, and its answer is lost. */
function killAfter(
  world: SeedWorld, engine: Engine, calls: readonly (WritingCall & keyof Store)[], count: number,
): { readonly writes: () => number; readonly killed: Promise<void> } {
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  let writes = 0;
  world.afterEachCall(engine, async (method) => {
    if (!(calls as readonly string[]).includes(method)) return;
    writes += 1;
    if (writes !== count) return;
    world.kill(engine);
    resolve();
  });
  return { writes: () => writes, killed };
}

describe.concurrent.each(seedStores)('on $name', ({ test }) => {
  test('5.01 a scheduled job is leased while its state changes, and free before and afterwards', async ({ world }) => {
    const seen: unknown[] = [];
    const looking = jobType('looking', {
      run: async ({ run }) => { seen.push(await ownerOf(world, run.id)); },
    });
    await world.start({ types: [looking] });
    const run = await world.createJobRun(looking, { delay: '20s' });
    expect([scheduledState(await run.get()), await ownerOf(world, run.id)]).toEqual(['pending', null]);
    await world.advance('20s');
    expect([scheduledState(await run.get()), await ownerOf(world, run.id)]).toEqual(['completed', null]);
    expect([seen, kindsOf(await run.events())]).toEqual([['a'], ['created', 'claimed', 'succeeded']]);
  });

  test('5.02 the instance that claims a job first has it, and all others read who it is', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const engines = [];
    for (let count = 0; count < 4; count += 1) engines.push(await world.start({ types: [slow] }));
    const run = await world.createJobRun(slow, { delay: '1s' });
    await world.advance('30s');
    expect(door.knocks).toBe(1);
    const owners = await Promise.all(engines.map(async (engine) => lockOf((await engine.snapshot(run.id)).job).owner));
    expect([new Set(owners).size, owners[0]]).toEqual([1, expect.stringMatching(/^[abcd]$/)]);
  });

  test('5.03 a write under another fence is refused, and reads need no lock', async ({ world }) => {
    await world.start({ types: [held] });
    const run = await world.createJobRun(held);
    await world.settle();
    const reader = await world.add();
    const { jobs } = reader;
    const { fence } = await run.get();
    for (const other of [fence + 1, 99]) {
      expect(await refused(jobs.succeed(run.id, other, { by: 'ann' }))).toBe('lost.lease');
      expect(await refused(jobs.release(run.id, other, { by: 'ann' }))).toBe('lost.lease');
      expect(await jobs.store.writeNotes([{ id: run.id, fence: other, progress: '{}' }])).toEqual([false]);
    }
    const before = await run.get();
    const { id } = run;
    await Promise.all([reader.get(id), reader.history(id), reader.explain(id), reader.stats(id), reader.stage(id)]);
    expect([await run.get(), kindsOf(await run.events())]).toEqual([before, ['created', 'claimed']]);
  });

  test('5.04 a decision on a job that has changed meanwhile is made again on its new state', async ({ world }) => {
    const engine = await world.start({ types: [held] });
    const run = await engine.createJobRun(held, { delay: '1h' });
    const stale = await run.get();
    await engine.jobs.edit(run.id, { priority: 5 }, { by: 'ann' });
    const { before, after } = await apply(
      await world.reader(), stale, { do: 'edit', edit: { due: newYear + 2 * hour } }, { by: 'bob' },
    );
    expect([before!.version, after]).toMatchObject([2, { priority: 5, due: newYear + 2 * hour, version: 3 }]);
  });

  test('5.05 the lock is a lease in the database that heartbeats extend until they stop', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const first = await world.start({ types: [slow], lease: '10s' });
    const other = await world.add({ types: [slow], lease: '10s' });
    const run = await first.createJobRun(slow);
    const leaseUntil = async (): Promise<number> =>
      (await other.instances()).find(({ id }) => id === 'a')!.leaseUntil - newYear;
    const claim = () => other.jobs.claim({ ...claimHeld, names: { exact: ['slow'] }, holder: 'ann' });
    const leases: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      await world.advance('10s');
      leases.push(await leaseUntil());
      expect([await ownerOf(world, run.id), await claim()]).toEqual(['a', []]);
    }
    for (const [index, until] of leases.entries()) {
      expect(until - 10 * second * (index + 2), `after ${index + 1} leases`).toBeGreaterThan(-5 * second);
    }
    world.kill(first);
    const until = leases[2]!;
    await world.passing(other.resume());
    await world.advance(`${newYear + until - 1 - world.clock.now()}ms`);
    expect([await leaseUntil(), await ownerOf(world, run.id), door.knocks]).toEqual([until, 'a', 1]);
    await world.advance('10s');
    expect([await ownerOf(world, run.id), door.knocks]).toEqual(['b', 2]);
  });

  test('5.06 of two changes of the same state of a job the database writes one', async ({ world }) => {
    const engine = await world.add();
    const run = await engine.createJobRun(held);
    const [job] = await world.store.load([run.id]);
    const change = (by: string) => step(job!, { do: 'edit', edit: { priority: by.length } }, { by, now: newYear });
    const [ann, beate] = ['ann', 'beate'].map(change);
    if (ann instanceof Refusal || beate instanceof Refusal) throw new Error('an edit cannot be refused');
    const reader = await world.reader();
    const written = await Promise.all([world.store.commit({ changes: [ann!] }), reader.commit({ changes: [beate!] })]);
    expect(written.flat().filter(Boolean)).toEqual([true]);
    expect(await run.get()).toMatchObject({ version: 2, priority: written[0][0] ? 3 : 5 });
  });

  test('5.07 the lease of an instance that stopped ends, and another instance gets its job', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const first = await world.start({ types: [slow], lease: '10s' });
    const run = await first.createJobRun(slow);
    await world.advance('1s');
    world.kill(first);
    await world.start({ types: [slow], lease: '10s' });
    await world.advance('5s');
    expect([await ownerOf(world, run.id), door.knocks]).toEqual(['a', 1]);
    await world.advance('15s');
    expect([await ownerOf(world, run.id), door.knocks]).toEqual(['b', 2]);
  });

  test('5.08 the clocks of instances need not agree: the clock of the database counts', async ({ world }) => {
    const done: string[] = [];
    const typeOn = (name: string) => jobType('timed', { run: () => void done.push(name) });
    const clocks = ['2001', '2077'].map((year) => new VirtualClock(Date.parse(`${year}-01-01T00:00:00Z`)));
    const engines = [
      await world.add({ types: [typeOn('2001')] }, clocks[0]), await world.add({ types: [typeOn('2077')] }, clocks[1]),
    ];
    const pass = async (seconds: number): Promise<void> => {
      for (let count = 0; count < seconds; count += 1) {
        await Promise.all([world.clock, ...clocks].map((clock) => clock.advance(second)));
        await world.settle();
      }
    };
    for (const engine of engines) await world.passing(engine.resume());
    for (const engine of engines) {
      const run = await engine.createJobRun(typeOn(''), { delay: '20s' });
      expect([(await run.get()).created, (await run.get()).due]).toEqual([newYear, newYear + 20 * second]);
    }
    await pass(19);
    expect(done).toEqual([]);
    const leases = (await engines[0]!.instances()).map(({ leaseUntil }) => leaseUntil - world.clock.now());
    for (const left of leases) expect(left > 0 && left <= 15 * second, String(left)).toBe(true);
    await pass(7);
    expect(done).toHaveLength(2);
    expect((await world.runs()).map(({ crashes }) => crashes)).toEqual([0, 0]);
  });

  test('5.09 a task has a lease of its own, and none is claimed after its run was cancelled', async ({ world }) => {
    const tasks = jobType('tasks', { taskDetails: () => [1, 2, 3], taskResults: ({ signal }) => untilTold(signal) });
    const engine = await world.start({ types: [tasks], slots: 1 });
    const run = await engine.createJobRun(tasks);
    await world.settle();
    const owners = await Promise.all((await world.tasks(run)).map(({ id }) => ownerOf(world, id)));
    expect([await ownerOf(world, run.id), owners]).toEqual([null, ['a', null, null]]);
    for (const { id } of await world.tasks(run)) {
      expect(await refused(engine.jobs.succeed(id, 77, { by: 'ann' }))).toBe('lost.lease');
    }
    // Only the run is marked: its tasks have not been cancelled yet.
    world.kill(engine);
    const other = await world.add();
    await apply(world.store, run.id, { do: 'cancel', code: 'user' }, { by: 'ann' });
    const claimed = await other.jobs.claim({
      kinds: ['task'], names: { exact: ['tasks'] }, limit: 10, leaseMs: second, holder: 'bob',
    });
    expect(claimed).toEqual([]);
  });

  test('5.10 repair continues an execution: completed tasks are not executed again', async ({ world }) => {
    let prepared = 0;
    const executed: number[] = [];
    const tasks = jobType('tasks', {
      taskDetails: () => { prepared += 1; return [1, 2, 3]; },
      taskResults: ({ task }) => {
        executed.push(task);
        return task === 2 && executed.filter((each) => each === 2).length === 1 ? forever() : task;
      },
      jobResults: ({ counts }) => counts.succeeded,
    });
    const first = await world.start({ types: [tasks], slots: 3 });
    const { id } = await first.createJobRun(tasks);
    await world.advance('1s');
    world.kill(first);
    await world.start({ types: [tasks], slots: 3 });
    await world.advance('30s');
    expect([await world.engine.run(id).result(), prepared]).toEqual([3, 1]);
    expect(executed.toSorted((a, b) => a - b)).toEqual([1, 2, 2, 3]);
  });

  test('5.11 the lock names the transition that its owner performs', async ({ world }) => {
    const doors = { prepare: new Door(), gather: new Door() };
    const phased = jobType('phased', {
      taskDetails: async () => { await doors.prepare.pass(); return [1]; },
      taskResults: ({ signal }) => untilTold(signal),
      jobResults: () => doors.gather.pass(),
    });
    const engine = await world.start({ types: [phased, held] });
    const [run, other] = [await engine.createJobRun(phased), await engine.createJobRun(held)];
    await world.settle();
    const state = async (id: number): Promise<string | null> => lockOf((await world.store.load([id]))[0]!).state;
    expect([await state(run.id), await state(other.id)]).toEqual(['prepare', 'run']);
    doors.prepare.open();
    await world.settle();
    const [task] = await world.tasks(run);
    expect([await state(run.id), await state(task!.id)]).toEqual([null, 'run']);
    await engine.cancelJobRun(task!.id);
    await world.settle();
    expect(await state(run.id)).toBe('gather');
  });

  test('5.12 the history of a repaired job names the phase in which its holder was lost', async ({ world }) => {
    const door = new Door();
    const phased = jobType('phased', {
      taskDetails: async () => { await door.pass(); return [1]; }, taskResults: () => {},
    });
    const first = await world.start({ types: [phased, held] });
    const runs = [await first.createJobRun(phased), await first.createJobRun(held)];
    await world.advance('1s');
    world.kill(first);
    await world.start();
    await world.advance('30s');
    const repairs = await Promise.all(runs.map(async ({ id }) => (await world.store.history(id)).at(-1)));
    expect(repairs).toMatchObject([
      { kind: 'lapsed', holder: 'a', phase: 'prepare', by: 'b' },
      { kind: 'lapsed', holder: 'a', phase: 'run', by: 'b' },
    ]);
  });

  test('5.13 a released job has neither an owner nor a transition', async ({ world }) => {
    const engine = await world.add();
    const run = await engine.createJobRun(held);
    const [claimed] = await engine.jobs.claim({ ...claimHeld, holder: 'ann' });
    expect(lockOf(claimed!)).toEqual({ owner: 'ann', expires: newYear + 10 * second, state: 'run' });
    await engine.jobs.release(run.id, claimed!.fence, { by: 'ann' });
    expect(lockOf(await run.get())).toEqual({ owner: null, expires: null, state: null });
  });

  test('5.14 an instance may die after any of its writes: another completes the work, once', async ({ worlds }) => {
    const sums = jobType('sums', {
      input: typed<number>(),
      taskDetails: ({ input }) => Array.from({ length: input }, (_, index) => index + 1),
      taskResults: ({ task }) => task,
      jobResults: async ({ tasks }) => (await Array.fromAsync(tasks)).reduce((sum, { result }) => sum + result!, 0),
    });
    const def = jobDef('def', sums, { params: 3, ...everyTenSeconds, overlap: 'allow', misfire: 'all' });
    const live = async (world: SeedWorld, dies: number): Promise<number> => {
      await world.advance('9s');
      const engine = await world.start({ defs: [def], lease: '3s' });
      const { writes } = killAfter(world, engine, ['reserveIds', 'commit', 'claim'], dies);
      await world.advance('2s');
      return writes();
    };
    const writes = await worlds.within((world) => live(world, Infinity));
    expect(writes).toBeGreaterThan(8);
    for (let dies = 1; dies <= writes; dies += writesPerDeath) {
      await worlds.within(async (world) => {
        await live(world, dies);
        const survivor = await world.start({ defs: [def], lease: '3s' });
        await world.advance('8900ms');
        const runs = await world.runs(def);
        expect([dies, await ticks(survivor, 'def')]).toEqual([dies, ['10 run']]);
        expect([dies, runs]).toMatchObject([dies, [{ state: 'ended', fate: 'succeeded', result: '6' }]]);
        expect(await world.tasks(runs[0]!)).toHaveLength(3);
      });
    }
  });

  test('5.15 every transition that is not allowed in a state is refused and changes nothing', async ({ world }) => {
    const engine = await world.start({ types: [held] });
    const runs = {
      pending: await engine.createJobRun(held, { delay: '1h' }),
      held: await engine.createJobRun(held, { delay: '1h' }),
      running: await engine.createJobRun(held),
      ended: await engine.createJobRun(held, { delay: '1h' }),
    };
    await world.settle();
    await engine.pauseJobRun(runs.held.id);
    await runs.ended.cancel();
    for (const state of states) {
      const before = await runs[state].get();
      expect(before.state).toBe(state);
      const others = (Object.keys(allowed) as CommandName[]).filter((name) => !allowed[name].includes(state));
      for (const name of others) {
        const asked = apply(world.store, runs[state].id, commandOf(name), { by: 'ann' });
        expect(await refused(asked), `${name} ${state}`).toBe('wrong.state');
      }
      expect(await runs[state].get()).toEqual(before);
    }
  });

  test('5.16 a program that executes nothing can create definitions and runs', async ({ world }) => {
    const def = jobDef('def', quick, everyTenSeconds);
    const client = await world.add();
    await client.createJobRun(def);
    expect((await client.definition('def')).nextDue).toBe(newYear + 10 * second);
    await world.advance('5s');
    expect((await world.runs()).map(scheduledState)).toEqual(['pending']);
    await world.start({ types: [quick] });
    await world.advance('6s');
    expect((await world.runs()).map(scheduledState)).toEqual(['completed', 'completed']);
  });

  test('5.17 no instance sees a definition before it is complete', async ({ world }) => {
    const engine = await world.add({ defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    const reader = await world.reader();
    const seen = new Set<string>();
    world.afterEachCall(engine, async () => {
      for (const { state, due, plan, version } of (await reader.find({ kinds: ['def'] })).jobs) {
        seen.add(JSON.stringify([state, due, plan!.schedules.map(({ next }) => next!.nominal), version]));
      }
    });
    await world.passing(engine.resume());
    expect([...seen]).toEqual([JSON.stringify(['pending', newYear + hour, [newYear + hour], 1])]);
  });

  test('5.18 the creation of a definition plans its first run and does not start it', async ({ world }) => {
    await world.start({ defs: [jobDef('def', quick, { schedules: cron('*/30 * * * * *') })] });
    expect((await world.engine.definition('def')).nextDue).toBe(newYear + 30 * second);
    await world.advance('29s');
    expect(await world.runs()).toEqual([]);
    await world.advance('1s');
    expect(await world.runs()).toHaveLength(1);
  });

  test('5.19 a definition is unlocked as soon as it is created', async ({ world }) => {
    const engine = await world.add();
    await engine.createJobRun(jobDef('def', quick, { schedules: cron('0 * * * *') }));
    const { job } = await engine.definition('def');
    expect([lockOf(job).owner, scheduledState(job)]).toEqual([null, 'pending']);
    // Unlocked: another program can change it at once.
    const other = await world.add();
    await other.override('def', { priority: 7 });
    expect((await engine.definition('def')).spec.priority).toBe(7);
  });

  test('5.20 no task exists before its run waits for it, even if its planner dies', async ({ world }) => {
    const door = new Door();
    const tasks = jobType('tasks', {
      taskDetails: async function* () { yield* Array.from({ length: 1_200 }, (_, index) => index); await door.pass(); },
      taskResults: () => {},
    });
    const first = await world.start({ types: [tasks], lease: '5s', slots: 100 });
    const { id } = await first.createJobRun(tasks);
    await world.settle();
    expect(door.knocks).toBe(1);
    world.kill(first);
    await world.start({ types: [tasks], lease: '5s', slots: 100 });
    expect((await world.store.find({ kinds: ['task'] })).jobs).toEqual([]);
    door.open();
    await world.advance('15s');
    expect((await world.engine.stats(id)).tasksTotal).toBe(1_200);
    expect((await world.store.count({ kinds: ['task'] })).reduce((sum, { count }) => sum + count, 0)).toBe(1_200);
  });

  test('5.21 an instance may die after any write of its start: no definition is half made', async ({ worlds }) => {
    const def = jobDef('def', quick, everyTenSeconds);
    const resume = async (world: SeedWorld, dies: number): Promise<number> => {
      const engine = await world.add({ defs: [def], lease: '3s' });
      const { writes, killed } = killAfter(world, engine, ['reserveIds', 'commit', 'claim', 'beat', 'lead'], dies);
      await world.passing(Promise.race([engine.resume(), killed]));
      await world.settle();
      return writes();
    };
    const writes = await worlds.within((world) => resume(world, Infinity));
    expect(writes).toBeGreaterThan(3);
    const found = new Set<string>();
    for (let dies = 1; dies <= writes; dies += writesPerDeath) {
      await worlds.within(async (world) => {
        await resume(world, dies);
        found.add((await world.store.find({ kinds: ['def'] })).jobs.map(scheduledState).join());
        const survivor = await world.start({ defs: [def], lease: '3s' });
        await world.advance('11s');
        expect((await survivor.find({ kinds: ['def'] })).jobs.map(scheduledState)).toEqual(['pending']);
        expect([dies, await ticks(survivor, 'def')]).toEqual([dies, ['10 run']]);
      });
    }
    expect(found).toEqual(new Set(['', 'pending']));
  });

  test('5.22 a definition that several instances create at once exists once, and so do its runs', async ({ world }) => {
    const def = jobDef('def', quick, everyTenSeconds);
    const engines = [];
    for (let count = 0; count < 5; count += 1) engines.push(await world.add({ defs: [def] }));
    await world.passing(Promise.all(engines.map((engine) => engine.resume())));
    await world.advance('25s');
    expect((await engines[0]!.definitions()).map(({ name }) => name)).toEqual(['def']);
    expect((await world.store.find({ kinds: ['def'] })).jobs).toHaveLength(1);
    expect(await world.runs(def)).toHaveLength(2);
  });

  test('5.23 an instance that finds a due job claims it at the time when it is due', async ({ world }) => {
    await world.start({ types: [held] });
    const run = await world.createJobRun(held, { delay: '22s' });
    await world.advance('21s');
    expect(kindsOf(await run.events())).toEqual(['created']);
    await world.advance('1s');
    expect((await run.events())[1]).toMatchObject({ kind: 'claimed', at: newYear + 22 * second });
  });

  test('5.24 an execution is locked, marked as starting, called, and marked by what it returned', async ({ world }) => {
    const seen: unknown[] = [];
    const look = async ({ run }: { readonly run: { readonly id: number } }): Promise<void> => {
      const [job] = await world.store.load([run.id]);
      seen.push([scheduledState(job!), lockOf(job!).owner]);
    };
    const phased = jobType('phased', {
      taskDetails: async (context) => { await look(context); return [1]; }, taskResults: look, jobResults: look,
    });
    const outcomes = jobType('outcomes', {
      input: typed<string>(),
      retry: { attempts: 1 },
      run: ({ input, handOff }) => {
        if (input === 'failed') throw new Error('no');
        return input === 'running' ? handOff() : input;
      },
    });
    await world.start({ types: [phased, outcomes] });
    await world.createJobRun(phased);
    const inputs = ['completed', 'failed', 'running'].map((input) => ({ input }));
    const runs = await world.engine.createJobRuns(outcomes, inputs);
    await world.settle();
    expect(seen).toEqual([['starting', 'a'], ['started', null], ['started', 'a']]);
    expect(await Promise.all(runs.map(async (run) => scheduledState(await run.get())))).toEqual([
      'completed', 'failed', 'started',
    ]);
  });

  test('5.25 a failed execution is retried, and the next run of its definition is planned', async ({ world }) => {
    const flaky = jobType('flaky', {
      retry: { base: '1s' }, run: ({ run }) => { if (run.attempt < 2) throw new Error('not yet'); },
    });
    const def = jobDef('def', flaky, everyTenSeconds);
    await world.start({ defs: [def] });
    await world.advance('25s');
    expect((await world.runs(def)).map((run) => [run.attempt, scheduledState(run)])).toEqual([
      [2, 'completed'], [2, 'completed'],
    ]);
    expect((await world.engine.definition('def')).nextDue).toBe(newYear + 30 * second);
  });

  test('5.26 a handler is called under the lock of its instance, and its outcome needs it', async ({ world }) => {
    const door = new Door();
    const seen: unknown[] = [];
    const type = jobType('locked', {
      run: async ({ run, fence }) => {
        const [job] = await world.store.load([run.id]);
        seen.push([lockOf(job!).owner, job!.fence === fence]);
        await door.pass();
        return fence;
      },
    });
    const engine = await world.start({ types: [type] });
    const run = await engine.createJobRun(type);
    await world.settle();
    expect(seen).toEqual([['a', true]]);
    // The lock is released and another holder gets it: the outcome of the first handler comes too late.
    await engine.suspend();
    await engine.jobs.release(run.id, (await run.get()).fence, { by: 'ann' });
    const [taken] = await engine.jobs.claim({
      holder: 'bob', leaseMs: 60 * second, kinds: ['run'], names: { exact: ['locked'] }, limit: 1,
    });
    door.open();
    await world.advance('1s');
    expect([lockOf(await run.get()).owner, (await run.get()).fence]).toEqual(['bob', taken!.fence]);
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'released', 'claimed']);
  });

  test('5.27 of several instances that claim the same job one gets it, the others nothing', async ({ world }) => {
    const clients = [await world.add(), await world.add(), await world.add()];
    await clients[0]!.createJobRun(held);
    const claim = ({ jobs }: Engine, index: number) => jobs.claim({ ...claimHeld, holder: `h${index}` });
    const claims = await Promise.all(clients.map(claim));
    expect(claims.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
  });

  test('5.28 instances that lose the race for a lock log nothing, and the work is done once', async ({ world }) => {
    const logged: string[] = [];
    const log = (text: string): void => void logged.push(text);
    const logger: Logger = { info: () => {}, warn: log, error: log };
    let count = 0;
    const counted = jobType('counted', { run: () => { count += 1; } });
    const defs = Array.from({ length: 5 }, (_, index) => jobDef(`def ${index}`, counted, everyTenSeconds));
    let emptyClaims = 0;
    for (let instances = 0; instances < 4; instances += 1) {
      const engine = await world.start({ defs, logger });
      world.afterEachCall(engine, (method, answer) => {
        if (method === 'claim' && (answer as unknown[]).length === 0) emptyClaims += 1;
        if (method === 'commit' && (answer as boolean[]).includes(false)) emptyClaims += 1;
      });
    }
    await world.advance('35s');
    expect([count, logged]).toEqual([15, []]);
    expect(emptyClaims).toBeGreaterThan(0);
  });

  test('5.29 the end of an execution is stored once, and the next run is planned', async ({ world }) => {
    const tokens: string[] = [];
    const outside = jobType('outside', {
      run: ({ handOff }) => { const given = handOff(); tokens.push(given.token); return given; },
    });
    const def = jobDef('def', outside, everyTenSeconds);
    const engine = await world.start({ defs: [def] });
    await world.advance('10s');
    const complete = () => engine.complete(tokens[0]!, 'finished');
    const ends = await Promise.allSettled([complete(), complete()]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await refused(engine.complete(tokens[0]!, 'twice'))).toBe('lost.lease');
    expect(await world.runs(def)).toMatchObject([{ fate: 'succeeded', result: '"finished"' }]);
    expect((await engine.definition('def')).nextDue).toBe(newYear + 20 * second);
  });

  test('5.30 a disabled definition stays disabled, whatever ends or starts in the meantime', async ({ world }) => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const def = jobDef('def', slow, everyTenSeconds);
    const first = await world.start({ defs: [def] });
    await world.advance('10s');
    await first.disable('def', { by: 'ann', why: 'no more' });
    door.open();
    await world.advance('15s');
    world.kill(first);
    const other = await world.start({ defs: [def] });
    await world.advance('15s');
    expect((await world.runs(def)).map(scheduledState)).toEqual(['completed']);
    const { isEnabled, job } = await other.definition('def');
    expect(isEnabled).toBe(false);
    expect((await other.history(job.id)).at(-1)).toMatchObject({ kind: 'paused', by: 'ann', why: 'no more' });
  });
});

/** The states in which each transition is allowed. */
const allowed: Readonly<Record<CommandName, readonly State[]>> = {
  claim: ['pending'],
  succeed: ['running'],
  fail: ['running'],
  release: ['running'],
  sleep: ['running'],
  answer: ['pending', 'held', 'running'],
  unanswer: ['running'],
  again: ['running'],
  handOff: ['running'],
  plan: ['running'],
  lapse: ['running'],
  adopt: ['running', 'held'],
  reclaim: [],
  expire: [],
  settle: ['held'],
  free: ['held'],
  follow: ['pending', 'held', 'running', 'ended'],
  proceed: [],
  await: [],
  pause: ['pending'],
  resume: ['held'],
  cancel: ['pending', 'held', 'running'],
  stop: ['pending', 'held', 'running'],
  retry: ['ended'],
  requeue: ['pending', 'held', 'running', 'ended'],
  edit: ['pending', 'held', 'running', 'ended'],
};

const options = { holder: 'ann', until: null, code: 'user', retryable: true, due: 0, tasks: 1, reopens: 0, edit: {} };
/** Without a fence: a wrong fence would be refused first. */
const commandOf = (name: CommandName): Command =>
  ({ do: name, ...options, error: { code: 'unknown', message: '' } }) as unknown as Command;
