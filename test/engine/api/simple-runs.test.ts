// Runs of one handler: their results, failures, retries and options.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  attemptsOf, Fail, jobDef, jobType, type Logger, RetryAfter, RunCancelled, RunFailed, runState, Snooze, typed,
} from '../../../src/index.ts';
import { Door, forever, kindsOf, minute, newYear, refusal, refused, second, start, thrown, untilTold } from './kit.ts';

describe('a result', () => {
  test('is what the handler returns, as JSON keeps it', async () => {
    const shapes = jobType('shapes', { run: () => ({ list: [1, 'two', null], at: new Date(0), left: undefined }) });
    const t = await start({ types: [shapes] });
    const run = await t.createJobRun(shapes);
    await t.drain();
    expect(await run.result()).toEqual({ list: [1, 'two', null], at: '1970-01-01T00:00:00.000Z' });
  });

  test('of a handler that returns nothing is null', async () => {
    const silent = jobType('silent', { run: () => {} });
    const t = await start({ types: [silent] });
    const run = await t.createJobRun(silent);
    await t.drain();
    expect(await run.result()).toBeNull();
  });

  test('that JSON cannot keep fails the run as missing output, without another try', async () => {
    const big = jobType('big', { run: () => ({ count: 1n }) });
    const t = await start({ types: [big] });
    const run = await t.createJobRun(big);
    await t.drain();
    const error = await thrown(run.result());
    expect(error).toBeInstanceOf(RunFailed);
    expect((error as RunFailed).error).toMatchObject({ code: 'missing output' });
    expect(attemptsOf(await run.events())).toHaveLength(1);
  });

  test('is awaited up to the given timeout', async () => {
    const slow = jobType('slow', { run: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    const waiting = refused(run.result({ timeout: '30s' }));
    await t.advance('31s');
    expect(await waiting).toBe('too.late');
  });

  test('is there for everyone who has the id, also after a restart', async () => {
    const echo = jobType('echo', { input: typed<string>(), run: ({ input }) => input });
    const t = await start({ types: [echo] });
    const { id } = await t.createJobRun(echo, { input: 'again' });
    await t.drain();
    t.crash();
    await t.restart();
    expect(await t.engine.run<string>(id).result()).toBe('again');
  });
});

describe('a failure', () => {
  test('has the message, the code and the stack of the last attempt', async () => {
    const broken = jobType('broken', { retry: { attempts: 1 }, run: () => { throw new TypeError('no such field'); } });
    const t = await start({ types: [broken] });
    const run = await t.createJobRun(broken);
    await t.drain();
    const error = (await thrown(run.result())) as RunFailed;
    expect(error).toBeInstanceOf(RunFailed);
    expect(error.message).toBe(`run ${run.id} failed: no such field`);
    expect(error.id).toBe(run.id);
    expect(error.error).toMatchObject({
      code: 'unknown', message: 'no such field', stack: expect.stringContaining('TypeError'),
    });
  });

  test('is DONE in the words of seed 1, with the error in its newest attempt', async () => {
    const broken = jobType('broken', { retry: { attempts: 2, base: '1s' }, run: () => { throw new Error('no'); } });
    const t = await start({ types: [broken] });
    const run = await t.createJobRun(broken);
    await t.advance('10s');
    expect(runState(await run.get())).toBe('DONE');
    expect(attemptsOf(await run.events()).map(({ error }) => error?.message)).toEqual(['no', 'no']);
  });

  test('by Fail is final and keeps its data', async () => {
    const missing = jobType('missing', { run: () => { throw new Fail('no such customer', { data: { id: 7 } }); } });
    const t = await start({ types: [missing] });
    const run = await t.createJobRun(missing);
    await t.advance('1h');
    expect((await run.get()).error).toMatchObject({ message: 'no such customer', data: { id: 7 } });
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'failed']);
  });

  test('of a handler that throws no Error has a message, too', async () => {
    // oxlint-disable-next-line typescript/only-throw-error -- that is the point
    const odd = jobType('odd', { retry: { attempts: 1 }, run: () => { throw 'just words'; } });
    const t = await start({ types: [odd] });
    const run = await t.createJobRun(odd);
    await t.drain();
    expect((await run.get()).error?.message).toBe('string: just words');
  });
});

