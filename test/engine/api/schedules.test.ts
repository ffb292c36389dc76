// Schedules as a definition has them: when they tick, what each policy makes of a tick, and what operators can change.
import { describe, expect, test } from 'vitest';
import { apply } from '../../../src/apply.ts';
import type { KnownDefinition } from '../../../src/jobs/define.ts';
import {
  at, cron, every, jobDef, jobType, repeat, runState, typed, type DefOptions,
} from '../../../src/index.ts';
import {
  at as clockTime, day, Door, hour, kindsOf, minute, newYear, refused, start, ticksOf, told, untilTold,
} from './kit.ts';
import type { TestEngine } from './kit.ts';

const quick = jobType('quick', { run: () => {} });
const held = jobType('held', { run: ({ signal }) => untilTold(signal) });

const hourly = cron('0 * * * *');

/** When the runs of a definition were made. */
const times = async (t: TestEngine, name = 'def'): Promise<string[]> => (await t.runs({ name })).map(
  ({ created }) => clockTime(created),
);

const tells = async (t: TestEngine, name = 'def'): Promise<string[]> => (await ticksOf(t.engine, name)).map(told);

type Options = DefOptions<unknown>;

const withSchedules = (schedules: Options['schedules'], options: Options = {}, now?: string): Promise<TestEngine> =>
  start({ defs: [jobDef('def', quick, { schedules: schedules ?? [], ...options })], ...(now === undefined ? {} : { now }) });

