// Named limits at work, in virtual time: rates, shared concurrency, costs, closing, spending, overrides, reasons.
import { describe, expect, test } from 'vitest';
import { every, jobDef, jobType, limit, RateLimited, typed, type Event } from '../../../src/index.ts';
import { parseGate } from '../../../src/model/gate.ts';
import { Door, minute, newYear, refusal, refused, second, start, type TestEngine } from './kit.ts';

const claimsOf = (events: readonly Event[]): number[] =>
  events.flatMap((event) => (event.kind === 'claimed' ? [event.at - newYear] : []));

/** When each job of a type was claimed, in milliseconds after the start of the test. */
async function claimTimes({ engine }: TestEngine, types: readonly string[], kind: 'run' | 'task' = 'run'): Promise<number[]> {
  const { jobs } = await engine.find({ types, kinds: [kind] }, { limit: 1_000 });
  const times = await Promise.all(jobs.map(async ({ id }) => claimsOf(await engine.history(id))));
  return times.flat().sort((a, b) => a - b);
}

describe('a rate', () => {
  const mail = limit('mail', { rate: '6/1m', burst: 2 });

  test('spaces the runs of all types that list the limit, after a burst', async () => {
    const one = jobType('one', { limits: [mail], run: () => null });
    const two = jobType('two', { limits: [mail], run: () => null });
    const t = await start({ types: [one, two] });
    for (const type of [one, two, one, two, one]) await t.createJobRun(type);
    await t.advance('1m');
    expect(await claimTimes(t, ['one', 'two'])).toEqual([0, 0, 10 * second, 20 * second, 30 * second]);
  });

  test('counts the cost of each run', async () => {
    const tokens = limit('tokens', { rate: '60/1m', burst: 30 });
    const ask = jobType('ask', { input: typed<{ tokens: number }>(), limits: [tokens], cost: 'tokens', run: () => null });
    const t = await start({ types: [ask] });
    for (const cost of [30, 20]) await t.createJobRun(ask, { input: { tokens: cost } });
    await t.advance('1m');
    expect(await claimTimes(t, ['ask'])).toEqual([0, 20 * second]);
    expect(await refused(t.createJobRun(ask, { input: { tokens: 31 } }))).toBe('limit.cost');
    expect(await refused(t.createJobRun(ask, { input: { tokens: 0 } }))).toBe('limit.cost');
  });

  test('accepts the cost of a run up to a burst that an override has raised', async () => {
    const tokens = limit('tokens', { rate: '60/1m', burst: 30 });
    const options = { input: typed<{ tokens: number }>(), limits: [tokens], run: () => null };
    const ask = jobType('ask', { ...options, cost: 'tokens' });
    const asked = jobType('asked', { ...options, cost: ({ tokens: cost }) => cost });
    const t = await start({ types: [ask, asked] });
    for (const [given, burst] of [[50, 50], [20, 30]] as const) {
      await t.engine.overrideLimit('tokens', { rate: '60/1m', burst: given });
      for (const type of [ask, asked]) {
        await t.createJobRun(type, { input: { tokens: burst } });
        expect(await refused(t.createJobRun(type, { input: { tokens: burst + 1 } }))).toBe('limit.cost');
        expect(await refused(t.engine.createFlow((f) => f.run(type, { input: { tokens: burst + 1 } })))).toBe('limit.cost');
      }
    }
  });

  test('accepts the parameters of a definition up to a burst that an override has raised', async () => {
    const tokens = limit('tokens', { rate: '60/1m', burst: 30 });
    const options = { input: typed<{ tokens: number }>(), limits: [tokens], run: () => null };
    const types = [jobType('ask', { ...options, cost: 'tokens' }), jobType('asked', { ...options, cost: ({ tokens: cost }) => cost })];
    const t = await start({ types, middleware: [{ create: ({ input }, next) => next({ input: { tokens: (input as { tokens: number }).tokens + 1 } }) }] });
    for (const { name } of types) {
      const define = (cost: number): Promise<unknown> =>
        t.engine.define(`${name} hourly`, name, { params: { tokens: cost }, schedules: every('1h') });
      await t.engine.overrideLimit('tokens', null);
      expect(await refused(define(40))).toBe('limit.cost');
      await t.engine.overrideLimit('tokens', { rate: '60/1m', burst: 50 });
      expect(await refused(define(51))).toBe('limit.cost');
      await define(40);
      expect(await refused(t.engine.override(`${name} hourly`, { params: { tokens: 51 } }))).toBe('limit.cost');
      await t.engine.override(`${name} hourly`, { params: { tokens: 45 } });
    }
    await t.advance('1h');
    for (const run of await t.runs()) expect(parseGate(run.gate!).uses).toEqual([{ name: 'tokens', key: null, cost: 46 }]);
    expect(await t.runs()).toHaveLength(2);
  });

  test('accepts the cost of a task up to a burst that an override has raised', async () => {
    const tokens = limit('tokens', { rate: '60/1m', burst: 30 });
    const ask = jobType('ask', {
      retry: { attempts: 1 },
      taskLimits: [tokens],
      taskCost: 'tokens',
      taskDetails: () => [{ tokens: 50 }],
      taskResults: ({ task }) => task.tokens,
      jobResults: ({ counts }) => counts.succeeded,
    });
    const t = await start({ types: [ask] });
    await t.engine.overrideLimit('tokens', { rate: '60/1m', burst: 50 });
    const run = await t.createJobRun(ask);
    await t.advance('1m');
    expect(await run.result()).toBe(1);
  });

  test('of a limit with keys is that of each key', async () => {
    const perTenant = limit('tenant', { rate: '1/1m', key: 'tenant' });
    const work = jobType('work', { input: typed<{ tenant?: string }>(), limits: [perTenant], run: () => null });
    const t = await start({ types: [work] });
    for (const tenant of ['a', 'a', 'b']) await t.createJobRun(work, { input: { tenant } });
    for (let run = 0; run < 3; run++) await t.createJobRun(work, { input: {} });
    await t.advance('90s');
    expect(await claimTimes(t, ['work'])).toEqual([0, 0, 0, 0, 0, minute]);
  });

  test('holds for tasks, which do not count toward the limits of the runs of their type', async () => {
    const fan = jobType('fan', {
      concurrency: 1,
      taskLimits: [mail],
      taskDetails: () => [1, 2, 3, 4],
      taskResults: () => null,
    });
    const t = await start({ types: [fan] });
    const run = await t.createJobRun(fan);
    await t.advance('1m');
    expect(await claimTimes(t, ['fan'], 'task')).toEqual([0, 0, 10 * second, 20 * second]);
    expect((await run.get()).state).toBe('ended');
  });

  test('holds for scheduled runs, whose cost comes from the parameters in effect', async () => {
    const work = jobType('work', { input: typed<{ n: number }>(), limits: [mail], cost: 'n', run: () => null });
    const def = jobDef('often', work, { params: { n: 1 }, schedules: every('1s'), overlap: 'allow' });
    const t = await start({ types: [work], defs: [def] });
    await t.advance('12s');
    expect(await claimTimes(t, ['work'])).toEqual([second, 2 * second, 11 * second]);
    await t.engine.override('often', { params: { n: 2 } });
    expect((await t.engine.definition('often')).spec.limitUses).toEqual([{ name: 'mail', key: null, cost: 2 }]);
    expect(await refused(t.engine.override('often', { params: { n: 3 } }))).toBe('limit.cost');
  });
});

