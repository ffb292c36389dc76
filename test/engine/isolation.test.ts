// Handlers in threads and processes of their own: what comes back, how they end, and that the engine lives on.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { HandedOff } from '../../src/engine/handler/context.ts';
import {
  HandlerCrashed, Isolation, MissingOutput, type IsolationOptions,
} from '../../src/engine/isolation/isolation.ts';
import { Cancelled, Fail, Interrupted, LeaseLost, RateLimited, RetryAfter, TimedOut } from '../../src/engine/handler/errors.ts';
import { Refusal } from '../../src/refusal.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { bySize } from '../support/size.ts';
import { callOf, deaf, Ears, fixture } from './isolated-calls.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function open(options: IsolationOptions = {}): Isolation {
  const isolation = new Isolation(options);
  closing.push(() => isolation.close());
  return isolation;
}

const thrownBy = (result: Promise<unknown>): Promise<unknown> =>
  result.then(() => 'nothing', (error: unknown) => error);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has exited and was not collected yet still has its pid.
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

const untilDead = (pid: number): Promise<void> =>
  expect.poll(() => isAlive(pid), { interval: 20 }).toBe(false);

/** Both speak one protocol: in npm test threads, and what only processes can do; in the proof both. */
const modes = bySize<readonly ('thread' | 'process')[]>({ small: ['thread'], ci: ['thread', 'process'] });

