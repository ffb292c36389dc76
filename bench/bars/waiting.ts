/** CreateJob beside a worker that waits in GetJob for a pattern over many names that are due later. */
import type { Draft } from '../../src/jobs/draft.ts';
import { BenchClient } from '../bedrock/client.ts';
import type { Database } from '../database.ts';
import { median } from '../median.ts';
import type { Bar } from './bar.ts';
import { percentile, timed } from './beside.ts';
import { serveJobs } from './serve.ts';
import type { BarSizes } from './sizes.ts';

const laterMs = 3_600_000;
const createsPerRequest = 5;

export async function waiting(database: Database, { manyNames, requests, rounds }: BarSizes): Promise<readonly Bar[]> {
  const draft = (now: number) => (_: unknown, index: number): Draft =>
    ({ kind: 'bedrock', type: `d/${index}`, due: now + laterMs });
  const server = await serveJobs(database, (now) => Array.from({ length: manyNames }, draft(now)));
  try {
    const producer = await BenchClient.connect(server.bedrockPort);
    const creates = async (): Promise<number[]> => {
      const took: number[] = [];
      for (let count = 0; count < requests * createsPerRequest; count += 1) {
        took.push(await timed(() => producer.request('CreateJob\r\nname: other\r\n\r\n')));
      }
      return took;
    };
    await creates();
    const pairs: (readonly [number[], number[]])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const alone = await creates();
      const waiter = await BenchClient.connect(server.bedrockPort);
      void waiter.request('GetJob\r\nname: d/*\r\nConnection: wait\r\ntimeout: 600000\r\n\r\n');
      await new Promise((resolve) => setTimeout(resolve, 100));
      pairs.push([alone, await creates()]);
      waiter.close();
    }
    producer.close();
    const ratios = pairs.map(([alone, besideWaiter]) => percentile(besideWaiter, 0.5) / percentile(alone, 0.5));
    const at = (side: 0 | 1, share: number): string =>
      percentile(pairs.flatMap((pair) => pair[side]), share).toFixed(2);
    return [{
      database: database.name, unit: '×', value: median(ratios), bar: null,
      title: `CreateJob beside GetJob d/* waiting on ${manyNames.toLocaleString('en')} names`,
      from: `p50 ${at(1, 0.5)} ms and ${at(0, 0.5)} ms; p99 ${at(1, 0.99)} ms and ${at(0, 0.99)} ms`,
    }];
  } finally {
    await server.remove();
  }
}