test('a scheduled run whose input a middleware changes takes the cost of the changed input', async () => {
  const mail = limit('mail', { rate: '6/1m', burst: 3 });
  const work = jobType('work', { input: typed<{ n: number }>(), limits: [mail], cost: 'n', run: () => null });
  const def = jobDef('often', work, { params: { n: 1 }, schedules: every('1m') });
  const t = await start({
    types: [work], defs: [def], middleware: [{ create: (_, next) => next({ input: { n: 2 } }) }],
  });
  await t.advance('1m');
  const [run] = await t.runs();
  expect(parseGate(run!.gate!).uses).toEqual([{ name: 'mail', key: null, cost: 2 }]);
});

describe('a concurrency', () => {
  test('is shared by the types that list the limit', async () => {
    const door = new Door();
    const db = limit('db', { concurrency: 2 });
    const one = jobType('one', { limits: [db], run: () => door.pass() });
    const two = jobType('two', { limits: [db], run: () => door.pass() });
    const t = await start({ types: [one, two] });
    for (const type of [one, one, two]) await t.createJobRun(type);
    await t.advance('10s');
    expect(door.knocks).toBe(2);
    const waiting = (await t.engine.find({ standings: ['pending'] })).jobs[0]!;
    expect(await t.engine.explain(waiting.id)).toMatchObject([
      { code: 'limit.full', says: 'limit db is full: 2 of 2 are running' },
    ]);
    door.open();
    await t.advance('10s');
    expect(door.knocks).toBe(3);
  });
});

