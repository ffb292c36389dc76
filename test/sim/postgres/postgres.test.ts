// The simulator on PostgreSQL in every test run: one short seed, twice. npm run prove has the campaign.
import { expect, onTestFinished, test } from 'vitest';
import { bySize } from '../../support/size.ts';
import { reportText } from '../report.ts';
import { simulate } from '../simulation.ts';
import { startSimulationServer } from './database.ts';

const chaosMs = bySize({ small: 10_000, ci: 240_000 });

test('a seed keeps every promise on PostgreSQL, with the same history each time', async () => {
  const server = await startSimulationServer();
  onTestFinished(() => server.stop());
  const options = { chaosMs, postgresServer: server.url };
  const first = await simulate(5, options);
  expect(first.violations, reportText(first)).toEqual([]);
  expect(first.faults.length).toBeGreaterThan(0);
  const second = await simulate(5, options);
  expect(second.trace).toBe(first.trace);
});