describe('kinds', () => {
  test('cron runs at the times it names, in its zone', async () => {
    const t = await withSchedules(cron('30 2 * * *', { zone: 'Europe/Berlin' }));
    await t.advance('2d');
    expect(await times(t)).toEqual(['01:30:00', '01:30:00']);
  });

  test('cron in the hour that does not exist runs by its gap policy, once', async () => {
    const sunday = '2026-03-28T12:00:00Z';
    const runs = async (gap: 'next' | 'shift' | 'skip'): Promise<string[]> => {
      const t = await withSchedules(cron('30 2 * * *', { zone: 'Europe/Berlin', gap }), {}, sunday);
      await t.advance('1d');
      return tells(t);
    };
    expect(await runs('next')).toEqual(['2026-03-29T01:00 run']);
    expect(await runs('shift')).toEqual(['2026-03-29T01:30 run']);
    expect(await runs('skip')).toEqual(['2026-03-29T00:59 gap']);
  });

  test('cron in the hour that comes twice runs by its overlap policy', async () => {
    const runs = async (overlap: 'first' | 'last' | 'both'): Promise<string[]> => {
      const t = await withSchedules(cron('30 2 * * *', { zone: 'Europe/Berlin', overlap }), {}, '2026-10-24T12:00:00Z');
      await t.advance('1d');
      return tells(t);
    };
    expect(await runs('first')).toEqual(['2026-10-25T00:30 run']);
    expect(await runs('last')).toEqual(['2026-10-25T01:30 run']);
    expect(await runs('both')).toEqual(['2026-10-25T00:30 run', '2026-10-25T01:30 run']);
  });

  test('every keeps its rhythm, however long a run takes', async () => {
    const slow = jobType('slow', { run: () => t.clock.sleep(3 * minute) });
    const t = await start({ defs: [jobDef('def', slow, { schedules: every('10m') })] });
    await t.advance('35m');
    expect(await times(t)).toEqual(['00:10:00', '00:20:00', '00:30:00']);
  });

  test('every can count from the start of the last run', async () => {
    const slow = jobType('slow', { run: () => t.clock.sleep(3 * minute) });
    const t = await start({ defs: [jobDef('def', slow, { schedules: every('10m', { from: 'started' }) })] });
    await t.advance('35m');
    expect(await times(t)).toEqual(['00:10:00', '00:20:00', '00:30:00']);
  });

  test('every can count from the end of the last run', async () => {
    const slow = jobType('slow', { run: () => t.clock.sleep(3 * minute) });
    const t = await start({ defs: [jobDef('def', slow, { schedules: every('10m', { from: 'finished' }) })] });
    await t.advance('40m');
    expect(await times(t)).toEqual(['00:10:00', '00:23:00', '00:36:00']);
  });

  test('every that counts from the end of a run continues when that run was lost with its engine', async () => {
    const t = await start({
      defs: [jobDef('def', held, { schedules: every('10m', { from: 'finished' }), retry: { crashes: 0 } })],
    });
    await t.advance('11m');
    t.crash();
    await t.advance('1m');
    await t.restart();
    await t.advance('13m');
    expect((await t.runs())[0]).toMatchObject({ state: 'ended', fate: 'failed' });
    expect(await times(t)).toHaveLength(2);
  });

  test('every that counts from the end of a run continues after that run was deleted', async () => {
    const t = await withSchedules(every('1d', { from: 'finished' }), { retention: '1h' });
    await t.advance('3d');
    const ran = (await ticksOf(t.engine, 'def')).filter((tick) => 'run' in tick);
    expect(ran.map(({ nominal }) => (nominal - newYear) / day)).toEqual([1, 2, 3]);
  });

  test("repeat follows seed 2's rules", async () => {
    const t = await withSchedules(repeat('FINISHED, +1 DAY, START OF DAY, +4 HOURS'));
    await t.advance('3d');
    expect(await tells(t)).toEqual(['2026-01-02T04:00 run', '2026-01-03T04:00 run']);
  });

  test('at runs once', async () => {
    const t = await withSchedules(at('2026-01-01T05:00:00Z'));
    await t.advance('3d');
    expect(await times(t)).toEqual(['05:00:00']);
    expect((await t.engine.configuration('def')).nextExecutionTime).toBeNull();
  });

  test('several of them each have their ticks', async () => {
    const t = await withSchedules([cron('0 */2 * * *'), cron('30 1 * * *'), at('2026-01-01T03:00:00Z')]);
    await t.advance('4h');
    expect(await times(t)).toEqual(['01:30:00', '02:00:00', '03:00:00', '04:00:00']);
    expect((await ticksOf(t.engine, 'def')).map(({ schedule }) => schedule)).toEqual([1, 0, 2, 0]);
  });

  test('spread moves the run, not the tick, and each definition elsewhere', async () => {
    const defs = ['a', 'b', 'c'].map((name) => jobDef(name, quick, {
      schedules: cron('0 * * * *', { spread: '30m' }),
    }));
    const t = await start({ defs });
    await t.advance('2h');
    const moments = (await t.runs()).map(({ def, created, tick }) => [def, created - tick!.nominal] as const);
    expect(moments).toHaveLength(3);
    expect(new Set(moments.map(([, late]) => late)).size).toBe(3);
    for (const [, late] of moments) expect(late).toBeLessThan(30 * minute);
    expect((await ticksOf(t.engine, 'a')).map(told)).toEqual(['2026-01-01T01:00 run']);
  });

  test('what can never be, or cannot be read, is refused when it is defined', () => {
    const message = (make: () => unknown): string => {
      try {
        make();
      } catch (error) {
        return (error as { code: string }).code;
      }
      return 'nothing';
    };
    expect(message(() => cron('0 0 31 2 *'))).toBe('impossible.schedule');
    expect(message(() => cron('61 * * * *'))).toBe('malformed.cron');
    expect(message(() => cron('* * * * *', { zone: 'Mars/Base' }))).toBe('malformed.zone');
    expect(message(() => every('0s'))).toBe('impossible.schedule');
    expect(message(() => repeat('FINISHED, +1 FORTNIGHT'))).toBe('malformed.repeat');
    expect(message(() => at('next week'))).toBe('malformed.time');
    expect(message(() => jobDef('def', quick, { schedules: { kind: 'cron' } as never }))).toBe('malformed.cron');
  });
});

