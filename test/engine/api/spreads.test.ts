// Spreads: a resume lets out what piled up evenly over a time, and everybody can see why a run still waits.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jobType, limit, runState, type RunHandle } from '../../../src/index.ts';
import { verify } from '../../../src/verify.ts';
import { newYear, refused, start } from './kit.ts';

const minute = 60_000;
const ada = { by: 'ada', why: 'the bank is down' };
const bob = { by: 'bob', why: 'the bank is back' };

/** A type that counts its attempts. */
function counting() {
  const attempts = { count: 0 };
  return { attempts, type: jobType('charge', { run: () => void (attempts.count += 1) }) };
}

/** An engine whose type is paused, with 101 runs that became due at the same moment. */
async function piledUp() {
  const { attempts, type } = counting();
  const t = await start({ types: [type], slots: 1000 });
  await t.engine.pauseType('charge', ada);
  const runs = await t.engine.createJobRuns(type, Array.from({ length: 101 }, () => ({})));
  await t.advance('1h');
  return { t, attempts, type, runs };
}

describe('a resume of a type with a spread', () => {
  test('starts the runs that waited evenly, in their order', async () => {
    const { t, attempts, runs } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '10m' });
    const counts: number[] = [];
    for (let step = 0; step < 5; step++) {
      counts.push(attempts.count);
      await t.advance('2m');
    }
    expect([...counts.slice(1), attempts.count]).toEqual([21, 41, 61, 81, 101]);
    const started = await Promise.all(runs.map(async (run) => (await t.engine.history(run.id)).find(({ kind }) => kind === 'claimed')!.at));
    expect(started).toEqual(started.toSorted((a, b) => a - b));
    expect(await t.engine.pauses()).toEqual([]);
    expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
  });

  test('does not hold back runs that are created later', async () => {
    const { t, attempts, type } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '10m' });
    await t.advance('1s');
    const before = attempts.count;
    await t.createJobRun(type);
    await t.advance('2s');
    expect(attempts.count).toBe(before + 1);
  });

  test('explains until when a run is held, and who resumed the type', async () => {
    const { t, runs } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '10m' });
    await t.advance('1m');
    const from = newYear + 60 * minute;
    expect(await explainOf(runs[50]!)).toEqual({
      code: 'spread',
      says: 'it is held until 2026-01-01T01:05:00.000Z by the spread of the resume: its type charge was resumed by bob ' +
        '(the bank is back), and what waited starts evenly until 2026-01-01T01:10:00.000Z',
      detail: { opensAt: from + 5 * minute, ...bob, from, until: from + 10 * minute },
    });
    await t.advance('4m');
    expect(runState(await runs[50]!.get())).toBe('DONE');
  });

  test('is listed with the pause, and is in the audit', async () => {
    const { t } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '10m' });
    const from = newYear + 60 * minute;
    const listed = { type: 'charge', key: null, ...ada, since: newYear, until: from + 10 * minute, spread: { ...bob, from } };
    expect(await t.engine.pauses()).toEqual([listed]);
    const { records: [record] } = await t.engine.jobs.audited();
    expect(record).toMatchObject({ action: 'type.resume', ...bob, before: { spread: null }, after: listed });
  });

  test('is ended by a resume without one: all may start at once', async () => {
    const { t, attempts } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '1h' });
    await t.advance('1m');
    expect(attempts.count).toBeLessThan(5);
    await t.engine.resumeType('charge', { by: 'bob' });
    await t.advance('1s');
    expect([attempts.count, await t.engine.pauses()]).toEqual([101, []]);
  });

  test('is ended by a pause, which holds back everything and begins anew', async () => {
    const { t, attempts, type } = await piledUp();
    await t.engine.resumeType('charge', { ...bob, spread: '1h' });
    await t.advance('1m');
    await t.engine.pauseType('charge', ada);
    await t.createJobRun(type);
    const before = attempts.count;
    await t.advance('2h');
    expect(attempts.count).toBe(before);
    expect(await t.engine.pauses()).toMatchObject([{ since: newYear + 61 * minute, until: null, spread: null }]);
    expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
  });

  test('lets go of a single run, and of none, at once', async () => {
    const { attempts, type } = counting();
    const t = await start({ types: [type] });
    for (const count of [0, 1]) {
      await t.engine.pauseType('charge', ada);
      if (count > 0) await t.createJobRun(type);
      await t.engine.resumeType('charge', { ...bob, spread: '10m' });
      expect(await t.engine.pauses()).toEqual([]);
      await t.advance('1s');
      expect(attempts.count).toBe(count);
    }
  });

  test.each([['0s'], ['8d'], ['often'], [null]])('over %s is refused', async (spread) => {
    const { t } = await piledUp();
    expect(await refused(t.engine.resumeType('charge', { by: 'bob', spread: spread as '1m' }))).toMatch(/^malformed\./);
    expect(await t.engine.pauses()).toMatchObject([{ spread: null }]);
  });
});

