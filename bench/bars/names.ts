/** GetJob by a pattern over few and over many distinct names, and how long a Ping waits beside it. */
import type { Draft } from '../../src/jobs/draft.ts';
import { BenchClient } from '../bedrock/client.ts';
import type { Database } from '../database.ts';
import { median } from '../median.ts';
import type { Bar } from './bar.ts';
import { beside, percentile, timed } from './beside.ts';
import { serveJobs, type ServedScratch } from './serve.ts';
import type { BarSizes } from './sizes.ts';

const laterMs = 3_600_000;

interface Round {
  readonly gets: readonly number[];
  readonly pings: readonly number[];
}

export async function names(database: Database, sizes: BarSizes): Promise<readonly Bar[]> {
  const { fewNames, manyNames, requests, rounds } = sizes;
  const few = await serveJobs(database, bedrockJobs(Math.max(fewNames, requests * rounds), fewNames));
  const many = await serveJobs(database, bedrockJobs(manyNames, manyNames));
  try {
    const pairs: (readonly [Round, Round])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push([await measureRound(few, requests), await measureRound(many, requests)]);
    }
    const ratios = pairs.map(([a, b]) => percentile(b.gets, 0.5) / percentile(a.gets, 0.5));
    const at = (side: 0 | 1, of: keyof Round, share: number): number =>
      percentile(pairs.flatMap((pair) => pair[side][of]), share);
    const counts = `${manyNames.toLocaleString('en')} names`;
    const gets = `p50 ${at(1, 'gets', 0.5).toFixed(2)} ms and ${at(0, 'gets', 0.5).toFixed(2)} ms`;
    const pings = `p99 ${at(1, 'pings', 0.99).toFixed(2)} ms and ${at(0, 'pings', 0.99).toFixed(2)} ms`;
    return [
      {
        database: database.name, unit: '×', bar: { most: 2 }, from: gets,
        title: `GetJob d/* over ${counts}, to ${fewNames} names`, value: median(ratios),
      },
      {
        database: database.name, unit: 'ms', bar: { most: 20 }, from: pings,
        title: `GetJob d/* over ${counts}: delay of a Ping beside it, p99`,
        value: Math.max(0, at(1, 'pings', 0.99) - at(0, 'pings', 0.99)),
      },
    ];
  } finally {
    await Promise.all([few.remove(), many.remove()]);
  }
}

/** As many jobs that are due as jobs that are due later, each half with this many names. */
export const bedrockJobs = (count: number, distinct: number) => (now: number): readonly Draft[] =>
  Array.from({ length: 2 * count }, (_, index) => ({
    kind: 'bedrock', type: `d/${index % (2 * distinct)}`, due: now + (index % 2 === 0 ? -index : laterMs),
  }));

async function measureRound({ bedrockPort }: ServedScratch, requests: number): Promise<Round> {
  const [worker, other] = await Promise.all([BenchClient.connect(bedrockPort), BenchClient.connect(bedrockPort)]);
  const gets: number[] = [];
  const getAll = async (): Promise<void> => {
    for (let count = 0; count < requests; count += 1) gets.push(await timed(() => worker.getJob('d/*')));
  };
  const pings = await beside(getAll(), () => other.request('Ping\r\n\r\n'));
  worker.close();
  other.close();
  return { gets, pings };
}