describe('another try', () => {
  test('is made up to three times by default', async () => {
    let tries = 0;
    const broken = jobType('broken', { run: () => { tries += 1; throw new Error('no'); } });
    const t = await start({ types: [broken] });
    const run = await t.createJobRun(broken);
    await t.advance('1h');
    expect(tries).toBe(3);
    expect(kindsOf(await run.events())).toEqual([
      'created', 'claimed', 'retried', 'claimed', 'retried', 'claimed', 'failed',
    ]);
  });

  test('waits longer each time, up to the maximum', async () => {
    const retry = { attempts: 5, backoff: 'exponential', base: '10s', max: '30s', jitter: 0 } as const;
    const starts: number[] = [];
    const broken = jobType('broken', { retry, run: () => { starts.push(t.clock.now()); throw new Error('no'); } });
    const t = await start({ types: [broken] });
    await t.createJobRun(broken);
    await t.advance('5m');
    const waits = starts.slice(1).map((time, index) => time - starts[index]!);
    expect(waits).toEqual([10, 20, 30, 30].map((seconds) => seconds * second));
  });

  test('knows how often it was tried, and has the same key each time under a rising fence', async () => {
    const seen: unknown[] = [];
    const flaky = jobType('flaky', {
      retry: { base: '1s' },
      run: ({ run, idempotencyKey, fence }) => {
        seen.push([run.attempt, idempotencyKey, fence]);
        if (run.attempt < 3) throw new Error('not yet');
        return 'done';
      },
    });
    const t = await start({ types: [flaky] });
    const run = await t.createJobRun(flaky);
    await t.advance('1m');
    expect(await run.result()).toBe('done');
    expect(seen).toEqual([[1, `${run.id}.1`, 1], [2, `${run.id}.1`, 2], [3, `${run.id}.1`, 3]]);
  });

  test('comes when RetryAfter says, and counts', async () => {
    const starts: number[] = [];
    const limited = jobType('limited', {
      retry: { attempts: 2 },
      run: () => { starts.push(t.clock.now() - newYear); throw new RetryAfter('42s', 'too many requests'); },
    });
    const t = await start({ types: [limited] });
    const run = await t.createJobRun(limited);
    await t.advance('10m');
    expect(starts).toEqual([0, 42 * second]);
    expect((await run.get()).error?.message).toBe('too many requests');
  });

  test('after a Snooze does not count, however often', async () => {
    let asked = 0;
    const patient = jobType('patient', {
      retry: { attempts: 1 },
      run: ({ run }) => { asked += 1; if (asked < 5) throw new Snooze('1h'); return run.attempt; },
    });
    const t = await start({ types: [patient] });
    const run = await t.createJobRun(patient);
    await t.advance('3h59m');
    expect((await run.get()).state).toBe('pending');
    await t.advance('2m');
    expect(await run.result()).toBe(1);
  });

  test('is made when a refusal of the engine itself stopped the handler', async () => {
    const alone = jobType('alone', { onePerType: true, run: ({ signal }) => untilTold(signal) });
    const caller = jobType('caller', {
      retry: { attempts: 3, base: '1m', jitter: 0 },
      run: async () => (await t.createJobRun(alone)).id,
    });
    const t = await start({ types: [alone, caller] });
    const first = await t.createJobRun(alone);
    await t.drain();
    const run = await t.createJobRun(caller);
    await t.drain();
    expect((await run.get()).state).toBe('pending');
    await first.cancel();
    await t.advance('2m');
    expect(await run.result()).toBeGreaterThan(run.id);
  });

  test('by hand opens a run again that has ended, as a new generation', async () => {
    let isMended = false;
    const flaky = jobType('flaky', {
      retry: { attempts: 1 },
      run: ({ idempotencyKey }) => { if (!isMended) throw new Error('no'); return idempotencyKey; },
    });
    const t = await start({ types: [flaky] });
    const run = await t.createJobRun(flaky);
    await t.drain();
    expect(await thrown(run.result())).toBeInstanceOf(RunFailed);
    isMended = true;
    await run.retry({ by: 'ann', why: 'mended' });
    await t.drain();
    expect(await run.result()).toBe(`${run.id}.2`);
    expect((await run.events()).find(({ kind }) => kind === 'reopened')).toMatchObject({ by: 'ann', why: 'mended' });
  });

  test('by hand is refused while the run is open', async () => {
    const slow = jobType('slow', { run: ({ signal }) => untilTold(signal) });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    await t.drain();
    expect(await refused(run.retry())).toBe('wrong.state');
  });
});

