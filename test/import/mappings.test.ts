// How jobs and schedules of other systems are read: order, due time, attempts left, keys, and what is left out.
import { describe, expect, test } from 'vitest';
import { foreignSchedule as bullmqSchedule, Line, type FoundEntry } from '../../src/import/bullmq.ts';
import { cronEntry } from '../../src/import/cron-dialect.ts';
import { readCrontab } from '../../src/import/crontab.ts';
import { foundIn as graphileJob } from '../../src/import/graphile-worker.ts';
import { importRequestOf } from '../../src/import/import-request.ts';
import { foreignSchedule as pgBossSchedule, foundIn as pgBossJob } from '../../src/import/pg-boss.ts';
import type { ForeignJob } from '../../src/import/source.ts';
import { checkTags } from '../../src/jobs/checks/values.ts';
import { nextCron, parseCron } from '../../src/time/cron.ts';

describe('pg-boss', () => {
  const row = {
    id: 'a', name: 'mail', state: 'created', data: { to: 1 }, priority: 3, retry_limit: 2, retry_count: 0,
    started_on: null, start_after: new Date(1_000), singleton_key: null, blocked: false, blocking: false,
  };

  test('a job keeps its priority, and one that never started has all attempts', () => {
    expect(pgBossJob(row, false)).toEqual({ id: 'a', queue: 'mail', payload: { to: 1 }, due: 1_000, priority: 3, attemptsLeft: 3 });
  });

  test('a started job has the attempts that its retries left, and its key', () => {
    const started = { ...row, state: 'retry', retry_count: 1, started_on: new Date(5), singleton_key: 'k' };
    expect(pgBossJob(started, false)).toMatchObject({ attemptsLeft: 1, key: 'k' });
  });

  test.each([
    ['active', { state: 'active' }, 'active'],
    ['blocked', { blocked: true }, 'flow'],
    ['blocking', { blocking: true }, 'flow'],
    ['internal', { name: '__pgboss__send-it' }, 'internal'],
  ])('a job that is %s is left out', (_, fields, reason) => {
    expect(pgBossJob({ ...row, ...fields }, false)).toMatchObject({ leftOut: reason });
  });

  test('an active job is imported on request, with one attempt at least', () => {
    const active = { ...row, state: 'active', retry_count: 2, started_on: new Date(5) };
    expect(pgBossJob(active, true)).toMatchObject({ id: 'a', attemptsLeft: 1 });
  });

  test('a schedule has the name of its queue and key, its zone and options', () => {
    const schedule = { name: 'mail', key: 'eu', kind: 'cron', cron: '0 3 * * *', timezone: 'Europe/Berlin', data: { a: 1 },
      options: { priority: 2, retryLimit: 4 } };
    expect(pgBossSchedule(schedule)).toEqual({
      name: 'mail eu', queue: 'mail', schedule: { cron: '0 3 * * *', zone: 'Europe/Berlin' }, payload: { a: 1 }, priority: 2, attempts: 5,
    });
    expect(pgBossSchedule({ name: 'mail', cron: '* * * * *', timezone: 'UTC', data: null, options: null }))
      .toMatchObject({ name: 'mail', schedule: { cron: '* * * * *' } });
    expect(pgBossSchedule({ ...schedule, kind: 'rrule' }).schedule).toContain('RRULE');
  });
});

