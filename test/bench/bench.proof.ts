// The bench with tiny sizes: it completes, and every row has a finite figure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Row } from '../../bench/rounds.ts';
import { workloads } from '../../bench/workloads.ts';
import { serverUrl } from '../support/fresh-database.ts';
import { runBench } from './run-bench.ts';

test('the bench measures every workload on every database, with its raw limit', async () => {
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
    for (const database of ['sqlite', 'postgres']) {
      const seen = rows.filter((row) => row.database === database).map((row) => row.workload);
      expect([...new Set(seen)]).toEqual(workloads.map(({ name }) => name));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
