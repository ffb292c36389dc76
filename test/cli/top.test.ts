// The frame of `stint top`: it fits the screen, and texts of jobs cannot control the terminal.
import { expect, test } from 'vitest';
import { countEnding, takePerSecond, type EndingCounts } from '../../src/cli/ending-rates.ts';
import { frameOf, type FrameLine, type Moment } from '../../src/cli/top-frame.ts';
import { kinds } from '../../src/model/state.ts';
import type { Changed, RunView } from '../../src/http/contract.ts';
import { runView } from '../../src/http/views.ts';
import { Engine, jobType } from '../../src/index.ts';

const textOf = (line: FrameLine): string => line.map(({ text }) => text).join('');

async function aRun(type: string): Promise<RunView> {
  await using engine = new Engine({ store: 'memory:', types: [jobType('known', { run: () => {} })] });
  const { id } = await engine.createNamed({ type }, {});
  const tasks = { total: 10, succeeded: 4, failed: 1, cancelled: 0 };
  return runView((await engine.jobs.get(id))!, 'full', { tasks });
}

async function moment(type = 'mail.send'): Promise<Moment> {
  const one = {
    id: 'one', isAlive: true, isSelf: false, startedAt: 0, beatAt: 9_000, leaseUntil: 20_000, host: 'h', pid: 1, version: '1',
    types: [type], slots: 4, busy: 2, isDraining: false, canary: null, isLeader: false,
  };
  return {
    now: 10_000,
    store: 'sqlite:jobs.db',
    instances: [one, { ...one, id: 'gone', isAlive: false }],
    tallies: [
      { kind: 'run', type, standing: 'pending', count: 3 },
      { kind: 'run', type, standing: 'running', count: 1 },
    ],
    rates: new Map([[type, { succeeded: 12.34, failed: 1, cancelled: 0.5 }]]),
    running: [await aRun(type)],
    oldestDue: 4_000,
  };
}

test('the head shows instances, slots, states, rates and the longest wait', async () => {
  const [, second, third] = frameOf(await moment(), { columns: 120, rows: 30 }).map(textOf);
  expect(second).toMatch(/instances 1 +slots ██████░░░░░░ 2\/4 +pending 3 +held 0 +running 1/);
  expect(third).toMatch(/succeeded\/s 12.3 +failed\/s 1.0 +cancelled\/s 0.5 +longest wait 6s/);
});

test('each type and each run has a line; runs with tasks have a bar', async () => {
  const lines = frameOf(await moment(), { columns: 160, rows: 30 }).map(textOf);
  expect(lines.find((line) => line.startsWith('mail.send'))).toMatch(/mail.send +3 +0 +1 +12.3 +1.0/);
  expect(lines.find((line) => line.includes('5/10'))).toMatch(/mail.send.*████████░░░░░░░░ 5\/10, 1 failed/);
});

test('a run that has ended since it was listed is shown with its fate, not as one with tasks', async () => {
  const { running: [listed], ...now } = await moment();
  const ended: RunView = { ...listed!, state: 'ended', standing: 'failed' };
  const lines = frameOf({ ...now, running: [ended] }, { columns: 160, rows: 30 }).map(textOf);
  expect(lines.find((line) => line.includes('5/10'))).toMatch(/failed$/);
  expect(lines.join('\n')).not.toContain('running tasks');
});

test.each([
  [20, 5],
  [80, 24],
  [1, 2],
])('the frame fits a screen of %i × %i', async (columns, rows) => {
  const lines = frameOf(await moment(), { columns, rows }).map(textOf);
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(lines.slice(0, -1).every((line) => line.length <= columns)).toBe(true);
});

test('only jobs are counted, and a cancelled job has not failed', () => {
  const counts: EndingCounts = new Map();
  const count = (kind: Changed['kind'], ending: string): void =>
    countEnding(counts, { job: 1, kind, type: 'x', def: null, parent: null, event: { n: 2, at: 0, by: 'x', why: null, kind: ending, data: {} } });
  for (const kind of kinds) count(kind, 'succeeded');
  count('run', 'claimed');
  count('run', 'cancelled');
  expect(takePerSecond(counts, 1)).toEqual(new Map([['x', { succeeded: 3, failed: 0, cancelled: 1 }]]));
  expect(takePerSecond(counts, 1)).toEqual(new Map([['x', { succeeded: 0, failed: 0, cancelled: 0 }]]));
});

test('no control character reaches the terminal', async () => {
  const lines = frameOf({ ...(await moment()), store: 'a\u001b[2Jb' }, { columns: 200, rows: 30 }).map(textOf);
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f]/);
  expect(lines.join('')).toContain('a\\u001b[2Jb');
});