describe('a timeout', () => {
  test("ends the attempt, aborts the handler's signal with the reason, and is retried", async () => {
    const reasons: string[] = [];
    const slow = jobType('slow', {
      timeout: '10s',
      retry: { attempts: 2, base: '1s' },
      run: async ({ signal }) => {
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).name));
        await forever();
      },
    });
    const t = await start({ types: [slow] });
    const run = await t.createJobRun(slow);
    await t.advance('1m');
    expect(reasons).toEqual(['TimedOut', 'TimedOut']);
    expect((await run.get()).error).toMatchObject({ code: 'timed out', message: 'the attempt took longer than 10000 ms' });
    expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'retried', 'claimed', 'failed']);
  });

  test('of a definition counts more than that of its type', async () => {
    const slow = jobType('slow', { timeout: '1h', retry: { attempts: 1 }, run: () => forever() });
    const quick = jobDef('quick', slow, { timeout: '5s' });
    const t = await start({ defs: [quick] });
    const run = await t.createJobRun(quick);
    await t.advance('6s');
    expect((await run.get()).error?.code).toBe('timed out');
  });

  test('is not waited for by other jobs: a handler that hangs gives its slot back', async () => {
    const hung = jobType('hung', { timeout: '10s', retry: { attempts: 1 }, run: () => forever() });
    const quick = jobType('quick', { run: () => 'served' });
    const t = await start({ types: [hung, quick], slots: 1 });
    await t.createJobRun(hung);
    await t.drain();
    const run = await t.createJobRun(quick);
    await t.advance('11s');
    expect(await run.result()).toBe('served');
  });
});

describe('the order', () => {
  test('is by priority, then by due time, then by age', async () => {
    const order: string[] = [];
    const named = jobType('named', { input: typed<string>(), run: ({ input }) => void order.push(input) });
    const t = await start({ types: [named], slots: 1 });
    await t.engine.suspend();
    await t.createJobRun(named, { input: 'second', dueTime: newYear });
    await t.createJobRun(named, { input: 'third', dueTime: newYear });
    await t.createJobRun(named, { input: 'first of all', dueTime: newYear, priority: 5 });
    await t.createJobRun(named, { input: 'earlier', dueTime: newYear - second });
    await t.createJobRun(named, { input: 'last', dueTime: newYear - second, priority: -5 });
    await t.engine.resume();
    await t.drain();
    expect(order).toEqual(['first of all', 'earlier', 'second', 'third', 'last']);
  });

  test('is set by the type, and overridden by the definition', async () => {
    const urgent = jobType('urgent', { priority: 7, run: () => {} });
    const calm = jobDef('calm', urgent, { priority: -7 });
    const t = await start({ defs: [calm], types: [urgent] });
    expect((await (await t.createJobRun(urgent)).get()).priority).toBe(7);
    expect((await (await t.createJobRun(calm)).get()).priority).toBe(-7);
    expect((await (await t.createJobRun(calm, { priority: 1 })).get()).priority).toBe(1);
  });
});