describe('a handler that throws RateLimited', () => {
  const api = limit('api', { concurrency: 10 });

  test('closes the limit for all jobs, and the attempt does not count', async () => {
    let isRefused = true;
    const call = jobType('call', {
      limits: [api],
      retry: { attempts: 1 },
      run: ({ run }) => {
        if (isRefused) throw new RateLimited(api, '30s');
        return run.attempt;
      },
    });
    const other = jobType('other', { limits: [api], run: () => null });
    const t = await start({ types: [call, other], slots: 1 });
    const run = await t.createJobRun(call);
    await t.advance('2s');
    isRefused = false;
    const { closedUntil } = (await t.engine.limit('api')).use[0]!;
    const [claimedAt] = claimsOf(await t.engine.history(run.id));
    expect(closedUntil).toBe(newYear + claimedAt! + 30 * second);
    const late = await t.createJobRun(other);
    await t.advance('10s');
    const [reason] = await t.engine.explain(late.id);
    expect(reason).toMatchObject({ code: 'rate.used', detail: { limit: 'api', opensAt: closedUntil } });
    expect(reason!.says).toMatch(/^limit api was closed by a job that another system refused; it may start in \d+ s$/);
    await t.advance('30s');
    expect(await run.result()).toBe(1);
    expect(claimsOf(await t.engine.history(late.id))).toEqual([closedUntil! - newYear]);
  });

  test('fails if its type does not list the limit', async () => {
    const call = jobType('call', {
      retry: { attempts: 1 },
      run: () => {
        throw new RateLimited(api, '30s');
      },
    });
    const t = await start({ types: [call] });
    const run = await t.createJobRun(call);
    await t.advance('1s');
    expect(await run.get()).toMatchObject({ fate: 'failed', error: { data: { limit: 'api' } } });
  });
});

test('a handler spends more of a limit, and later runs wait longer', async () => {
  const tokens = limit('tokens', { rate: '60/1m', burst: 1 });
  const ask = jobType('ask', { limits: [tokens], run: ({ limits }) => limits.spend(tokens, 20) });
  const t = await start({ types: [ask] });
  for (let run = 0; run < 2; run++) await t.createJobRun(ask);
  await t.advance('30s');
  expect(await claimTimes(t, ['ask'])).toEqual([0, 21 * second]);
});

