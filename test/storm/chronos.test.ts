// Schedules while their leader is killed: every tick has its run or its recorded skip (S18, S19).
import { expect, test } from 'vitest';
import { chronos } from './chronos/chronos.ts';

test('every tick has one run that was there, or a recorded skip, however often the leader is killed', async () => {
  const report = await chronos({ ticks: 200, leaderKills: 12 });
  console.log(JSON.stringify(report));
  expect(report.violations).toEqual([]);
  expect(report.ticks).toBeGreaterThanOrEqual(200);
  expect(report.leaderKills).toBeGreaterThanOrEqual(12);
}, 900_000);