describe('time', () => {
  const note = jobType('note', { run: ({ run }) => run.dueTime.getTime() });

  test('a delay is waited for, to the millisecond', async () => {
    const t = await start({ types: [note] });
    const run = await t.createJobRun(note, { delay: '90s' });
    await t.advance('89999ms');
    expect((await run.get()).state).toBe('pending');
    await t.advance('1ms');
    expect(await run.result()).toBe(newYear + 90 * second);
  });

  test('a due time is a date, a text with its zone, or milliseconds', async () => {
    const t = await start({ types: [note] });
    for (const dueTime of [new Date(newYear + 1), '2026-01-01T00:00:00.001Z', newYear + 1]) {
      expect((await (await t.createJobRun(note, { dueTime })).get()).due).toBe(newYear + 1);
    }
    expect(await refused(t.createJobRun(note, { dueTime: '2026-01-01 00:00' }))).toBe('malformed.time');
  });

  test('a due time in the past means now', async () => {
    const t = await start({ types: [note] });
    const run = await t.createJobRun(note, { dueTime: '2020-01-01T00:00:00Z' });
    await t.drain();
    expect(await run.result()).toBe(Date.parse('2020-01-01T00:00:00Z'));
  });

  test('a run that could not start in time ends as cancelled, by automation', async () => {
    const t = await start({ types: [note] });
    await t.engine.suspend();
    const run = await t.createJobRun(note, { startBy: '10m' });
    await t.advance('11m');
    await t.engine.resume();
    await t.drain();
    expect(await thrown(run.result())).toBeInstanceOf(RunCancelled);
    expect((await run.get()).cancel).toMatchObject({ code: 'automation' });
  });
});

describe('a handler that ignores its signal', () => {
  test('holds no slot after its timeout, is counted, and is logged', async () => {
    const lines: string[] = [];
    const logger: Logger = { info: () => {}, warn: (line) => lines.push(line), error: () => {} };
    const deaf = jobType('deaf', { timeout: '1s', retry: { attempts: 1 }, run: () => forever() });
    const t = await start({ types: [deaf], slots: 2, logger });
    const runs = await Promise.all(Array.from({ length: 5 }, () => t.createJobRun(deaf)));
    await t.advance('1m');
    expect((await Promise.all(runs.map((run) => run.get()))).map(({ error }) => error?.code)).toEqual(Array(5).fill('timed out'));
    const [instance] = await t.engine.instances();
    expect(instance!.about).toMatchObject({ busy: 0, abandoned: 5 });
    expect(lines.filter((line) => line.includes('ignores its signal'))).toHaveLength(5);
  });
});

describe('the start limit of a run', () => {
  test('cancels a run that no free slot and no instance with its type has started', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const t = await start({ types: [slow], slots: 1 });
    await t.createJobRun(slow);
    await t.drain();
    const waiting = await t.createJobRun(slow, { startBy: '10m' });
    const unknown = await t.createJobRun(jobType('unknown', { run: () => {} }), { startBy: '10m' });
    await t.advance('9m');
    expect([(await waiting.get()).state, (await unknown.get()).state]).toEqual(['pending', 'pending']);
    await t.advance('2m');
    for (const run of [waiting, unknown]) {
      expect(await run.get()).toMatchObject({ fate: 'cancelled', cancel: { code: 'automation', why: 'not started in time' } });
    }
  });

  test('cancels no run that has started in time: neither its retries nor the gathering of its tasks', async () => {
    const failing = jobType('failing', {
      retry: { attempts: 2, base: '30m', jitter: 0 },
      run: ({ run }) => {
        if (run.attempt === 1) throw new Error('once');
        return 'retried';
      },
    });
    const fan = jobType('fan', {
      taskDetails: () => [1],
      taskResults: () => t.clock.sleep(20 * minute),
      jobResults: () => 'gathered',
    });
    const t = await start({ types: [failing, fan] });
    const runs = [await t.createJobRun(failing, { startBy: '1m' }), await t.createJobRun(fan, { startBy: '1m' })];
    await t.advance('1h');
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['retried', 'gathered']);
  });
});

