/** `GET /queues` with many types, and how long a health check waits beside it. */
import type { Draft } from '../../src/jobs/draft.ts';
import type { Database } from '../database.ts';
import type { Bar } from './bar.ts';
import { beside, percentile, timed } from './beside.ts';
import { serveJobs, type ServedScratch } from './serve.ts';
import type { BarSizes } from './sizes.ts';

/** Slow counts are cached in proportion to their time. After this time they are counted again. */
const cacheMs = 1_000;
const timesMax = 8;

export async function queues(database: Database, { types, requests }: BarSizes): Promise<readonly Bar[]> {
  const draft = (_: unknown, index: number): Draft => ({ type: `type ${index}` });
  const server = await serveJobs(database, () => Array.from({ length: types }, draft));
  try {
    const took: number[] = [];
    const others: number[] = [];
    for (let count = 0; count < Math.min(requests, timesMax) + 1; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, count === 0 ? 0 : cacheMs));
      const work = timed(() => get(server, '/api/v1/queues'));
      const waits = await beside(work, () => get(server, '/health'));
      if (count === 0) continue; // The first request also waits for the JIT compiler.
      took.push(await work);
      others.push(...waits);
    }
    const about = { database: database.name, unit: 'ms' } as const;
    const title = `GET /queues with ${types.toLocaleString('en')} types`;
    return [
      { ...about, title: `${title}, p50`, value: percentile(took, 0.5), bar: { most: 200 }, from: listOf(took) },
      {
        ...about, title: `${title}: a health check beside it, p99`, value: percentile(others, 0.99), bar: { most: 50 },
        from: `p50 ${percentile(others, 0.5).toFixed(1)}, ${others.length} checks`,
      },
    ];
  } finally {
    await server.remove();
  }
}

async function get({ url }: ServedScratch, path: string): Promise<void> {
  const response = await fetch(url + path);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
}

const listOf = (ms: readonly number[]): string => ms.map((one) => one.toFixed(0)).join(', ');
