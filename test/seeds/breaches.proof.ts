// Plants each breach of the seeds and expects the tests of its statements to fail, on every store.
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { postgresOnDemand, type PostgresOnDemand } from '../support/postgres-on-demand.ts';
import { breaches } from './breaches.ts';
import { unnoticed } from './breach-run.ts';

vi.setConfig({ maxConcurrency: Math.min(4, availableParallelism()) });

let postgres: PostgresOnDemand;
beforeAll(async () => {
  postgres = await postgresOnDemand();
});
afterAll(() => postgres.stop());

describe.concurrent('the tests of the seeds notice that', () => {
  test.each(breaches)('$title', async (breach) => {
    expect(await unnoticed(breach, postgres.port)).toEqual([]);
  });
});
