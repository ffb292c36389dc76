// The bars with tiny sizes: every measure completes, with finite values on every database.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Bar } from '../../bench/bars/bar.ts';
import { serverUrl } from '../support/fresh-database.ts';
import { runBench } from './run-bench.ts';

test('sleeping runs and the inbox are measured on every database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  try {
    const json = join(folder, 'bars.json');
    const only = ['--only', 'sleeping,inbox'];
    const { stderr, status } = runBench('bars.ts', '--tiny', ...only, '--json', json, '--store', await serverUrl());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { bars } = JSON.parse(readFileSync(json, 'utf8')) as { bars: Bar[] };
    for (const database of ['sqlite', 'postgres']) {
      const own = bars.filter((bar) => bar.database === database);
      expect(own.map(({ title }) => title)).toEqual([
        '100 sleeping runs, to delayed ones: bytes',
        '100 sleeping runs, to snoozed ones: bytes',
        '100 sleeping runs, to delayed ones: bytes with dead rows',
        '100 sleeping runs, to delayed ones: claims of other runs',
        '100 sleeping runs, to delayed ones: CPU of an idle instance',
        '100 sleeping runs, to delayed ones: drain when due',
        '1,000 requests of the inbox that become runs, to runs created in bulk',
      ]);
      for (const { value, title } of own) expect(value, title).toBeGreaterThan(0);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
