// Past ticks and backfills: which ticks have a run, and how those without get one, exactly once.
import { describe, expect, test } from 'vitest';
import { cron, every, jobDef, jobType, repeat, type DefOptions } from '../../../src/index.ts';
import { pagesOf } from '../../../src/store/paging.ts';
import type { Duration } from '../../../src/time/duration.ts';
import { verify } from '../../../src/verify.ts';
import { hour, minute, newYear, refusal, refused, start, type TestEngine } from './kit.ts';

const quick = jobType('quick', { run: () => {} });
const day = 24 * hour;
const iso = (time: number): string => new Date(time).toISOString().slice(0, 16);

type Options = DefOptions<unknown>;

const withDef = (schedules: Options['schedules'], options: Options = {}, type = quick): Promise<TestEngine> =>
  start({ defs: [jobDef('def', type, { schedules: schedules ?? [], ...options })] });

/** The ticks that runs of a definition are for, in order. */
async function tickTimes(t: TestEngine, def = 'def'): Promise<string[]> {
  const pages = await Array.fromAsync(pagesOf(t.engine.jobs, { kinds: ['run'], def }));
  return pages.flat().map(({ tick }) => iso(tick!.nominal)).sort();
}

const times = (from: number, count: number, stepMs: number): string[] =>
  Array.from({ length: count }, (_, index) => iso(from + index * stepMs));

async function backfilled(t: TestEngine, options: Parameters<TestEngine['engine']['backfill']>[1], forTime: Duration = '1m') {
  const run = await t.engine.backfill('def', options);
  await t.advance(forTime);
  return t.engine.get(run.id);
}

async function isSound(t: TestEngine): Promise<void> {
  for await (const found of verify(t.engine.jobs.store)) expect(found).toBeNull();
}