describe('a unique key', () => {
  const held = jobType('held', { input: typed<number>(), run: ({ signal }) => untilTold(signal) });

  test('leads to the run that has it', async () => {
    const t = await start({ types: [held] });
    const first = await t.createJobRun(held, { input: 1, unique: 'order 7' });
    const second = await t.createJobRun(held, { input: 2, unique: 'order 7' });
    expect([first.outcome, second.outcome, second.id]).toEqual(['created', 'existing', first.id]);
    expect((await first.get()).input).toBe('1');
  });

  test('can bring that run up to date', async () => {
    const t = await start({ types: [held] });
    const first = await t.createJobRun(held, { input: 1, unique: 'order 7', delay: '1h' });
    const again = await t.createJobRun(held, { input: 2, unique: { key: 'order 7', onTaken: 'update' }, delay: '2h' });
    expect([again.outcome, again.id]).toEqual(['updated', first.id]);
    expect(await first.get()).toMatchObject({ input: '2', due: newYear + 2 * 3_600_000 });
  });

  test('is free again when the run has ended, or when its time is over', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    const once = { key: 'daily', for: '1d' } as const;
    const first = await t.createJobRun(quick, { unique: once });
    const other = await t.createJobRun(quick, { unique: 'plain' });
    await t.drain();
    expect((await t.createJobRun(quick, { unique: once })).id).toBe(first.id);
    expect((await t.createJobRun(quick, { unique: 'plain' })).id).not.toBe(other.id);
    await t.advance('1d');
    expect((await t.createJobRun(quick, { unique: once })).outcome).toBe('created');
  });
});

describe('an input', () => {
  const mail = jobType('mail', {
    input: z.object({ to: z.string().min(3), copies: z.number().default(1) }),
    retry: { attempts: 3 },
    run: ({ input }) => input,
  });

  test('is validated when the run is created, and every error is reported with its path', async () => {
    const t = await start({ types: [mail] });
    const told = await refusal(t.createJobRun(mail, { input: { to: 'x' } }));
    expect(told.code).toBe('malformed.input');
    expect(told.detail['issues']).toMatchObject([{ path: 'to' }]);
    expect(await t.runs(mail)).toEqual([]);
  });

  test('reaches the handler as the schema makes it', async () => {
    const t = await start({ types: [mail] });
    const run = await t.createJobRun(mail, { input: { to: 'ann' } });
    await t.drain();
    expect(await run.result()).toEqual({ to: 'ann', copies: 1 });
  });

  test('is checked again before it runs: a schema that changed in between refuses what it does not know', async () => {
    const t = await start({ types: [mail] });
    const run = await t.createJobRun(mail, { input: { to: 'ann' }, delay: '1h' });
    const stricter = jobType('mail', { input: z.object({ to: z.string().min(10) }), run: () => 'sent' });
    await t.restart({ types: [stricter] });
    await t.advance('2h');
    expect((await run.get()).error).toMatchObject({ code: 'could not start' });
    expect(attemptsOf(await run.events())).toHaveLength(1);
  });

  test('that no JSON can hold is refused', async () => {
    const any = jobType('any', { run: () => {} });
    const t = await start({ types: [any] });
    expect(await refused(t.createJobRun(any, { input: { at: 1n } }))).toBe('malformed.json');
  });
});