describe('overlap', () => {
  const overlapping = (overlap: NonNullable<DefOptions<unknown>['overlap']>): Promise<TestEngine> => {
    const door = new Door();
    const slow = jobType('slow', { run: async ({ signal }) => Promise.race([door.pass(), untilTold(signal)]) });
    return start({ defs: [jobDef('def', slow, { schedules: cron('*/10 * * * *'), overlap })] });
  };

  test('allow: each tick has its run, side by side', async () => {
    const t = await overlapping('allow');
    await t.advance('30m');
    expect((await t.runs()).map(({ state }) => state)).toEqual(['running', 'running', 'running']);
  });

  test('skip: a tick during a run is recorded as skipped', async () => {
    const t = await overlapping('skip');
    await t.advance('20m');
    expect(await tells(t)).toEqual(['2026-01-01T00:10 run', '2026-01-01T00:20 overlap']);
    await t.engine.cancelJobRun((await t.runs())[0]!.id);
    await t.advance('10m');
    expect((await tells(t)).at(-1)).toBe('2026-01-01T00:30 run');
  });

  test('queue: a tick during a run waits for its end', async () => {
    const t = await overlapping('queue');
    await t.advance('30m');
    expect((await t.runs()).map(({ state }) => state)).toEqual(['running', 'pending', 'pending']);
    expect((await t.engine.explain((await t.runs())[1]!.id)).map(({ code }) => code)).toEqual(['limit.full']);
    await t.engine.cancelJobRun((await t.runs())[0]!.id);
    await t.advance('1m');
    expect((await t.runs()).map(({ state }) => state)).toEqual(['ended', 'running', 'pending']);
  });

  test('replace: a tick stops the run that is under way', async () => {
    const t = await overlapping('replace');
    await t.advance('20m');
    const [first, second] = await t.runs();
    expect(first).toMatchObject({
      state: 'ended', fate: 'cancelled', cancel: { code: 'automation', why: 'replaced by the next run of def' },
    });
    expect(second?.state).toBe('running');
    expect(await tells(t)).toEqual(['2026-01-01T00:10 run', '2026-01-01T00:20 run']);
  });

  test('replace: of several late ticks the newest runs, and the others are recorded', async () => {
    const t = await withSchedules(hourly, { overlap: 'replace', misfire: 'all' });
    t.crash();
    await t.advance('3h');
    await t.restart();
    await t.drain();
    expect(await tells(t)).toEqual(['2026-01-01T01:00 overlap', '2026-01-01T02:00 overlap', '2026-01-01T03:00 run']);
  });
});

describe('misfire', () => {
  const afterOutage = async (misfire: NonNullable<Options['misfire']>): Promise<string[]> => {
    const t = await withSchedules(hourly, { misfire, overlap: 'allow' });
    t.crash();
    await t.advance('4h30m');
    await t.restart();
    await t.advance('1h');
    return tells(t);
  };
  const hours = (...outcomes: string[]): string[] => outcomes.map(
    (outcome, index) => `2026-01-01T0${index + 1}:00 ${outcome}`,
  );

  test('skip: what was missed is recorded, and the next tick runs', async () => {
    expect(await afterOutage('skip')).toEqual([`2026-01-01T01:00 misfire`, '2026-01-01T05:00 run']);
  });

  test('once: the newest runs for all', async () => {
    expect(await afterOutage('once')).toEqual([
      '2026-01-01T01:00 misfire', '2026-01-01T04:00 run', '2026-01-01T05:00 run',
    ]);
  });

  test('all: each runs', async () => {
    expect(await afterOutage('all')).toEqual(hours('run', 'run', 'run', 'run', 'run'));
  });

  test('all within a window: what is older is recorded', async () => {
    expect(await afterOutage({ policy: 'all', window: '2h' })).toEqual([
      '2026-01-01T01:00 window', '2026-01-01T03:00 run', '2026-01-01T04:00 run', '2026-01-01T05:00 run',
    ]);
  });

  test('all up to a cap: the newest run', async () => {
    expect(await afterOutage({ policy: 'all', cap: 2 })).toEqual([
      '2026-01-01T01:00 cap', '2026-01-01T03:00 run', '2026-01-01T04:00 run', '2026-01-01T05:00 run',
    ]);
  });

  test('a tick that is a little late is on time', async () => {
    const t = await withSchedules(hourly, { misfire: 'skip' });
    await t.advance('59m');
    t.crash();
    await t.advance('90s');
    await t.restart();
    await t.drain();
    expect(await tells(t)).toEqual(['2026-01-01T01:00 run']);
    expect((await ticksOf(t.engine, 'def'))[0]).toMatchObject({ lateMs: 30_000 });
  });

  test('a skipped range has the number of its ticks', async () => {
    const t = await withSchedules(every('1m'), { misfire: 'skip' });
    t.crash();
    await t.advance('10d');
    await t.restart();
    await t.drain();
    const [skipped] = await ticksOf(t.engine, 'def');
    expect(skipped).toMatchObject({ nominal: newYear + minute, count: 10 * 24 * 60 - 2, skipped: 'misfire' });
  });

  test('a new definition does not catch up on the past', async () => {
    const t = await withSchedules(cron('0 0 * * *'), { misfire: 'all' }, '2026-01-01T00:00:01Z');
    await t.advance('1h');
    expect(await times(t)).toEqual([]);
  });
});

