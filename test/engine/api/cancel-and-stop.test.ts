// Cancel asks a run to stop, stop ends it: when handlers are notified, and which state is left.
import { describe, expect, test } from 'vitest';
import { Cancelled, jobDef, jobType, RunCancelled, runState, runStatus, typed } from '../../../src/index.ts';
import * as isolated from '../fixtures/isolated-types.ts';
import { Cluster } from './cluster.ts';
import { Door, forever, kindsOf, newYear, refused, second, start, thrown, untilTold } from './kit.ts';

const held = jobType('held', { run: ({ signal }) => untilTold(signal) });

describe('cancel', () => {
  test('ends a waiting run immediately, and the handle knows the actor and the reason', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held, { delay: '1h' });
    const job = await run.cancel({ by: 'ann', why: 'not needed', code: 'admin' });
    expect(job).toMatchObject({
      state: 'ended', fate: 'cancelled', cancel: { by: 'ann', why: 'not needed', code: 'admin' },
    });
    const error = (await thrown(run.result())) as RunCancelled;
    expect(error).toBeInstanceOf(RunCancelled);
    expect(error.message).toBe(`run ${run.id} was cancelled: not needed`);
  });

  test('is durable and acknowledged before the handler is notified', async () => {
    const door = new Door();
    const deaf = jobType('deaf', { run: () => door.pass() });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf);
    await t.drain();
    expect(runState(await run.cancel({ by: 'ann' }))).toBe('CANCELLING');
    t.crash();
    await t.restart();
    expect(runState(await run.get())).toBe('CANCELLING');
    await t.advance('30s');
    expect(runState(await run.get())).toBe('CANCELLED');
  });

  test('reaches the handler as a signal whose reason says what it is', async () => {
    let reason: unknown;
    const polite = jobType('polite', {
      run: async ({ signal }) => { try { await untilTold(signal); } catch (error) { reason = error; throw error; } },
    });
    const t = await start({ types: [polite] });
    const run = await t.createJobRun(polite);
    await t.drain();
    await run.cancel({ why: 'closing time' });
    await t.drain();
    expect(reason).toBeInstanceOf(Cancelled);
    expect((reason as Error).message).toBe('closing time');
    expect(runState(await run.get())).toBe('CANCELLED');
  });

  test('reaches a handler on another instance within a second', async () => {
    const told: number[] = [];
    const polite = jobType('polite', {
      run: async ({ signal }) => untilTold(signal).finally(() => told.push(cluster.clock.now() - newYear)),
    });
    const cluster = new Cluster();
    await cluster.join({ types: [polite] });
    const other = cluster.add();
    const run = await other.createJobRun(polite);
    await cluster.advance('10s');
    await other.cancelJobRun(run.id);
    await cluster.advance('1s');
    expect(told).toHaveLength(1);
    expect(told[0]).toBeLessThanOrEqual(11 * second);
    expect((await other.snapshot(run.id)).job).toMatchObject({ fate: 'cancelled' });
  });

  test('stops a stage at the next item, for a handler that ignores its signal', async () => {
    const done: number[] = [];
    const careful = jobType('careful', {
      run: async ({ progress }) => {
        await progress.runStage([1, 2, 3, 4], String, async (item) => {
          await t.clock.sleep(10 * second);
          done.push(item);
        });
      },
    });
    const t = await start({ types: [careful] });
    const run = await t.createJobRun(careful);
    await t.advance('15s');
    await run.cancel();
    await t.advance('1m');
    expect(done).toEqual([1, 2]);
    expect(runState(await run.get())).toBe('CANCELLED');
  });

  test('of a run whose handler succeeds anyway records a late outcome, and changes nothing', async () => {
    const door = new Door();
    const deaf = jobType('deaf', { run: async () => { await door.pass(); return 'done'; } });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf);
    await t.drain();
    await run.cancel();
    door.open();
    await t.drain();
    expect(await run.get()).toMatchObject({ fate: 'cancelled', result: null });
    expect((await run.events()).at(-1)).toMatchObject({ kind: 'cancelled', late: 'succeeded' });
    expect(runStatus(await run.get())).toBe('STOPPED');
  });

  test('comes too late for what has ended', async () => {
    const quick = jobType('quick', { run: () => 'done' });
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(quick);
    await t.drain();
    expect(await refused(run.cancel())).toBe('wrong.state');
    expect(await run.result()).toBe('done');
  });

  test('asked twice is asked once', async () => {
    const deaf = jobType('deaf', { run: () => forever() });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf);
    await t.drain();
    await run.cancel({ by: 'ann' });
    await run.cancel({ by: 'bob' });
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'cancelAsked']);
    expect((await run.get()).cancel?.by).toBe('ann');
  });

  test('with a grace stops a handler that does not end in time', async () => {
    const door = new Door();
    const deaf = jobType('deaf', { run: () => door.pass() });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf);
    await t.drain();
    await run.cancel({ grace: '10s', by: 'ann' });
    await t.advance('9s');
    expect(runState(await run.get())).toBe('CANCELLING');
    await t.advance('2s');
    expect(await run.get()).toMatchObject({ state: 'ended', fate: 'cancelled' });
    door.open();
    await t.drain();
    expect(kindsOf(await run.events()).slice(-1)).toEqual(['cancelled']);
  });

  test('is not answered with another try', async () => {
    const stubborn = jobType('stubborn', {
      run: ({ signal }) => untilTold(signal).catch(() => { throw new Error('no'); }),
    });
    const t = await start({ types: [stubborn] });
    const run = await t.createJobRun(stubborn);
    await t.drain();
    await run.cancel();
    await t.advance('1m');
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'cancelAsked', 'cancelled']);
  });

  test('ends a run between two tries', async () => {
    const flaky = jobType('flaky', { retry: { base: '10m' }, run: () => { throw new Error('no'); } });
    const t = await start({ types: [flaky] });
    const run = await t.createJobRun(flaky);
    await t.drain();
    await run.cancel();
    expect(runState(await run.get())).toBe('CANCELLED');
  });
});

