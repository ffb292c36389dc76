// A storm over SQLite: four processes on one file, killed again and again.
import { expect, test } from 'vitest';
import { sqliteGround } from './ground.ts';
import { sqliteSize } from './sizes.ts';
import { storm } from './storm.ts';

test('nothing is lost, doubled or stuck, and the file is sound, while its processes are killed', async () => {
  const report = await storm(sqliteGround, sqliteSize);
  console.log(JSON.stringify(report));
  expect(report.violations).toEqual([]);
  expect(report.faults.kills).toBeGreaterThanOrEqual(120);
  expect(report.lapses).toBeGreaterThan(0);
}, 900_000);