describe('a backfill', () => {
  test('creates one run for each tick of the range, with the time of its tick', async () => {
    const seen: (string | undefined)[] = [];
    const type = jobType('seen', { run: ({ run }) => void seen.push(run.tickTime?.toISOString()) });
    const t = await withDef(cron('0 * * * *'), {}, type);
    const job = await backfilled(t, { from: newYear - day, to: newYear - day + 5 * hour }, '10s');
    expect(seen).toEqual(times(newYear - day, 5, hour).map((time) => `${time}:00.000Z`));
    expect(JSON.parse(job.result!)).toEqual({ created: 5, retried: 0, refused: 0, ended: { succeeded: 5 } });
    const { jobs: [run] } = await t.engine.find({ kinds: ['run'], def: 'def' });
    expect(run!.tags).toEqual({ 'stint.backfill': String(job.id) });
    await isSound(t);
  });

  test('of an interval knows the ticks since the interval became active; the others are as the history has them', async () => {
    const t = await withDef(every('1h'));
    await t.advance('3h');
    await t.engine.disable('def');
    await t.advance('3h');
    await t.engine.enable('def');
    await t.advance('2h');
    const range = { from: newYear, to: newYear + 8 * hour };
    expect(await t.engine.planBackfill('def', range)).toMatchObject({ ticks: 1, missing: 0, existing: 1 });
    const { ticks } = await t.engine.ticks('def', range);
    expect(ticks.map(({ nominal, outcome, skipped }) => `${iso(nominal).slice(11)} ${skipped ?? outcome}`)).toEqual(
      ['07:00 run', '06:00 disabled', '05:00 disabled', '04:00 disabled', '03:00 run', '02:00 run', '01:00 run']);
  });

  test('fills the ticks that passed while the definition was disabled, before and after it is enabled again', async () => {
    const t = await withDef(cron('0 * * * *'));
    await t.advance('3h30m');
    await t.engine.disable('def');
    await t.advance('3h');
    await backfilled(t, { from: newYear, to: newYear + 5 * hour }, '10s');
    await t.engine.enable('def');
    await t.advance('2h');
    const plan = await t.engine.planBackfill('def', { from: newYear, to: newYear + 8 * hour });
    expect(plan).toMatchObject({ ticks: 8, existing: 6, missing: 2 });
    await backfilled(t, { from: newYear, to: newYear + 8 * hour }, '10s');
    expect(await tickTimes(t)).toEqual(times(newYear, 9, hour));
    await isSound(t);
  });

  test('never has more open runs than its concurrency, and does not need a second slot', async () => {
    let [open, most] = [0, 0];
    const type = jobType('slow', {
      run: async () => {
        most = Math.max(most, open += 1);
        await t.clock.sleep(3 * minute);
        open -= 1;
      },
    });
    const t: TestEngine = await start({
      slots: 4, defs: [jobDef('def', type, { schedules: cron('0 0 1 1 *'), overlap: 'allow' })],
    });
    await t.engine.override('def', { schedules: [cron('0 * * * *')] });
    const run = await t.engine.backfill('def', { from: newYear - day, to: newYear, concurrency: 3 });
    await t.advance('10m');
    const created = (await tickTimes(t)).length;
    expect([most, created < 24, created > 3]).toEqual([3, true, true]);
    await t.advance('50m');
    expect((await t.engine.get(run.id)).state).toBe('ended');
    expect(await tickTimes(t)).toEqual(times(newYear - day, 24, hour).concat(iso(newYear + hour)));

    const single = await start({ slots: 1, defs: [jobDef('def', quick, { schedules: cron('0 * * * *') })] });
    await backfilled(single, { from: newYear - day, to: newYear }, '30m');
    expect(await tickTimes(single)).toEqual(times(newYear - day, 24, hour));
  });

  test('goes on after a crash at any point, and no tick has two runs', async () => {
    const t = await withDef(cron('* * * * *'));
    const { id } = await t.engine.backfill('def', { from: newYear - 5 * hour, to: newYear, concurrency: 20 });
    for (let crash = 0; crash < 5; crash++) {
      await t.clock.advance(70);
      t.crash();
      await t.restart();
    }
    await t.advance('30m');
    expect((await t.engine.get(id)).state).toBe('ended');
    expect((await tickTimes(t)).slice(0, 300)).toEqual(times(newYear - 5 * hour, 300, minute));
    expect(new Set(await tickTimes(t)).size).toBe((await tickTimes(t)).length);
    await isSound(t);
  });

  test('beside another backfill of the same range and beside ticks on time creates each run once', async () => {
    const t = await withDef(cron('* * * * *'), { overlap: 'allow' });
    await t.advance('10m');
    const range = { from: newYear - 2 * hour, to: newYear + 5 * minute, concurrency: 7 };
    await Promise.all([1, 2, 3].map(() => t.engine.backfill('def', range)));
    await t.advance('10m');
    expect(await tickTimes(t)).toEqual(times(newYear - 2 * hour, 141, minute));
    await isSound(t);
  });

  test('of all ticks also retries the runs that have ended, each once', async () => {
    let executed = 0;
    const t = await withDef(cron('0 * * * *'), {}, jobType('counted', { run: () => void (executed += 1) }));
    await t.advance('3h');
    const job = await backfilled(t, { from: newYear - hour, to: newYear + 3 * hour, only: 'all' }, '10s');
    expect(JSON.parse(job.result!)).toMatchObject({ created: 2, retried: 2 });
    expect(executed).toBe(3 + 4);
    expect(await tickTimes(t)).toEqual(times(newYear - hour, 5, hour));
    await isSound(t);
  });

  test('that is cancelled creates no further runs, and leaves those that exist', async () => {
    const t: TestEngine = await withDef(cron('0 0 1 1 *'), {}, jobType('slow', { run: () => t.clock.sleep(minute) }));
    await t.engine.override('def', { schedules: [cron('0 * * * *')] });
    const run = await t.engine.backfill('def', { from: newYear - day, to: newYear, concurrency: 2 });
    await t.advance('30s');
    await run.cancel();
    await t.advance('3m');
    expect(await t.engine.get(run.id)).toMatchObject({ state: 'ended', fate: 'cancelled' });
    expect(await tickTimes(t)).toEqual(times(newYear - day, 2, hour));
  });

  test('records the ticks whose runs a middleware refuses, and does not ask again', async () => {
    let asked = 0;
    // They take long enough that each of them ends an attempt of the backfill.
    const slow = jobType('slow', { run: () => t.clock.sleep(3 * minute) });
    const t: TestEngine = await start({
      defs: [jobDef('def', slow, { schedules: cron('0 * * * *') })],
      middleware: [{
        create: (run, next) => {
          if (run.def === 'def') asked += 1;
          if (run.def === 'def' && run.tickTime!.getUTCHours() === 22) throw new Error('not at ten');
          return next();
        },
      }],
    });
    const job = await backfilled(t, { from: newYear - 3 * hour, to: newYear, concurrency: 1 }, '20m');
    expect((await t.engine.history(job.id)).filter(({ kind }) => kind === 'claimed').length).toBeGreaterThan(2);
    expect(asked).toBe(3);
    expect(JSON.parse(job.result!)).toMatchObject({ created: 2, refused: 1 });
    const { ticks } = await t.engine.ticks('def', { from: newYear - 3 * hour, to: newYear });
    expect(ticks.map(({ outcome }) => outcome)).toEqual(['run', 'skipped', 'run']);
  });

  test('leaves out times that do not exist, if the schedule says so, and fills both of those that come twice', async () => {
    const berlin = (gap: 'next' | 'skip') => cron('30 2 * * *', { zone: 'Europe/Berlin', gap, overlap: 'both' });
    const t = await start({ now: '2026-11-01T00:00:00Z', defs: [jobDef('def', quick, { schedules: berlin('skip') })] });
    const spring = { from: '2026-03-28T00:00:00Z', to: '2026-03-31T00:00:00Z' };
    expect(await t.engine.planBackfill('def', spring)).toMatchObject({ ticks: 3, missing: 2, inGaps: 1 });
    const autumn = { from: '2026-10-25T00:00:00Z', to: '2026-10-26T00:00:00Z' };
    await backfilled(t, autumn, '1m');
    expect(await tickTimes(t)).toEqual(['2026-10-25T00:30', '2026-10-25T01:30']);
    const { ticks } = await t.engine.ticks('def', autumn);
    expect(ticks.map(({ shown, remark }) => [shown, remark])).toEqual([
      ['2026-10-25 02:30:00', '2026-10-25 02:30:00 comes twice in Europe/Berlin: this is the second.'],
      ['2026-10-25 02:30:00', '2026-10-25 02:30:00 comes twice in Europe/Berlin: this is the first.'],
    ]);
  });

  test('counts the runs of each time, so that a schedule whose place changed gets no second run', async () => {
    const [a, b] = [cron('0 * * * *'), cron('0 */2 * * *')];
    const t = await withDef([a, b], { overlap: 'allow' });
    await t.advance('2h');
    await t.engine.override('def', { schedules: [b] });
    expect(await t.engine.planBackfill('def', { from: newYear + 1, to: newYear + 2 * hour }))
      .toMatchObject({ ticks: 0 });
    await t.advance('1h');
    const range = { from: newYear + hour, to: newYear + 2 * hour + 1 };
    expect(await t.engine.planBackfill('def', range)).toMatchObject({ ticks: 1, missing: 0, existing: 2 });
  });

  test('finds the run of a schedule that had another place, where no other schedule had a run', async () => {
    const t = await withDef([cron('30 * * * *'), cron('0 */2 * * *')], { overlap: 'allow' });
    await t.advance('2h');
    await t.engine.override('def', { schedules: [cron('0 */2 * * *')] });
    await t.advance('1h');
    const range = { from: newYear + hour, to: newYear + 2 * hour + 1 };
    expect(await t.engine.planBackfill('def', range)).toMatchObject({ ticks: 1, missing: 0, existing: 1 });
  });

  test('does not create the runs of a deleted definition of the same name again', async () => {
    const t = await start({ types: [quick] });
    const define = (): Promise<void> => t.engine.define('def', 'quick', { schedules: [cron('0 * * * *')] });
    await define();
    await t.advance('3h');
    await t.engine.undefine('def');
    await define();
    const range = { from: newYear - hour, to: newYear + 3 * hour };
    expect(await t.engine.planBackfill('def', range)).toMatchObject({ ticks: 4, existing: 2, missing: 2 });
  });

  test('leaves alone what a renamed definition may have run under its old name', async () => {
    const t = await start({ types: [quick] });
    await t.engine.define('old', 'quick', { schedules: [cron('0 * * * *')] });
    await t.advance('3h');
    await t.engine.renameDefinition('old', 'def');
    await t.advance('3h');
    const range = { from: newYear - hour, to: newYear + 6 * hour };
    expect(await t.engine.planBackfill('def', range)).toMatchObject({ ticks: 7, unknown: 5, existing: 2, missing: 0 });
  });

  test('fails if its definition is deleted meanwhile', async () => {
    const t: TestEngine = await start({ types: [jobType('slow', { run: () => t.clock.sleep(minute) })] });
    await t.engine.define('def', 'slow', { schedules: [cron('0 * * * *')] });
    const run = await t.engine.backfill('def', { from: newYear - day, to: newYear });
    await t.advance('10s');
    await t.engine.undefine('def');
    await t.advance('2m');
    expect(await t.engine.get(run.id)).toMatchObject({ state: 'ended', fate: 'failed' });
  });

  test('is refused for a range that is empty, in the future or too long', async () => {
    const t = await withDef(cron('* * * * *'));
    const ask = (from: number, to: number) => refusal(t.engine.backfill('def', { from, to }));
    expect((await ask(newYear - day, newYear + 1)).code).toBe('malformed.range');
    expect((await ask(newYear, newYear)).code).toBe('malformed.range');
    const tooLong = await ask(newYear - 100_001 * minute, newYear);
    expect([tooLong.code, tooLong.message]).toEqual(
      ['malformed.range', 'a backfill has at most 100000 ticks: choose a shorter range']);
    expect(await t.engine.planBackfill('def', { from: newYear - 100_000 * minute, to: newYear }))
      .toMatchObject({ missing: 100_000 });
  });

  test('is refused without a schedule whose past ticks are known, and with wrong options', async () => {
    const range = { from: newYear - day, to: newYear };
    for (const schedules of [[], [every('1h', { from: 'finished' })], [repeat('STARTED, +1 HOUR')]]) {
      const t = await withDef(schedules);
      expect(await refused(t.engine.backfill('def', range))).toBe('no.schedule');
    }
    const t = await withDef(cron('* * * * *'));
    expect(await refused(t.engine.backfill('other', range))).toBe('unknown.definition');
    expect(await refused(t.engine.backfill('def', { ...range, concurrency: 0 }))).toBe('malformed.number');
    expect(await refused(t.engine.backfill('def', { ...range, only: 'some' as never }))).toBe('malformed.option');
    expect(await refused(t.engine.backfill('def', { ...range, from: 'yesterday' }))).toBe('malformed.time');
    const memory = await withDef(cron('* * * * *'), { inMemory: true });
    expect(await refused(memory.engine.backfill('def', range))).toBe('malformed.option');
  });
});