describe('graphile-worker', () => {
  const row = { id: '7', identifier: 'mail', payload: {}, priority: 5, run_at: new Date(9), attempts: 2, max_attempts: 25, key: null, locked_at: null };

  test('the lowest number is the highest priority, and attempts are counted when they start', () => {
    expect(graphileJob(row, false)).toEqual({ id: '7', queue: 'mail', payload: {}, due: 9, priority: -5, attemptsLeft: 23 });
    expect(graphileJob({ ...row, key: 'k', priority: -2 }, false)).toMatchObject({ key: 'k', priority: 2 });
  });

  test('a job that is executed is left out, or imported with the attempt that it makes', () => {
    const active = { ...row, locked_at: new Date(3), attempts: 25 };
    expect(graphileJob(active, false)).toEqual({ queue: 'mail', leftOut: 'active' });
    expect(graphileJob(active, true)).toMatchObject({ attemptsLeft: 1 });
  });

  test('a job that is never due has a time that no run can have', () => {
    expect(graphileJob({ ...row, run_at: Infinity }, false)).toMatchObject({ due: Infinity });
  });

  test('a crontab is read with its options and payloads', () => {
    const read = readCrontab('# nightly\n\n0 4 * * * send_mail ?id=night&fill=1d2h&max=3&priority=4 {"to":"ops"}\n*/5 * * * * sweep\r\n');
    expect(read).toEqual([
      { name: 'night', queue: 'send_mail', schedule: { cron: '0 4 * * *' }, payload: { to: 'ops' }, priority: -4, attempts: 3,
        misfire: { policy: 'all', window: '93600000ms' } },
      { name: 'sweep', queue: 'sweep', schedule: { cron: '*/5 * * * *' }, payload: {} },
    ]);
  });

  test.each([
    ['0 0 */2 * 1', '0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * 1'],
    ['0 0 1-31 * 7', '0 0 * * 0'],
    ['0 0 1 * 0-6', '0 0 1 * *'],
    ['0 0 1 * 5-7', '0 0 1 * 0,5,6'],
  ])('the days of %s are those of %s', (given, meant) => {
    expect(readCrontab(`${given} task`)[0]!.schedule).toEqual({ cron: meant });
  });

  test.each(['every day task', '0 4 * * * task {to: 1}', '@daily task'])('the line "%s" is reported', (line) => {
    expect(readCrontab(`\n${line}`)).toMatchObject([{ name: 'line 2', schedule: expect.stringContaining(line) as string }]);
  });
});

describe('BullMQ', () => {
  const now = 5_000;
  const entry = (fields: Partial<FoundEntry>, hash: Record<string, string> = {}): FoundEntry => ({
    queue: 'mail', id: '1', score: null, place: 'wait', ...fields,
    hash: { name: 'make', data: '{"to":1}', opts: '{"attempts":5}', timestamp: '1000', priority: '0', ...hash },
  });
  const found = (fields: Partial<FoundEntry>, hash?: Record<string, string>) => new Line(now).found(entry(fields, hash), false);

  test('a waiting job has its attempts, and priority 1 comes after none', () => {
    expect(found({}, { atm: '2', deid: 'd' })).toEqual([
      { id: '1', addedAt: 1_000, queue: 'mail', name: 'make', payload: { to: 1 }, due: 1_000, priority: -0, attemptsLeft: 3, key: 'd' },
    ]);
    expect(found({ place: 'prioritized', score: 1 }, { priority: '1' })).toMatchObject([{ priority: -1 }]);
    expect(found({}, { opts: '{}' })).toMatchObject([{ attemptsLeft: 1 }]);
    expect(found({}, { attemptsMade: '2' })).toMatchObject([{ attemptsLeft: 3 }]);
    expect(found({}, { atm: '9' })).toMatchObject([{ attemptsLeft: 1 }]);
  });

  test('a delayed job is due when its score says', () => {
    expect(found({ place: 'delayed', score: 123_456 * 4_096 + 17 })).toMatchObject([{ due: 123_456 }]);
  });

  test('jobs keep the order of their list, though one was added in front', () => {
    const line = new Line(now);
    const times = ['3000', '1000', '2000', '4000'].map((timestamp, id) =>
      (line.found(entry({ id: String(id) }, { timestamp }), false)[0] as ForeignJob).due);
    expect(times).toEqual([3_000, 3_000, 3_000, 4_000]);
    const urgent = entry({ place: 'prioritized', score: 1 }, { timestamp: '2500', priority: '1' });
    expect(line.found(urgent, false)).toMatchObject([{ due: 2_500 }]);
  });

  test.each([
    ['is active', { place: 'active' as const }, {}, 'active'],
    ['is the next of a scheduler', { place: 'delayed' as const, score: (now + 1) * 4_096 }, { rjk: 'night' }, 'schedule'],
    ['waits for children', { place: 'waiting-children' as const, score: 1 }, {}, 'flow'],
    ['has a parent', {}, { parentKey: 'bull:q:1' }, 'flow'],
    ['has data that is not JSON', {}, { data: '{to:1}' }, 'unreadable'],
    ['has options that are not JSON', {}, { opts: 'none' }, 'unreadable'],
  ])('a job that %s is left out', (_, fields, hash, reason) => {
    expect(found(fields, hash)).toEqual([{ queue: 'mail', leftOut: reason }]);
  });

  test.each([
    ['waits', { place: 'wait' as const }, {}],
    ['waits with a priority', { place: 'prioritized' as const, score: 2 ** 32 + 1 }, { priority: '1' }],
    ['is due', { place: 'delayed' as const, score: now * 4_096 }, {}],
    ['waits for its retry', { place: 'delayed' as const, score: (now + 1) * 4_096 }, { atm: '1' }],
  ])('a job of a scheduler that %s is imported: the definition creates only later ones', (_, fields, hash) => {
    expect(found(fields, { rjk: 'night', ...hash })).toMatchObject([{ id: '1', payload: { to: 1 } }]);
  });

  test('an id without a job is nothing', () => {
    expect(new Line(now).found({ ...entry({}), hash: {} }, false)).toEqual([]);
  });

  test('a scheduler has its pattern in its zone, or its interval; limits and dates have no counterpart', () => {
    const schedule = (hash: Record<string, string>) => bullmqSchedule('mail', 'night', { name: 'make', ...hash }, 'America/Lima').schedule;
    expect(schedule({ pattern: '0 3 * * *', tz: 'Europe/Berlin' })).toEqual({ cron: '0 3 * * *', zone: 'Europe/Berlin' });
    expect(schedule({ pattern: '0 3 * * *' })).toEqual({ cron: '0 3 * * *', zone: 'America/Lima' });
    expect(schedule({ every: '5000' })).toEqual({ every: 5_000 });
    for (const field of ['limit', 'endDate', 'startDate']) expect(schedule({ every: '5000', [field]: '9' })).toEqual(expect.any(String));
    expect(schedule({})).toEqual(expect.any(String));
    expect(schedule({ every: '5000', data: '{' })).toContain('not JSON');
  });

  test('a repeatable job has the data, options and limit of its next job, and is refused without that job', () => {
    const hash = { name: 'make', pattern: '0 3 * * *' };
    const schedule = (next: Record<string, string>) => bullmqSchedule('mail', 'night', hash, 'UTC', next);
    expect(schedule({ name: 'make', data: '{"to":1}', opts: '{"attempts":4,"repeat":{"count":1,"pattern":"0 3 * * *"}}' }))
      .toMatchObject({ schedule: { cron: '0 3 * * *' }, payload: { to: 1 }, attempts: 4 });
    expect(schedule({ name: 'make', opts: '{"repeat":{"limit":3}}' }).schedule).toContain('limit');
    expect(schedule({}).schedule).toContain('next job');
  });
});