describe.each(modes)('in a %s of its own', (mode) => {
  // For calls that do not mind who was there before them.
  const shared = new Isolation();
  afterAll(() => shared.close());

  const run = (isolation: Isolation, ...given: Parameters<typeof callOf>): Promise<unknown> =>
    isolation.run(mode, callOf(...given), deaf()).result;

  describe('what comes back', () => {
    test('the value of the handler is the result', async () => {
      const input = { list: [1, 'two', null], nested: { deep: true } };
      expect(await run(shared, 'echo', { input })).toEqual(input);
    });

    test('a handler that returns nothing gives null', async () => {
      expect(await run(shared, 'nothing')).toBeNull();
    });

    test('what a schema made of the input arrives as it is', async () => {
      const input = { at: new Date(7), sizes: new Map([['a', 1]]) };
      expect(await run(shared, 'clone', { input })).toEqual([7, 1]);
    });

    test('the handler knows its run, its key and its fence', async () => {
      expect(await run(shared, 'facts')).toMatchObject({
        run: { id: 12, type: 'facts', def: null, attempt: 2, tags: { tenant: 'a' } },
        idempotencyKey: '12.1',
        fence: 5,
        due: 1_000,
      });
    });

    test('a task is given what its run shares, and itself', async () => {
      const data = { input: 'of the run', details: { shared: 1 }, task: { id: 2 }, key: 'two' };
      expect(await run(shared, 'tasks', { phase: 'taskResults', data })).toEqual(data);
    });

    test('a job that is handed off says so, with its token', async () => {
      const handed = await run(shared, 'hands-off');
      expect(handed).toBeInstanceOf(HandedOff);
      expect(handed).toEqual(new HandedOff('12.5.00', 300_000));
    });

    test('the engine can choose the token', async () => {
      const { facts } = callOf('hands-off');
      const handed = await run(shared, 'hands-off', { facts: { ...facts, token: 'secret' } });
      expect(handed).toMatchObject({ token: 'secret' });
    });

    test('a type is found in arrays, objects and the default export', async () => {
      const module = fixture('isolated-nested');
      for (const name of ['in-a-list', 'in-an-object', 'by-default']) {
        expect(await run(shared, name, { module })).toBe(name);
      }
      expect(await thrownBy(run(shared, 'too-deep', { module }))).toMatchObject({ code: 'unknown.type' });
    });

    test('eight calls at once each get their own answer', async () => {
      const inputs = Array.from({ length: 8 }, (_, index) => index);
      expect(await Promise.all(inputs.map((input) => run(shared, 'echo', { input })))).toEqual(inputs);
    });
  });

  test('a handler spends of the limits that its job uses, and of no others', async () => {
    const ears = new Ears();
    const facts = { ...callOf('spends').facts, limitNames: ['api'] };
    await shared.run(mode, callOf('spends', { facts, input: { limit: 'api', cost: 2.5 } }), ears).result;
    expect(ears.spent).toEqual([['api', 2.5]]);
    for (const [input, code] of [
      [{ limit: 'other', cost: 1 }, 'limit.unknown'], [{ limit: 'api', cost: 0 }, 'limit.cost'],
    ] as const) {
      expect(await thrownBy(shared.run(mode, callOf('spends', { facts, input }), ears).result)).toMatchObject({ code });
    }
    expect(ears.spent).toHaveLength(1);
  });

  describe('errors keep their meaning', () => {
    const thrown = (input: string): Promise<unknown> => thrownBy(run(shared, 'throws', { input }));

    test('Fail comes with its data, its cause and the stack of the handler', async () => {
      const error = await thrown('fail');
      expect(error).toBeInstanceOf(Fail);
      expect(error).toMatchObject({ name: 'Fail', message: 'no such customer', data: { id: 7 } });
      expect(error).toMatchObject({ cause: { message: 'from below' } });
      expect((error as Error).stack).toContain('isolated-types.ts');
    });

    test('RetryAfter comes with its time', async () => {
      const error = await thrown('retry');
      expect(error).toBeInstanceOf(RetryAfter);
      expect(error).toMatchObject({ message: 'busy', afterMs: 90_000 });
    });

    test('RateLimited comes with its limit and its time', async () => {
      const error = await thrown('limited');
      expect(error).toBeInstanceOf(RateLimited);
      expect(error).toMatchObject({ limit: 'api', afterMs: 90_000 });
    });

    test('an error of a class of its own keeps the name of the class and what hangs on it', async () => {
      expect(await thrown('own')).toMatchObject({ name: 'OutOfPaper', message: 'tray is empty', tray: 2 });
    });

    test('nothing at all can be thrown', async () => {
      expect(await thrown('nothing')).toMatchObject({ message: 'the handler threw undefined instead of an error' });
    });

    test.each(['cyclic', 'bigint'])('a result that is %s fails the call with a sentence', async (input) => {
      const error = await thrownBy(run(shared, 'returns', { input }));
      expect(error).toBeInstanceOf(MissingOutput);
      expect((error as Error).message).toMatch(/^cannot keep this as JSON: .+/);
    });
  });

  describe('a call that cannot start', () => {
    test('is refused when there is no such module', async () => {
      const error = await thrownBy(run(shared, 'echo', { module: fixture('isolated-absent') }));
      expect(error).toBeInstanceOf(Refusal);
      const message: unknown = expect.stringMatching(/^module .+isolated-absent.+ does not exist$/);
      expect(error).toMatchObject({ code: 'unknown.type', message });
    });

    test('is refused when the module exports no such type', async () => {
      const error = await thrownBy(run(shared, 'ehco'));
      expect(error).toBeInstanceOf(Refusal);
      const message: unknown = expect.stringMatching(/ exports no job type ehco: export it there$/);
      expect(error).toMatchObject({ code: 'unknown.type', message });
    });

    test('is refused when the type has no such phase', async () => {
      expect(await thrownBy(run(shared, 'echo', { phase: 'taskResults' }))).toMatchObject({ code: 'unknown.type' });
    });

    test('fails if the module fails to load', async () => {
      const broken = await thrownBy(run(shared, 'echo', { module: fixture('isolated-broken') }));
      expect(broken).toBeInstanceOf(HandlerCrashed);
      const message = 'could not start: Error: broken from the start';
      expect(broken).toMatchObject({ code: 'could not start', message });
      const lacking = await thrownBy(run(shared, 'echo', { module: fixture('isolated-lacking') }));
      expect(lacking).toMatchObject({ code: 'could not start', message: expect.stringContaining('not-there.ts') });
    });

    test('is given up when the module never comes to an end', async () => {
      const error = await thrownBy(run(open({ startTimeoutMs: 200 }), 'echo', { module: fixture('isolated-hung') }));
      expect(error).toBeInstanceOf(HandlerCrashed);
      expect(error).toMatchObject({ code: 'could not start', message: `could not start: the ${mode} did not respond within 200ms` });
    });

    test('fails if its data cannot be cloned', async () => {
      const error = await thrownBy(run(shared, 'echo', { input: () => {} }));
      expect(error).toMatchObject({ code: 'could not start', message: expect.stringContaining('cannot be cloned') });
    });

    test('is refused within an isolated handler, so that no module starts children without end', async () => {
      const told = await run(shared, 'nested', { module: fixture('isolated-engine') });
      expect(told).toMatch(/^cannot isolate within an isolated handler/);
    });
  });

  describe('a handler that behaves badly', () => {
    test('is ended by force out of an endless loop', async () => {
      const ears = new Ears();
      const { result, kill } = open().run(mode, callOf('loops'), ears);
      await ears.until(({ log }) => log.includes('info: loops'));
      await kill();
      const error = await thrownBy(result);
      expect(error).toBeInstanceOf(HandlerCrashed);
      expect(error).toMatchObject({ code: 'crashed', message: `the ${mode} of the handler was killed by the engine` });
    });

    test('is ended by force while it starts', async () => {
      const { result, kill } = open().run(mode, callOf('echo', { module: fixture('isolated-hung') }), deaf());
      await kill();
      expect(await thrownBy(result)).toBeInstanceOf(HandlerCrashed);
    });

    test('is not ended by a signal that it ignores, but by force', async () => {
      const ears = new Ears();
      const { result, kill } = open().run(mode, callOf('ignores'), ears);
      await ears.until(({ log }) => log.includes('info: waits'));
      ears.abort.abort(new Cancelled('please'));
      await ears.until(({ log }) => log.includes('warn: who cares'));
      await kill();
      expect(await thrownBy(result)).toBeInstanceOf(HandlerCrashed);
    });

    test('that exits crashes only its own call', async () => {
      const isolation = open();
      const others = run(isolation, 'echo', { input: 1 });
      const error = await thrownBy(run(isolation, 'exits'));
      expect(error).toBeInstanceOf(HandlerCrashed);
      const message = `the ${mode} of the handler exited with code 3`;
      expect(error).toMatchObject({ message, exitCode: 3, signal: null });
      expect(await others).toBe(1);
    });

    test('that leaves a rejection unhandled crashes its call', async () => {
      const error = await thrownBy(run(open(), 'rejects'));
      expect(error).toBeInstanceOf(HandlerCrashed);
      expect(error).toMatchObject({
        message: `the ${mode} of the handler ended with an uncaught error: TypeError: nobody cares`,
        cause: { name: 'TypeError', message: 'nobody cares' },
      });
    });

    test('that throws late crashes its call', async () => {
      const error = await thrownBy(run(open(), 'throws-late'));
      expect(error).toBeInstanceOf(HandlerCrashed);
      expect(error).toMatchObject({ cause: { message: 'too late' } });
    });

    test('that keeps its child from ending is ended', async () => {
      const error = await thrownBy(run(open(), 'exits-loudly'));
      expect(error).toMatchObject({ name: 'HandlerCrashed', cause: { message: 'nobody cares' } });
    });

    test('that throws after its end harms no call', async () => {
      const isolation = open();
      const first = await run(isolation, 'throws-idle');
      await expect.poll(() => run(isolation, 'where')).not.toBe(first);
    });

    test('that keeps its child busy after its end harms no call', async () => {
      const clock = new VirtualClock(0);
      const isolation = open({ clock });
      const first = await run(isolation, 'loops-idle');
      const next = run(isolation, 'where');
      await clock.advance(30_000);
      expect(await next).not.toBe(first);
    });

    test('runs out of its own memory, not the engine’s', async () => {
      const error = await thrownBy(run(open({ memoryMb: 64 }), 'eats'));
      expect(error).toBeInstanceOf(HandlerCrashed);
      expect((error as Error).message).toMatch(/memory/);
    });

    test('is blocked when it reports faster than the engine reads', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'stint-flood-'));
      const file = openSync(join(folder, 'count'), 'w+');
      closing.push(() => closeSync(file), () => rmSync(folder, { recursive: true }));
      const path = join(folder, 'count');
      const ears = new Ears();
      const { kill } = open().run(mode, callOf('floods', { input: { path } }), ears);
      await ears.until(({ log }) => log.length > 1000);
      // The event loop of the engine is blocked, and reads nothing.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      const count = Buffer.alloc(8);
      readSync(file, count, 0, 8, 0);
      expect(Number(count.readBigUInt64LE()) - ears.log.length).toBeLessThan(2_000);
      await kill();
    });

    test('that closes its console has a result, and its child is not used again', async () => {
      const isolation = open();
      expect(await run(isolation, 'closes-console')).toBe('silent');
      expect(await run(isolation, 'echo', { input: 1 })).toBe(1);
    });
  });

  describe('an abort', () => {
    const abortedWith = async (type: string, reason: Error): Promise<unknown> => {
      const ears = new Ears();
      const { result } = shared.run(mode, callOf(type), ears);
      await ears.until(({ log }) => log.includes('info: waits'));
      ears.abort.abort(reason);
      return result;
    };

    test.each([
      new Cancelled('by a user'), new TimedOut('too slow'), new LeaseLost('taken over'), new Interrupted('closing'),
    ])('reaches the handler as $name, and stops its progress', async (reason) => {
      const { name, message } = reason;
      expect(await abortedWith('tells-abort', reason)).toEqual({ name, message, isCancelled: true, isOfItsClass: true });
    });

    test('lets the handler end with its reason', async () => {
      const error = await thrownBy(abortedWith('gives-up', new Cancelled('by a user')));
      expect(error).toBeInstanceOf(Cancelled);
      expect(error).toMatchObject({ message: 'by a user' });
    });

    test('that came before the start is there from the start', async () => {
      const ears = new Ears();
      ears.abort.abort(new Cancelled('never mind'));
      expect(await shared.run(mode, callOf('tells-abort'), ears).result).toMatchObject({ message: 'never mind' });
    });
  });

  describe('what a handler tells', () => {
    test('progress arrives now and then, and the last of it without fail', async () => {
      const ears = new Ears();
      await shared.run(mode, callOf('tracks'), ears).result;
      expect(ears.progress.length).toBeLessThan(500);
      const [work] = ears.progress.at(-1)!.processes;
      expect(work).toMatchObject({ status: 'SUCCESS', description: 'all', summary: 'counted' });
      expect(work!.stages).toMatchObject([{ description: 'count', total: 5000, done: 5000 }]);
    });

    test.each(['returns', 'starts another stage'])('a failed item that aborts the work fails a handler that %s', async (then) => {
      const ears = new Ears();
      const error = await thrownBy(shared.run(mode, callOf('fails-an-item', { input: then }), ears).result);
      expect(error).toMatchObject({ message: 'the item is broken', code: 'EITEM' });
      expect(ears.progress.at(-1)!.processes).toMatchObject([{ status: 'ERROR' }]);
    });

    test('progress of a handler that never lets go of its thread arrives while it works', async () => {
      const ears = new Ears();
      const { kill } = shared.run(mode, callOf('tracks-busily'), ears);
      await ears.until(({ progress }) => progress.length >= 3);
      await kill();
    });

    test('the log arrives in its order and with its levels', async () => {
      const ears = new Ears();
      await shared.run(mode, callOf('tracks'), ears).result;
      expect(ears.log).toEqual(['debug: one', 'warn: two']);
    });

    test('what it prints is in the log before the result is there, each time', async () => {
      for (let time = 0; time < 3; time++) {
        const ears = new Ears();
        await shared.run(mode, callOf('prints'), ears).result;
        expect(ears.log.toSorted()).toEqual([
          'error: to stderr',
          'info: lines, the last without an end',
          'info: logged',
          'info: to stdout',
          'info: two',
        ]);
      }
    });
  });

  describe('a child', () => {
    test('is used again for its module after a normal return', async () => {
      const isolation = open();
      const first = await run(isolation, 'where');
      await run(isolation, 'echo');
      expect(await run(isolation, 'where')).toBe(first);
    });

    test('is not used again after an error', async () => {
      const isolation = open();
      const first = await run(isolation, 'where');
      await thrownBy(run(isolation, 'throws', { input: 'fail' }));
      expect(await run(isolation, 'where')).not.toBe(first);
    });

    test('is not used by another module', async () => {
      const isolation = open();
      const first = await run(isolation, 'where');
      await run(isolation, 'by-default', { module: fixture('isolated-nested') });
      expect(await run(isolation, 'where')).toBe(first);
    });

    test('stays idle only up to the given number', async () => {
      const isolation = open({ idleMax: 1 });
      const both = await Promise.all([run(isolation, 'where'), run(isolation, 'where')]);
      const again = await Promise.all([run(isolation, 'where'), run(isolation, 'where')]);
      expect(new Set([...both, ...again]).size).toBe(3);
    });

    test('is not ended by a kill that comes after the result', async () => {
      const isolation = open();
      const { result, kill } = isolation.run(mode, callOf('where'), deaf());
      const first = await result;
      await kill();
      expect(await run(isolation, 'where')).toBe(first);
    });

    test.each([
      ['does not keep the engine’s process alive while it waits', []],
      ['keeps it until it is gone when the isolation closes', ['close']],
    ])('%s', async (_title, close) => {
      const engine = startEngine(mode, 'where', ...close);
      const [code] = await once(engine, 'exit');
      expect(code).toBe(0);
    });

    test('at work is ended when the isolation closes, and no other starts', async () => {
      const isolation = new Isolation();
      const ears = new Ears();
      const { result } = isolation.run(mode, callOf('loops'), ears);
      await run(isolation, 'echo');
      await ears.until(({ log }) => log.includes('info: loops'));
      await isolation.close();
      expect(await thrownBy(result)).toBeInstanceOf(HandlerCrashed);
      const late = await thrownBy(run(isolation, 'echo'));
      expect(late).toMatchObject({ message: 'could not start: the engine is closed' });
    });
  });
});

