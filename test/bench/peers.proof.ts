// The peers bench with tiny sizes and only Stint: tests install nothing from the network.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flowShapes } from '../../bench/peers/flow.ts';
import type { PeersData } from '../../bench/results/data.ts';
import { serverUrl } from '../support/fresh-database.ts';
import { runBench } from './run-bench.ts';

const flowFigures = flowShapes.flatMap((shape) => [`flow ${shape}`, `create flow ${shape}`, `time of flow ${shape}`]);

test('every measure is taken of our engine', () => {
  const { figures, failures, verdicts } = measure('engine on SQLite');
  expect(failures).toEqual([]);
  expect(figures.map(({ figure }) => figure)).toEqual([
    'create single', 'create in flight', 'create bulk', 'drain 1', 'drain CPU', 'drain memory', 'drain 2',
    'pick-up here p50', 'pick-up here p95', 'pick-up elsewhere p50', 'pick-up elsewhere p95', 'fan-out',
    ...flowFigures, 'idle CPU', 'idle memory',
  ]);
  for (const { figure, median } of figures) expect(median, figure).toBeGreaterThan(0);
  expect(verdicts.map(({ figure }) => figure)).toContain('fan-out');
});

test('the queries of an idle engine on PostgreSQL are counted', async () => {
  const { figures } = measure('engine on PostgreSQL,idle', '--store', await serverUrl());
  expect(figures.map(({ figure }) => figure)).toEqual(['idle queries', 'idle CPU', 'idle memory']);
});

test('jobs in transactions and steps are measured, also with a library for the transactions', async () => {
  const { figures, failures } = measure('engine on PostgreSQL,Knex,in a transaction,steps', '--store', await serverUrl());
  expect(failures).toEqual([]);
  const transactions = [
    'in a transaction p50', 'in a transaction p95', 'create in a transaction p50', 'create in a transaction p95',
    'commit to start p50', 'commit to start p95', 'commit to start max',
  ];
  const figuresOf = (name: string): string[] => figures.filter(({ peer }) => peer === name).map(({ figure }) => figure);
  expect(figuresOf('Stint by Knex')).toEqual(transactions);
  expect(figuresOf('Stint engine on PostgreSQL')).toEqual([...transactions, 'steps', 'steps of one run', 'bytes per step']);
  // A few steps take less than a page of the database.
  for (const { figure, median } of figures) if (figure !== 'bytes per step') expect(median, figure).toBeGreaterThan(0);
});

test('flows and batches are measured on PostgreSQL', async () => {
  const { figures, failures } = measure('engine on PostgreSQL,Stint batches,flow shapes,batch drain', '--store', await serverUrl());
  expect(failures).toEqual([]);
  expect(figures.map(({ figure }) => figure)).toEqual([...flowFigures, 'batch drain']);
  const runs = figures.flatMap(({ jobs }) => jobs ?? []);
  expect(runs).toEqual([41, 41, 40, 4, 40]);
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
