// The peers bench with tiny sizes and only Stint: tests install nothing from the network.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verdictsOn } from '../../bench/peers/goals.ts';
import type { Figure } from '../../bench/peers/comparison.ts';
import type { FigureName, Unit } from '../../bench/peers/reading.ts';
import type { PeersData } from '../../bench/results/data.ts';
import { serverUrl } from '../support/fresh-database.ts';
import { runBench } from './run-bench.ts';

test('every measure is taken of our engine', () => {
  const { figures, failures, verdicts } = measure('engine on SQLite');
  expect(failures).toEqual([]);
  expect(figures.map(({ figure }) => figure)).toEqual([
    'create single', 'create in flight', 'create bulk', 'drain 1', 'drain CPU', 'drain memory', 'drain 2',
    'pick-up here p50', 'pick-up here p95', 'pick-up elsewhere p50', 'pick-up elsewhere p95', 'fan-out',
    'idle CPU', 'idle memory',
  ]);
  for (const { figure, median } of figures) expect(median, figure).toBeGreaterThan(0);
  expect(verdicts.map(({ figure }) => figure)).toContain('fan-out');
});

test('the queries of an idle engine on PostgreSQL are counted', async () => {
  const { figures } = measure('engine on PostgreSQL,idle', '--store', await serverUrl());
  expect(figures.map(({ figure }) => figure)).toEqual(['idle queries', 'idle CPU', 'idle memory']);
});

/** Runs the bench with only our peers, and returns its JSON file. */
function measure(only: string, ...more: string[]): PeersData {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  try {
    const json = join(folder, 'peers.json');
    const { stderr, status } = runBench('peers/main.ts', '--tiny', '--ours', '--only', only, '--json', json, ...more);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return JSON.parse(readFileSync(json, 'utf8')) as PeersData;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an unknown name is refused with the list of known names', () => {
  const { stderr, status } = runBench('peers/main.ts', '--only', 'rabbit');
  expect(status).toBe(1);
  expect(stderr).toContain('--only rabbit matches none of: Stint engine on PostgreSQL');
});

test('a goal compares with the best peer on the same database, for units where higher or lower is better', () => {
  const figures = [
    figure('Stint engine on PostgreSQL', 'drain 1', 'jobs/s', 1_300),
    figure('slow', 'drain 1', 'jobs/s', 100),
    figure('quick', 'drain 1', 'jobs/s', 1_000),
    { ...figure('elsewhere', 'drain 1', 'jobs/s', 9_000), database: 'redis' as const },
    figure('Stint engine on PostgreSQL', 'drain CPU', 'µs', 60),
    figure('slow', 'drain CPU', 'µs', 50),
    figure('quick', 'drain CPU', 'µs', 40),
  ];
  expect(verdictsOn(figures)).toMatchObject([
    { figure: 'drain 1', against: 'quick', got: 1.3, want: 1.2, isReached: true },
    { figure: 'drain CPU', against: 'quick', got: 1.5, want: 1, isReached: false },
  ]);
});

test('a goal compares with another figure of ours, or with a number', () => {
  const figures = [
    figure('Stint engine on PostgreSQL', 'drain 1', 'jobs/s', 1_000),
    figure('Stint engine on PostgreSQL', 'fan-out', 'jobs/s', 970),
    figure('Stint engine on PostgreSQL', 'drain memory', 'MB', 201),
    figure('Stint store on PostgreSQL', 'drain memory', 'MB', 90),
  ];
  expect(verdictsOn(figures)).toMatchObject([
    { figure: 'fan-out', got: 0.97, isReached: true, isMoonshot: true },
    { figure: 'drain memory', got: 201, store: 90, baseline: null, isReached: false },
  ]);
});

function figure(peer: string, name: FigureName, unit: Unit, median: number): Figure {
  const isOurs = peer.startsWith('Stint');
  return { peer, database: 'postgres', isOurs, figure: name, unit, median, rounds: [median], cpu: null };
}