describe('a process of its own', () => {
  test('ends itself when the engine is gone', async () => {
    const isolation = open({ idleMs: 1 });
    const [pid] = String(await isolation.run('process', callOf('where'), deaf()).result).split('.');
    await untilDead(Number(pid));
    expect(await isolation.run('process', callOf('echo', { input: 1 }), deaf()).result).toBe(1);
  });

  test.skipIf(process.platform === 'win32')('takes along what it started when it is ended', async () => {
    const ears = new Ears();
    const { kill } = open().run('process', callOf('spawns'), ears);
    await ears.until(({ log }) => log.length > 0);
    const pid = Number(/\d+/.exec(ears.log[0]!)![0]);
    expect(isAlive(pid)).toBe(true);
    await kill();
    await untilDead(pid);
  });

  test('gets the flags of the engine’s process without the script of its command line', async () => {
    const script = `await import(${JSON.stringify(fixture('isolated-parent'))})`;
    const flags = ['--input-type', 'module', '--test-reporter', 'dot', '--title', 'engine', '--eval', script];
    const engine = spawn(process.execPath, [...flags, 'parent', 'process', 'flags', 'close'], { stdio: ['ignore', 'pipe', 'inherit'] });
    closing.push(() => engine.kill('SIGKILL'));
    const [text] = (await once(engine.stdout.setEncoding('utf8'), 'data')) as [string];
    expect(text.trim()).toBe('--title engine');
  });

  test('ends when the engine’s process is killed, even out of an endless loop', async () => {
    const engine = startEngine('process', 'loops-and-tells');
    const [text] = (await once(engine.stdout!.setEncoding('utf8'), 'data')) as [string];
    const pid = Number(text);
    expect(isAlive(pid)).toBe(true);
    engine.kill('SIGKILL');
    await untilDead(pid);
  });
});

function startEngine(...words: string[]): ChildProcess {
  const engine = spawn(process.execPath, [fileURLToPath(fixture('isolated-parent')), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing.push(() => engine.kill('SIGKILL'));
  return engine;
}