describe('enable and disable', () => {
  test('a disabled definition does not tick, and records the missed ticks when it is enabled', async () => {
    const t = await withSchedules(hourly);
    await t.advance('1h');
    await t.engine.disable('def', { by: 'ann', why: 'too loud' });
    await t.advance('2h30m');
    expect(await times(t)).toEqual(['01:00:00']);
    expect(await t.engine.configuration('def')).toMatchObject({ status: 'DISABLED', nextExecutionTime: null });
    await t.engine.enable('def');
    await t.advance('1h');
    expect(await tells(t)).toEqual([
      '2026-01-01T01:00 run', '2026-01-01T02:00 disabled', '2026-01-01T03:00 disabled', '2026-01-01T04:00 run',
    ]);
    const { job } = await t.engine.definition('def');
    expect((await t.engine.history(job.id)).find(({ kind }) => kind === 'paused')).toMatchObject(
      { by: 'ann', why: 'too loud' },
    );
  });

  test('a missed tick that counts from a run is recorded, too', async () => {
    const t = await withSchedules(every('1h', { from: 'finished' }));
    await t.advance('1h30m');
    await t.engine.disable('def');
    await t.advance('2h');
    await t.engine.enable('def');
    expect(await tells(t)).toEqual(['2026-01-01T01:00 run', '2026-01-01T02:00 disabled']);
    await t.advance('1h');
    expect((await tells(t)).at(-1)).toBe('2026-01-01T04:30 run');
  });

  test('a tick that is spread to a later time is recorded as skipped if the definition is disabled then', async () => {
    const t = await withSchedules(cron('0 * * * *', { spread: '59m' }));
    await t.advance('1h');
    await t.engine.disable('def');
    await t.engine.enable('def');
    expect(await tells(t)).toEqual(['2026-01-01T01:00 disabled']);
  });

  test('one that is declared disabled waits to be enabled', async () => {
    const t = await withSchedules(hourly, { enabled: false });
    await t.advance('2h');
    expect(await times(t)).toEqual([]);
    await t.engine.enable('def');
    await t.advance('1h');
    expect(await times(t)).toEqual(['03:00:00']);
  });

  test("an operator's switch is not undone by a restart", async () => {
    const t = await withSchedules(hourly);
    await t.engine.disable('def');
    await t.restart();
    await t.advance('2h');
    expect(await times(t)).toEqual([]);
  });

  test('running runs continue, and manual runs are refused', async () => {
    const def = jobDef('def', held, { schedules: hourly });
    const t = await start({ defs: [def] });
    await t.advance('1h');
    await t.engine.disable('def');
    await t.advance('1m');
    expect((await t.runs())[0]?.state).toBe('running');
    expect(await refused(t.createJobRun(def))).toBe('disabled.definition');
  });
});