test('a resume of a key with a spread holds back the runs of this key only', async () => {
  const started: string[] = [];
  const keyed = jobType('charge', {
    input: z.object({ tenant: z.string() }),
    limit: { key: 'tenant', concurrency: 50 },
    run: ({ input }) => void started.push(input.tenant),
  });
  const t = await start({ types: [keyed] });
  await t.engine.pauseType('charge', { ...ada, key: 'acme' });
  const runs: RunHandle[] = [];
  for (let count = 0; count < 5; count++) runs.push(await t.createJobRun(keyed, { input: { tenant: 'acme' } }));
  await t.createJobRun(keyed, { input: { tenant: 'globex' } });
  await t.advance('1m');
  await t.engine.resumeType('charge', { ...bob, key: 'acme', spread: '8m' });
  await t.advance('1s');
  expect(started).toEqual(['globex', 'acme']);
  expect(await explainOf(runs[1]!)).toMatchObject({ code: 'spread', says: expect.stringContaining('its key "acme"') as unknown });
  await t.advance('4m');
  expect(started.length).toBe(4);
  await t.advance('4m');
  expect(started.length).toBe(6);
});

describe('a resume of a limit with a spread', () => {
  const smtp = limit('smtp', { concurrency: 50 });
  const started: string[] = [];
  const send = (name: string) => jobType(name, { limits: [smtp], run: () => void started.push(name) });
  const [mail, sms] = [send('mail'), send('sms')];

  async function waiting() {
    started.length = 0;
    const t = await start({ types: [mail, sms] });
    await t.engine.pauseLimit('smtp', ada);
    const runs = [await t.createJobRun(mail), await t.createJobRun(sms), await t.createJobRun(mail), await t.createJobRun(sms)];
    await t.advance('1m');
    return { t, runs };
  }

  test('lets out the runs of all types that use it, one after the other', async () => {
    const { t, runs } = await waiting();
    const { paused, spread } = await t.engine.resumeLimit('smtp', { ...bob, spread: '3m' });
    expect({ paused, spread }).toEqual({ paused: null, spread: { ...bob, from: newYear + minute, until: newYear + 4 * minute } });
    await t.advance('1s');
    expect(started).toEqual(['mail']);
    expect(await explainOf(runs[3]!)).toMatchObject({ code: 'spread', says: expect.stringContaining('its limit smtp') as unknown });
    await t.advance('1m');
    expect(started).toEqual(['mail', 'sms']);
    await t.advance('2m');
    expect(started).toEqual(['mail', 'sms', 'mail', 'sms']);
    expect((await t.engine.limits())[0]!.spread).toBe(null);
    expect(await Array.fromAsync(verify(t.engine.jobs.store, { patienceMs: 0 }))).toEqual([]);
  });

  test('is ended by a resume without one, or by a pause', async () => {
    for (const isPaused of [false, true]) {
      const { t } = await waiting();
      await t.engine.resumeLimit('smtp', { ...bob, spread: '3m' });
      await t.advance('1s');
      const end = isPaused ? await t.engine.pauseLimit('smtp', ada) : await t.engine.resumeLimit('smtp', { by: 'bob' });
      expect(end).toMatchObject({ spread: null, paused: isPaused ? { by: 'ada' } : null });
      await t.advance('1h');
      expect(started.length).toBe(isPaused ? 1 : 4);
      if (isPaused) await t.engine.resumeLimit('smtp', { by: 'bob' });
      expect(await refused(t.engine.resumeLimit('smtp', { by: 'bob' }))).toBe('unknown.pause');
    }
  });
});

/** The first reason why a run waits. */
const explainOf = async (run: RunHandle): Promise<unknown> => (await run.explain())[0];