describe('an operator', () => {
  const mail = limit('mail', { rate: '1/1m', concurrency: 4 });
  const send = jobType('send', { limits: [mail], run: () => null });

  test('overrides a rate, which survives a restart, and removes it', async () => {
    const t = await start({ types: [send] });
    for (let run = 0; run < 5; run++) await t.createJobRun(send);
    await t.advance('1s');
    const shown = await t.engine.overrideLimit('mail', { rate: '60/1m' }, { by: 'ada', why: 'the queue is long' });
    expect(shown).toMatchObject({
      code: { rate: '1/1m', burst: 1, concurrency: 4 },
      override: { rate: '60/1m', burst: 6, by: 'ada', why: 'the queue is long' },
      values: { rate: '60/1m', burst: 6, concurrency: 4 },
    });
    await t.restart();
    await t.advance('1s');
    expect(await claimTimes(t, ['send'])).toHaveLength(5);
    expect(await t.engine.overrideLimit('mail', null, { by: 'ada' })).toMatchObject({ override: null });
    const { records } = await t.engine.jobs.audited({ action: 'limit.override' }, {});
    expect(records.map(({ by, why }) => [by, why])).toEqual([['ada', null], ['ada', 'the queue is long']]);
  });

  test('reads why a run waits for a rate', async () => {
    const t = await start({ types: [send] });
    await t.createJobRun(send);
    const second = await t.createJobRun(send);
    await t.advance('10s');
    expect(await t.engine.explain(second.id)).toMatchObject([
      { code: 'rate.used', says: 'limit mail allows 1 per 1m; it may start in 50 s' },
    ]);
  });

  test('reads that a run costs more than an override allows at once, and the run starts when nothing is in use', async () => {
    const bulk = limit('bulk', { rate: '60/1m', burst: 10 });
    const load = jobType('load', { input: typed<{ size: number }>(), limits: [bulk], cost: 'size', run: () => null });
    const t = await start({ types: [load] });
    await t.createJobRun(load, { input: { size: 5 } });
    await t.advance('1ms');
    await t.engine.overrideLimit('bulk', { rate: '60/1m', burst: 2 });
    const costly = await t.createJobRun(load, { input: { size: 8 } });
    const cheap = await t.createJobRun(load, { input: { size: 1 } });
    await t.advance('1ms');
    expect(await t.engine.explain(costly.id)).toMatchObject([{
      code: 'rate.used',
      says: 'limit bulk allows 60 per 1m, 2 at once, and the job costs 8: it waits until nothing of the rate is in use; it may start in 5 s',
    }]);
    await t.advance('5s');
    expect([(await costly.get()).state, (await cheap.get()).state]).toEqual(['ended', 'pending']);
  });

  test('pauses a limit: no run that uses it starts until the pause ends, and everybody sees why', async () => {
    const t = await start({ types: [send] });
    const paused = await t.engine.pauseLimit('mail', { by: 'ada', why: 'the provider is down', until: '10m' });
    expect(paused).toMatchObject({ paused: { by: 'ada', why: 'the provider is down' }, use: [{ closedUntil: null }] });
    const run = await t.createJobRun(send);
    await t.restart();
    await t.advance('9m');
    const [reason] = await t.engine.explain(run.id);
    expect([reason!.code, reason!.says]).toEqual(['paused.limit', expect.stringMatching(/^its limit mail is paused until .* by ada: the provider is down$/)]);
    await t.advance('1m');
    expect((await run.get()).state).toBe('ended');
    expect(await refused(t.engine.resumeLimit('mail', { by: 'ada' }))).toBe('unknown.pause');

    await t.engine.pauseLimit('mail', { by: 'ada', why: 'again' });
    await t.advance('2m');
    const second = await t.createJobRun(send);
    await t.advance('1h');
    expect((await second.get()).state).toBe('pending');
    expect(await t.engine.resumeLimit('mail', { by: 'bob' })).toMatchObject({ paused: null });
    await t.advance('1s');
    expect((await second.get()).state).toBe('ended');
    expect(await refused(t.engine.pauseLimit('mail', { by: 'ada' } as never))).toBe('malformed.option');
    expect(await refused(t.engine.pauseLimit('none', { by: 'ada', why: 'x' }))).toBe('limit.unknown');
    const { records } = await t.engine.jobs.audited({ action: 'limit.resume' }, {});
    expect(records.map(({ by }) => by)).toEqual(['bob']);
  });

  test('creates a limit that code only names', async () => {
    const t = await start({ types: [jobType('send', { limits: [limit('elsewhere')], run: () => null })] });
    expect(await refused(t.engine.overrideLimit('elsewhere', { concurrency: 1 }))).toBe('limit.unknown');
    await t.engine.defineLimit('elsewhere', { rate: '1/1m' }, { by: 'ada' });
    expect(await refused(t.engine.defineLimit('elsewhere', { rate: '1/1m' }))).toBe('taken.limit');
    for (let run = 0; run < 2; run++) await t.engine.createNamed({ type: 'send' }, {});
    await t.advance('61s');
    expect(await claimTimes(t, ['send'])).toEqual([0, minute]);
    expect(await t.engine.limits()).toMatchObject([{ name: 'elsewhere', code: null, values: { rate: '1/1m' } }]);
  });

  test.each([{}, { burst: 5 }, { rate: '5' }, { concurrency: 0 }, { rates: '5/s' } as never])(
    'cannot override a limit with %j', async (override) => {
      const t = await start({ types: [send] });
      expect(await refused(t.engine.overrideLimit('mail', override))).toMatch(/^malformed\./);
    },
  );
});