describe('edits', () => {
  test('count at once', async () => {
    const t = await withSchedules(cron('0 0 1 1 *'));
    await t.engine.override('def', { schedules: [every('10s')] });
    await t.advance('30s');
    expect(await times(t)).toEqual(['00:00:10', '00:00:20', '00:00:30']);
  });

  test('leave the rhythm of schedules that stay', async () => {
    const t = await withSchedules([every('1h'), hourly], { overlap: 'allow' }, '2026-01-01T00:20:00Z');
    await t.advance('30m');
    await t.engine.override('def', { schedules: [every('1h'), cron('15 * * * *')] });
    await t.advance('1h');
    expect(await times(t)).toEqual(['01:15:00', '01:20:00']);
  });

  test('let what was due before follow the old word: nothing is lost and nothing is doubled', async () => {
    const say = jobType('say', { input: typed<string>(), run: ({ input }) => input });
    const before = jobDef('def', say, { params: 'old', schedules: hourly, misfire: 'all', overlap: 'allow' });
    const after = jobDef('def', say, {
      params: 'new', schedules: cron('30 * * * *'), misfire: 'all', overlap: 'allow',
    });
    const t = await start({ defs: [before] });
    await t.advance('1h30m');
    t.crash();
    await t.advance('2h');
    await t.restart({ defs: [after] });
    await t.advance('1h');
    expect(await tells(t)).toEqual([
      '2026-01-01T01:00 run', '2026-01-01T02:00 run', '2026-01-01T03:00 run', '2026-01-01T04:30 run',
    ]);
    expect((await t.runs()).map(({ input }) => input)).toEqual(['"old"', '"old"', '"old"', '"new"']);
  });

  test('while disabled record the ticks that the old spec missed', async () => {
    const t = await withSchedules(hourly);
    await t.engine.disable('def');
    await t.advance('2h10m');
    await t.engine.override('def', { schedules: [cron('30 * * * *')] });
    await t.advance('1h');
    await t.engine.enable('def');
    expect(await tells(t)).toEqual([
      '2026-01-01T01:00 disabled', '2026-01-01T02:00 disabled', '2026-01-01T02:30 disabled',
    ]);
  });

  test('that remove a schedule record its tick that was spread to a later time', async () => {
    const t = await withSchedules(cron('0 * * * *', { spread: '59m' }));
    await t.advance('1h');
    await t.engine.override('def', { schedules: [] });
    expect(await tells(t)).toEqual(['2026-01-01T01:00 edited']);
  });

  test("by an operator survive a deploy with other code, beside the code's own word", async () => {
    const t = await withSchedules(hourly, { priority: 1 });
    await t.engine.override('def', { schedules: [cron('30 * * * *')] }, { by: 'ann' });
    const changed = jobDef('def', quick, { schedules: cron('15 * * * *'), priority: 2 });
    await t.restart({ defs: [changed] });
    await t.advance('2h');
    expect(await times(t)).toEqual(['00:30:00', '01:30:00']);
    const { code, override, spec } = await t.engine.definition('def');
    expect([code.schedules, override?.schedules, spec.priority]).toEqual([
      [cron('15 * * * *')], [cron('30 * * * *')], 2,
    ]);
    await t.engine.override('def', null);
    await t.advance('1h');
    expect((await times(t)).at(-1)).toBe('02:15:00');
  });

  test('that cannot be are refused, and the definition stays as it is', async () => {
    const t = await withSchedules(hourly);
    const unreadable = { kind: 'cron', text: 'x', zone: 'UTC' } as const;
    expect(await refused(t.engine.override('def', { schedules: [unreadable] }))).toBe('malformed.cron');
    expect(await refused(t.engine.override('def', { overlap: 'sometimes' as never }))).toBe('malformed.option');
    expect(await refused(t.engine.override('def', { misfire: { policy: 'never' } as never }))).toBe('malformed.option');
    expect(await refused(t.engine.override('def', { policy: { attemptsMax: 0 } }))).toBe('malformed.number');
    expect(await refused(t.engine.override('def', { type: 'other' } as never))).toBe('malformed.option');
    expect(await refused(t.engine.override('other', { priority: 1 }))).toBe('unknown.definition');
    await t.advance('1h');
    expect(await times(t)).toEqual(['01:00:00']);
  });
});

