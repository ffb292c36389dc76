// The bench with sizes too small to mean anything: it runs to its end and has a finite figure in every row.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Row } from '../../bench/rounds.ts';
import { workloads } from '../../bench/workloads.ts';
import { serverUrl } from '../support/fresh-database.ts';
import { runBench } from './run-bench.ts';

test('the bench measures every workload on every engine beside its limit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  try {
    const json = join(folder, 'figures.json');
    const { stdout, stderr, status } = runBench('main.ts', '--tiny', '--json', json, '--store', await serverUrl());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { rows } = JSON.parse(readFileSync(json, 'utf8')) as { rows: Row[] };
    for (const row of rows) {
      expect(stdout).toContain(row.title);
      for (const value of [row.ours.median, ...(row.limit ? [row.limit.median, row.ratio] : [])]) {
        expect(value, row.title).toBeGreaterThan(0);
        expect(value, row.title).toBeLessThan(Infinity);
      }
    }
    for (const engine of ['sqlite', 'postgres']) {
      const seen = rows.filter((row) => row.engine === engine).map((row) => row.workload);
      expect([...new Set(seen)]).toEqual(workloads.map(({ name }) => name));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a word that means nothing is refused with the words that do', () => {
  const { stderr, status } = runBench('main.ts', '--only', 'sqlight');
  expect(status).toBe(1);
  expect(stderr).toContain('--only sqlight means none of: sqlite, postgres, create single');
});