test('a step over all days restricts the days, as in cron-parser', () => {
  const cron = (cronEntry('0 0 */2 * 1', 'UTC') as { readonly cron: string }).cron;
  expect(cron).toBe('0 0 1-31/2 * 1');
  // 2 January 2023 is an even day and a Monday.
  expect(nextCron(parseCron(cron), { zone: 'UTC' }, Date.UTC(2023, 0, 1))?.at).toBe(Date.UTC(2023, 0, 2));
  expect(cronEntry('30 0 0 * * */2', 'UTC')).toEqual({ cron: '30 0 0 * * */2' });
});

test('a job that was given the id of an earlier one has another key', () => {
  const job: ForeignJob = { id: 'a', queue: 'q', payload: null, due: 1, priority: 0, attemptsLeft: 1 };
  const keyOf = (addedAt: number) => (importRequestOf({ system: 'bullmq', place: 'p' }, { ...job, addedAt }).unique as { readonly key: string }).key;
  expect(keyOf(1)).not.toBe(keyOf(2));
});

test('a run can have the tags of a job with any id and name', () => {
  const job: ForeignJob = { id: '\0', name: `${'x'.repeat(48)}${'😀'.repeat(60)}`, queue: 'q', payload: null, due: 1, priority: 0, attemptsLeft: 1 };
  const tags = importRequestOf({ system: 'bullmq', place: 'p' }, job).tags!;
  expect(checkTags(tags)).toEqual({ imported: 'bullmq', importedId: '\uFFFD', importedName: `${'x'.repeat(48)}\uFFFD…` });
});

test('the key of a run names system, place, queue and id, whatever characters these have', () => {
  const job: ForeignJob = { id: 'a', queue: 'q', payload: null, due: 1, priority: -0, attemptsLeft: 1 };
  const keyOf = (place: string, queue: string, id: string) =>
    (importRequestOf({ system: 'bullmq', place }, { ...job, queue, id }).unique as { readonly key: string }).key;
  const keys = [keyOf('p', 'q', 'a'), keyOf('p', 'q a', ''), keyOf('p q', 'a', ''), keyOf('p', 'q', 'x'.repeat(600)), keyOf('p', 'q', 'x'.repeat(601))];
  expect(new Set(keys).size).toBe(keys.length);
  expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(512);
  expect(Object.is(importRequestOf({ system: 'bullmq', place: '' }, job).priority, 0)).toBe(true);
});