describe('the scheduler', () => {
  test('answers two definitions of one type that are due together, each with a run', async () => {
    const alone = jobType('alone', { onePerType: true, run: () => {} });
    const t = await start({
      defs: [jobDef('a', alone, { schedules: hourly }), jobDef('b', alone, { schedules: hourly })],
    });
    await t.advance('2h');
    expect(await tells(t, 'a')).toEqual(['2026-01-01T01:00 run', '2026-01-01T02:00 run']);
    expect(await tells(t, 'b')).toEqual(['2026-01-01T01:00 run', '2026-01-01T02:00 run']);
  });

  test.each([
    ['has no misfire policy', ({ code }: KnownDefinition) => JSON.stringify({ code: { ...code, misfire: null }, override: null })],
    ['is not JSON', ({ job }: KnownDefinition) => job.input.slice(1)],
  ])('disables a definition that %s, and continues with the others', async (_, spoiled) => {
    const t = await start({ defs: ['good', 'bad'].map((name) => jobDef(name, quick, { schedules: hourly })) });
    const bad = await t.engine.definition('bad');
    const { job } = bad;
    const edit = { do: 'edit', edit: { input: spoiled(bad) } } as const;
    await apply(t.engine.jobs.store, job, edit, { by: 'someone' });
    await t.advance('2h');
    expect(await times(t, 'good')).toEqual(['01:00:00', '02:00:00']);
    expect((await t.engine.history(job.id)).at(-1)).toMatchObject({
      kind: 'paused', why: expect.stringContaining('cannot be read'),
    });
  });

  test.each([
    ['an empty limit key', { limitKey: '' }],
    ['a use without a cost', { limitUses: [{ name: 'api', key: null, cost: 0 }] }],
    ['limit keys longer than an index entry', {
      limitUses: ['a', 'b', 'c', 'd'].map((name) => ({ name, key: 'k'.repeat(512), cost: 1 })),
    }],
  ])('skips the ticks of a definition with %s, says why, and continues with the others', async (_, wrong) => {
    const t = await start({ defs: ['good', 'bad'].map((name) => jobDef(name, quick, { schedules: hourly })) });
    const { job, code } = await t.engine.definition('bad');
    const edit = { do: 'edit', edit: { input: JSON.stringify({ code: { ...code, ...wrong }, override: null, build: 'b' }) } } as const;
    await apply(t.engine.jobs.store, job, edit, { by: 'someone' });
    await t.advance('2h');
    expect(await times(t, 'good')).toEqual(['01:00:00', '02:00:00']);
    expect(await times(t, 'bad')).toEqual([]);
    expect((await t.engine.history(job.id)).at(-1)).toMatchObject({
      kind: 'ticked', why: expect.stringMatching(/^(malformed|limit)\./), ticks: [{ skipped: 'refused' }],
    });
    expect((await t.engine.definition('bad')).isEnabled).toBe(true);
  });

  test('disables a definition that is not JSON when its run has ended, and continues with the others', async () => {
    const door = new Door();
    const slow = jobType('slow', { run: () => door.pass() });
    const schedules = every('10m', { from: 'finished' });
    const t = await start({ defs: ['bad', 'good'].map((name) => jobDef(name, slow, { schedules })) });
    await t.advance('10m');
    const { job } = await t.engine.definition('bad');
    const edit = { do: 'edit', edit: { input: job.input.slice(1) } } as const;
    await apply(t.engine.jobs.store, job, edit, { by: 'someone' });
    door.open();
    await t.advance('15m');
    expect(await times(t, 'good')).toHaveLength(2);
    expect((await t.engine.history(job.id)).at(-1)).toMatchObject({
      kind: 'paused', why: expect.stringContaining('cannot be read'),
    });
  });

  test('takes a run of a definition for what it is: it names its definition and its tick', async () => {
    const t = await withSchedules(hourly, { tags: { team: 'blue' } });
    await t.advance('1h');
    const { job } = await t.engine.definition('def');
    expect((await t.runs())[0]).toMatchObject({
      def: 'def', tags: { team: 'blue' }, tick: { def: job.id, schedule: 0, nominal: newYear + hour },
    });
  });
});