describe('stop', () => {
  test('of what waits says that nothing was running', async () => {
    const t = await start({ types: [held] });
    const run = await t.createJobRun(held, { delay: '1h' });
    expect(await run.stop()).toMatchObject({ how: 'idle', job: { fate: 'cancelled' } });
  });

  test('of a run whose tasks all wait says that nothing was running', async () => {
    const later = jobType('later', {
      retry: { base: '10m' },
      taskDetails: () => [1],
      taskResults: () => { throw new Error('no'); },
    });
    const t = await start({ types: [later] });
    const run = await t.createJobRun(later);
    await t.drain();
    expect(await run.stop()).toMatchObject({ how: 'idle' });
  });

  test('of a handler that is not isolated aborts its signal, and it can change nothing any more', async () => {
    const door = new Door();
    let reason = '';
    const deaf = jobType('deaf', {
      input: typed<string>(),
      run: async ({ signal, log, progress }) => {
        signal.addEventListener('abort', () => (reason = (signal.reason as Error).name));
        await door.pass();
        log.info('still here');
        progress.startingProcess('still at it');
        return 'too late';
      },
    });
    const t = await start({ types: [deaf] });
    const run = await t.createJobRun(deaf, { input: 'x' });
    await t.drain();
    const answer = await run.stop({ by: 'ann', why: 'runs wild' });
    expect(answer).toMatchObject({ how: 'disowned', job: { state: 'ended', fate: 'cancelled' } });
    await t.drain();
    expect(reason).toBe('LeaseLost');
    door.open();
    await t.advance('5s');
    expect(await run.get()).toMatchObject({ fate: 'cancelled', result: null, cancel: { by: 'ann', why: 'runs wild' } });
    expect([await run.log(), (await t.engine.snapshot(run.id)).progress]).toEqual([[], null]);
  });

  test('gives the slot back at once', async () => {
    const deaf = jobType('deaf', { run: () => forever() });
    const t = await start({ types: [deaf], slots: 1 });
    const first = await t.createJobRun(deaf);
    const next = await t.createJobRun(deaf);
    await t.drain();
    await first.stop();
    await t.drain();
    expect((await next.get()).state).toBe('running');
  });

  test('of a run ends its tasks too', async () => {
    const many = jobType('many', { taskDetails: () => [1, 2, 3], taskResults: () => forever() });
    const t = await start({ types: [many], slots: 2 });
    const run = await t.createJobRun(many);
    await t.drain();
    expect(await run.stop()).toMatchObject({ how: 'disowned' });
    expect((await t.engine.stats(run.id)).tasksByState.CANCELLED).toBe(3);
  });

  test('of a handler in a thread of its own ends it for real, also out of an endless loop', async () => {
    const t = await start({ types: [isolated.loops] });
    const run = await t.createJobRun(isolated.loops);
    const linesLogged = async (): Promise<number> => {
      await t.advance('250ms');
      return (await run.log()).length;
    };
    await expect.poll(linesLogged).toBe(1);
    expect(await run.stop()).toMatchObject({ how: 'terminated', job: { fate: 'cancelled' } });
    await t.drain();
    expect(runState(await run.get())).toBe('CANCELLED');
  });

  test('of what has ended is refused', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(quick);
    await t.drain();
    expect(await refused(run.stop())).toBe('wrong.state');
  });
});

test('a caller that ends a run can name the actor', async () => {
  const def = jobDef('def', held);
  const t = await start({ defs: [def] });
  for (const code of ['user', 'admin', 'automation'] as const) {
    const run = await t.createJobRun(def, { delay: '1h' });
    await run.stop({ code });
    expect((await t.engine.stage(run.id)).done).toMatchObject({ fate: 'terminate', reason: code });
  }
  const run = await t.createJobRun(def, { delay: '1h' });
  expect(await refused(run.cancel({ code: 'nobody' as never }))).toBe('malformed.option');
});
