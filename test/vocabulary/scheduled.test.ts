// Scheduled jobs: the lock, with its owner and transition. The states of their tasks are in the table.
import { describe, expect, test } from 'vitest';
import { lockOf } from '../../src/vocabulary/scheduled.ts';
import { bornAt, cancel, claim, made, pause, plan, settle, succeed } from './made.ts';

const withTasks = { first: { phase: 'prepare' } } as const;
const def = { kind: 'def', def: 'mail' } as const;
const until = bornAt + 30_000;
const unlocked = { owner: null, expires: null, state: null };

describe('the lock of a job', () => {
  test.each([
    ['run', made({}, [0, claim('w1', until)])],
    ['prepare', made(withTasks, [0, claim('w1', until)])],
    ['gather', made(withTasks, [0, claim()], [1, plan(1)], [2, settle()], [3, claim('w1', until)])],
  ])('names its owner, its end and the phase %s', (state, { job }) => {
    expect(lockOf(job)).toEqual({ owner: 'w1', expires: until, state });
  });

  test('has no end where the lease lasts as long as its holder', () => {
    expect(lockOf(made({}, [0, claim('w1')]).job)).toEqual({ owner: 'w1', expires: null, state: 'run' });
  });

  test('is free whenever no worker holds the job', () => {
    const idle = [
      made({}),
      made({}, [0, pause()]),
      made(withTasks, [0, claim()], [1, plan(1)]),
      made({}, [0, claim()], [1, succeed()]),
    ];
    expect(idle.map(({ job }) => lockOf(job))).toEqual(idle.map(() => unlocked));
  });
});

describe('the lock of a definition', () => {
  test('is open from its first moment on: it is created and planned at once', () => {
    expect(lockOf(made(def).job)).toEqual(unlocked);
    expect(lockOf(made(def, [0, pause()]).job)).toEqual(unlocked);
  });

  test('says tick while it is claimed, and disable once that is requested', () => {
    const held = made(def, [0, claim('w1', until)]);
    const asked = made(def, [0, claim('w1', until)], [1, cancel()]);
    expect([lockOf(held.job).state, lockOf(asked.job).state]).toEqual(['tick', 'disable']);
  });
});