describe('a preview', () => {
  test('lists the next ticks of all schedules, from where they stand', async () => {
    const t = await withSchedules([every('45m'), hourly]);
    await t.advance('50m');
    const ticks = await t.engine.preview('def', { count: 4 });
    expect(ticks.map(({ shown, schedule }) => `${shown.slice(11, 16)} ${schedule}`)).toEqual([
      '01:00 1', '01:30 0', '02:00 1', '02:15 0',
    ]);
  });

  test('says what overlap would do to each, if a run lasts so long', async () => {
    const does = async (overlap: NonNullable<DefOptions<unknown>['overlap']>): Promise<string[]> => {
      const t = await withSchedules(hourly, { overlap });
      return (await t.engine.preview('def', { count: 4, runLasts: '90m' })).map((tick) => tick.does);
    };
    expect(await does('allow')).toEqual(['runs', 'runs', 'runs', 'runs']);
    expect(await does('skip')).toEqual(['runs', 'is skipped', 'runs', 'is skipped']);
    expect(await does('queue')).toEqual(['runs', 'waits', 'waits', 'waits']);
    expect(await does('replace')).toEqual(['runs', 'replaces', 'replaces', 'replaces']);
  });

  test('shows the effect of daylight saving, and of another policy', async () => {
    const t = await withSchedules(cron('30 2 * * *', { zone: 'Europe/Berlin' }), {}, '2026-03-28T12:00:00Z');
    const [gap] = await t.engine.preview('def', { count: 1 });
    expect(gap).toMatchObject({ note: 'gap', does: 'runs', remark: expect.stringContaining('does not exist') });
    const [skipped] = await t.engine.preview('def', { count: 1, policies: { gap: 'skip' } });
    expect(skipped).toMatchObject({ note: 'gap', does: 'is skipped' });
  });

  test('of what counts from the end of a run takes its length into account', async () => {
    const t = await withSchedules(every('1h', { from: 'finished' }));
    const ticks = await t.engine.preview('def', { count: 3, runLasts: '10m' });
    expect(ticks.map(({ shown }) => shown.slice(11, 16))).toEqual(['01:00', '02:10', '03:20']);
  });

  test('comes true', async () => {
    const t = await withSchedules([cron('*/7 * * * *'), every('11m')]);
    const foreseen = await t.engine.preview('def', { count: 20 });
    await t.advance('3h');
    const ran = (await ticksOf(t.engine, 'def')).filter((tick) => 'run' in tick).slice(0, 20);
    expect(ran.map(({ nominal, schedule }) => [nominal, schedule])).toEqual(foreseen.map(
      ({ nominal, schedule }) => [nominal, schedule],
    ));
  });
});

test('a run by hand starts at once, whatever the schedules say, and leaves them as they are', async () => {
  const def = jobDef('def', quick, { schedules: hourly });
  const t = await start({ defs: [def] });
  const { nextDue } = await t.engine.definition('def');
  const run = await t.createJobRun(def);
  await t.drain();
  expect(runState(await run.get())).toBe('DONE');
  expect(kindsOf(await t.engine.history((await t.engine.definition('def')).job.id))).toEqual(['created']);
  expect((await t.engine.definition('def')).nextDue).toBe(nextDue);
});

test('a definition that takes no manual runs says so', async () => {
  const def = jobDef('def', quick, { schedules: hourly, manualRuns: false });
  const t = await start({ defs: [def] });
  expect(await refused(t.createJobRun(def))).toBe('manual.forbidden');
});

test('a handler gets the time of its tick in every attempt and task, and null without a tick', async () => {
  const seen: (string | null)[] = [];
  const failing = jobType('failing', {
    retry: { attempts: 2, base: '1h', jitter: 0 },
    taskDetails: () => ['a'],
    taskResults: ({ run }) => {
      seen.push(run.tickTime?.toISOString() ?? null);
      throw new Error('not yet');
    },
  });
  const t = await start({ defs: [jobDef('daily', failing, { schedules: cron('50 23 * * *') })] });
  await t.advance('26h');
  expect(seen).toEqual(['2026-01-01T23:50:00.000Z', '2026-01-01T23:50:00.000Z']);
  await t.createJobRun(failing);
  await t.drain();
  expect(seen.at(-1)).toBe(null);
});

test('runs() of the test engine returns more than a thousand runs', async () => {
  const plain = jobType('plain', { run: () => null });
  const t = await start({ types: [plain] });
  await t.engine.createJobRuns(plain, Array.from({ length: 1_001 }, () => ({})));
  expect(await t.runs(plain)).toHaveLength(1_001);
});