describe('finding', () => {
  test('is by tag, type, standing and part of the input', async () => {
    const mail = jobType('mail', {
      input: typed<{ to: string }>(), run: ({ input }) => { if (input.to === '') throw new Fail('nobody'); },
    });
    const t = await start({ types: [mail] });
    const ann = await t.createJobRun(mail, { input: { to: 'ann' }, tags: { order: '42' } });
    const nobody = await t.createJobRun(mail, { input: { to: '' }, tags: { order: '43' } });
    await t.drain();
    const ids = async (...asked: Parameters<typeof t.engine.find>): Promise<number[]> =>
      (await t.engine.find(...asked)).jobs.map(({ id }) => id);
    expect(await ids({ tags: { order: '42' } })).toEqual([ann.id]);
    expect(await ids({ standings: ['failed'] })).toEqual([nobody.id]);
    expect(await ids({ types: ['mail'] })).toEqual([nobody.id, ann.id]);
    expect(await ids({ input: { path: ['to'], equals: 'ann' } })).toEqual([ann.id]);
    expect(await ids({ error: 'NOBODY' })).toEqual([nobody.id]);
  });

  test('goes page by page without repeating or hiding a run', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    await t.engine.createJobRuns(quick, Array.from({ length: 7 }, () => ({})));
    const seen: number[] = [];
    for (let after: number | undefined; ; ) {
      const page = await t.engine.find({}, { limit: 3, ...(after === undefined ? {} : { after }) });
      seen.push(...page.jobs.map(({ id }) => id));
      await t.createJobRun(quick);
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  test('counts how many stand how', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    await t.createJobRun(quick);
    await t.createJobRun(quick);
    await t.createJobRun(quick, { delay: '1h' });
    await t.drain();
    expect(await t.engine.count({ types: ['quick'] })).toEqual([
      { kind: 'run', type: 'quick', standing: 'succeeded', count: 2 },
      { kind: 'run', type: 'quick', standing: 'pending', count: 1 },
    ]);
  });
});

describe('events', () => {
  test('of a run are numbered and say who and when', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    const run = await t.createJobRun(quick);
    await t.drain();
    expect(await run.events()).toEqual([
      { n: 1, at: newYear, by: 'test-1', kind: 'created', due: newYear, priority: 0 },
      { n: 2, at: newYear, by: 'test-1', kind: 'claimed', holder: 'test-1' },
      { n: 3, at: newYear, by: 'test-1', kind: 'succeeded' },
    ]);
  });

  test('of all runs arrive as they happen, and continue from a cursor', async () => {
    const quick = jobType('quick', { run: () => {} });
    const t = await start({ types: [quick] });
    const feed = t.engine.events();
    const first = feed.next();
    const run = await t.createJobRun(quick);
    await t.advance('1s');
    const seen = [(await first).value, (await feed.next()).value, (await feed.next()).value];
    expect(seen.map((event) => [event?.job, event?.event.kind])).toEqual([
      [run.id, 'created'], [run.id, 'claimed'], [run.id, 'succeeded'],
    ]);
    const other = await t.createJobRun(quick);
    await t.drain();
    const later = t.engine.events({ after: seen[2]!.cursor });
    expect((await later.next()).value).toMatchObject({ job: other.id, event: { kind: 'created' } });
    const again = t.engine.events({ after: seen[0]!.cursor });
    expect((await again.next()).value).toMatchObject({ job: run.id, event: { kind: 'claimed' } });
  });
});

test('a run that has ended can be deleted, one that has not cannot', async () => {
  const slow = jobType('slow', { run: ({ signal }) => untilTold(signal) });
  const t = await start({ types: [slow] });
  const run = await t.createJobRun(slow);
  await t.drain();
  expect(await refused(t.engine.deleteJobRun(run.id))).toBe('wrong.state');
  await run.cancel();
  await t.drain();
  await t.engine.deleteJobRun(run.id);
  expect(await refused(run.get())).toBe('unknown.job');
  expect(await refused(t.engine.deleteJobRun(run.id))).toBe('unknown.job');
});

test('an ended run is deleted after its retention, whatever its fate', async () => {
  const kept = jobType('kept', { retention: '1h', run: ({ signal }) => untilTold(signal) });
  const t = await start({ types: [kept] });
  const cancelled = await t.createJobRun(kept);
  const open = await t.createJobRun(kept);
  await t.drain();
  await cancelled.cancel();
  await t.advance('59m');
  expect((await cancelled.get()).state).toBe('ended');
  await t.advance('3m');
  expect(await refused(cancelled.get())).toBe('unknown.job');
  expect((await open.get()).state).toBe('running');
});

test('at most as many handlers run at a time as there are slots', async () => {
  const door = new Door();
  const slow = jobType('slow', { run: () => door.pass() });
  const t = await start({ types: [slow], slots: 3 });
  const runs = await t.engine.createJobRuns(slow, Array.from({ length: 8 }, () => ({})));
  await t.drain();
  expect(door.knocks).toBe(3);
  door.open();
  await t.drain();
  expect(await Promise.all(runs.map(async (run) => (await run.get()).state))).toEqual(Array(8).fill('ended'));
});
