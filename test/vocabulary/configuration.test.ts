// Job configurations: what a definition shows of itself and its runs. The status of one run is in the table.
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../src/model/job.ts';
import { configurationOf, type Configuration } from '../../src/vocabulary/configuration.ts';
import {
  bornAt, broken, cancel, claim, fail, made, pause, plan, resume, settle, stop, succeed, type Made,
} from './made.ts';

const next = bornAt + 3_600_000;
const planned = (...times: (number | null)[]): Plan => ({
  schedules: times.map((time) => ({
    activated: bornAt,
    lastNominal: null,
    next: time === null ? null : { nominal: time, due: time },
    run: null,
  })),
});
const being = { kind: 'def', id: 1, def: 'mail', first: { due: next, plan: planned(next, null) } } as const;
const enabled = made(being);
const disabled = made(being, [0, pause()]);
const shown = (def: Made, ...runs: Made[]): Configuration => configurationOf(def.job, runs.map(({ job }) => job));

describe('a definition without runs', () => {
  test('is SCHEDULED for its next time and was NOT_STARTED', () => {
    expect(shown(enabled)).toEqual({
      status: 'SCHEDULED',
      lastExecuted: null,
      lastExecutedStatus: 'NOT_STARTED',
      lastRun: null,
      nextExecutionTime: next,
    });
  });

  test('is DISABLED when it is switched off, with no next time, and SCHEDULED when switched on again', () => {
    expect(shown(disabled)).toMatchObject({ status: 'DISABLED', nextExecutionTime: null });
    const resumed = made(being, [0, pause()], [1, resume()]);
    expect(shown(resumed)).toMatchObject({ status: 'SCHEDULED', nextExecutionTime: next });
  });

  test('is DISABLED when it is gone', () => {
    expect(shown(made(being, [0, stop()]))).toMatchObject({ status: 'DISABLED', nextExecutionTime: null });
  });

  test('has no next time when nothing is planned', () => {
    for (const first of [{ due: next }, { due: next, plan: planned() }, { due: next, plan: planned(null) }]) {
      expect(shown(made({ ...being, first }))).toMatchObject({ status: 'SCHEDULED', nextExecutionTime: null });
    }
  });
});

describe('a definition with runs', () => {
  const completed = made({ id: 10 }, [0, claim()], [5, succeed()]);
  const pending = made({ id: 11 });
  const running = made({ id: 12 }, [100, claim()]);

  test.each([
    ['COMPLETED', completed],
    ['FAILED', made({ id: 10 }, [0, claim()], [5, fail(broken, false)])],
    ['STOPPED', made({ id: 10 }, [0, claim()], [5, stop()])],
  ])('shows the outcome %s, when and of which run', (lastExecutedStatus, run) => {
    expect(shown(enabled, run)).toEqual({
      status: 'SCHEDULED', lastExecuted: bornAt, lastExecutedStatus, lastRun: 10, nextExecutionTime: next,
    });
  });

  test('is SCHEDULED while its run waits', () => {
    const expected = { status: 'SCHEDULED', lastExecuted: null, lastExecutedStatus: 'NOT_STARTED' };
    expect(shown(enabled, pending)).toMatchObject(expected);
  });

  test('is RUNNING while one of its runs is, with the outcome of the run before', () => {
    const expected = { status: 'RUNNING', lastExecuted: bornAt + 100, lastExecutedStatus: 'COMPLETED', lastRun: 12 };
    expect(shown(enabled, running, completed)).toMatchObject(expected);
    expect(shown(enabled, completed, running, pending)).toMatchObject(expected);
  });

  test('is RUNNING through all phases of a run, also while it is asked to cancel', () => {
    const withTasks = { first: { phase: 'prepare' } } as const;
    const way = [
      made(withTasks, [0, claim()]),
      made(withTasks, [0, claim()], [1, plan(2)]),
      made(withTasks, [0, claim()], [1, plan(2)], [2, cancel()]),
      made(withTasks, [0, claim()], [1, plan(2)], [3, settle()]),
      made(withTasks, [0, claim()], [1, plan(2)], [3, settle()], [4, claim()]),
    ];
    expect(way.map((run) => shown(enabled, run).status)).toEqual(way.map(() => 'RUNNING'));
  });

  test('is RUNNING even when it was disabled since, and DISABLED when the run has ended', () => {
    expect(shown(disabled, running).status).toBe('RUNNING');
    expect(shown(disabled, completed).status).toBe('DISABLED');
  });
});