describe('past ticks', () => {
  test('have a run and its state, a reason why they were skipped, or neither', async () => {
    const type = jobType('hours', {
      retry: { attempts: 1 },
      run: ({ run }) => {
        if (run.tickTime!.getUTCHours() === 1) throw new Error('one');
      },
    });
    const t = await withDef(cron('0 * * * *'), {}, type);
    await t.advance('3h');
    await t.engine.disable('def');
    await t.advance('2h');
    await t.engine.enable('def');
    const { jobs } = await t.engine.find({ kinds: ['run'], def: 'def' }, { order: 'oldest' });
    await t.engine.deleteJobRun(jobs[1]!.id);
    const { ticks, next } = await t.engine.ticks('def', { from: newYear - hour });
    expect(ticks.map(({ nominal, outcome, standing, skipped }) => [iso(nominal).slice(11), outcome, standing, skipped]))
      .toEqual([
        ['05:00', 'skipped', null, 'disabled'],
        ['04:00', 'skipped', null, 'disabled'],
        ['03:00', 'run', 'succeeded', null],
        ['02:00', 'run', null, null],
        ['01:00', 'run', 'failed', null],
        ['00:00', 'missing', null, null],
        ['23:00', 'missing', null, null],
      ]);
    expect(next).toBeNull();
  });

  test('come in pages, newest first, each tick once', async () => {
    const t = await withDef([cron('*/10 * * * *'), cron('0 * * * *')], { overlap: 'allow' });
    await t.advance('3h');
    const found: string[] = [];
    for (let to: number | undefined = newYear + 3 * hour; to !== undefined; ) {
      const page = await t.engine.ticks('def', { from: newYear - hour, to, limit: 5 });
      found.push(...page.ticks.map(({ nominal, schedule }) => `${iso(nominal)} ${schedule}`));
      to = page.next ?? undefined;
    }
    expect(found.length).toBe(new Set(found).size);
    expect(found.length).toBe(4 * 6 + 4);
  });

  test('that a schedule of before had are shown, and said to be gone', async () => {
    const t = await withDef(cron('30 * * * *'));
    await t.advance('2h');
    await t.engine.override('def', { schedules: [cron('0 * * * *')] });
    const { ticks } = await t.engine.ticks('def', { from: newYear + minute });
    expect(ticks.map(({ nominal, outcome, remark }) => [iso(nominal).slice(11), outcome, remark])).toEqual([
      ['02:00', 'missing', null],
      ['01:30', 'run', 'The schedules do not have this tick any more.'],
      ['01:00', 'missing', null],
      ['00:30', 'run', 'The schedules do not have this tick any more.'],
    ]);
  });

  test('that are due and not handled yet are left to the schedule', async () => {
    const t = await withDef(cron('0 * * * *'));
    await t.engine.suspend();
    await t.clock.advance(90 * minute);
    const { ticks } = await t.engine.ticks('def', { from: newYear });
    expect(ticks.map(({ outcome }) => outcome)).toEqual(['due', 'missing']);
    expect(await t.engine.planBackfill('def', { from: newYear, to: newYear + 90 * minute }))
      .toMatchObject({ leftToSchedule: 1, missing: 1 });
  });

  test('cost a few reads of the history, however long it is', async () => {
    const t = await withDef(cron('* * * * *'));
    await t.advance('3h');
    const { store } = t.engine.jobs;
    const history = store.history.bind(store);
    let events = 0;
    store.history = async (...given) => {
      const read = await history(...given);
      events += read.length;
      return read;
    };
    await t.engine.ticks('def', { from: newYear + 175 * minute });
    expect(events).toBeLessThan(100);
  });
});