test('a limited run starts at once on an engine whose only slot is free', async () => {
  const work = jobType('work', { concurrency: 1, run: () => null });
  const t = await start({ types: [work], slots: 1 });
  await t.advance('1m');
  for (let run = 0; run < 3; run++) {
    await t.createJobRun(work);
    await t.drain();
  }
  expect(await claimTimes(t, ['work'])).toEqual([minute, minute, minute]);
});

test('a definition of a limited type cannot be in memory, where nothing would be counted', () => {
  const send = jobType('send', { limits: [limit('mail', { concurrency: 1 })], run: () => null });
  expect(() => jobDef('fast', send, { inMemory: true })).toThrow(/limited by name/);
});

describe('parameters of a definition whose runs could not wait at their limits', () => {
  const input = typed<{ tenant?: string; a?: string }>();
  const byTenant = jobType('by-tenant', { input, limit: { key: 'tenant', concurrency: 1 }, run: () => null });
  const ofMany = jobType('of-many', {
    input, limits: ['a', 'b', 'c', 'd'].map((name) => limit(name, { concurrency: 1, key: 'a' })), run: () => null,
  });
  const wrong: [string, string, object, string][] = [
    ['an empty limit key', 'by-tenant', { tenant: '' }, 'malformed.name'],
    ['a limit key of 513 bytes', 'by-tenant', { tenant: 'k'.repeat(513) }, 'malformed.name'],
    ['keys of limits that are too long together', 'of-many', { a: 'k'.repeat(512) }, 'malformed.option'],
  ];

  test.each(wrong)('are refused when it is defined and when it is edited: %s', async (_, type, params, code) => {
    const t = await start({ types: [byTenant, ofMany] });
    expect(await refused(t.engine.define('bad', type, { params }))).toBe(code);
    await t.engine.define('daily', type, { params: {}, schedules: [every('1h')] });
    expect(await refused(t.engine.override('daily', { params }))).toBe(code);
  });
});

test('a run whose limits and keys do not fit into an index entry is refused, and the refusal says what to shorten', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const work = jobType('work', {
    input: typed<{ key: string }>(), limits: names.map((name) => limit(name, { concurrency: 1, key: 'key' })), run: () => null,
  });
  const t = await start({ types: [work] });
  const { code, message } = await refusal(t.createJobRun(work, { input: { key: 'k'.repeat(512) } }));
  expect([code, message]).toEqual(['malformed.option', expect.stringContaining('shorten the keys')]);
  expect(await refused(t.engine.jobs.create({
    type: 'work', limitUses: names.map((name) => ({ name, key: 'k'.repeat(512), cost: 1 })),
  }, 'test'))).toBe('malformed.option');
  await t.createJobRun(work, { input: { key: 'k'.repeat(400) } });
});
