// Runs pairs in all their orders, two pairs at a time: one waits for its server while the other computes. Each has a
// server of its own, since a transaction of another database delays the feed.
import { TestPostgres } from '../../support/postgres.ts';
import { Interleaver } from './interleaver.ts';
import type { Pair } from './pairs.ts';

const serversCount = 2;

/** The reads that check an order are the same each time; planning them anew takes most of their time. */
const settings = { plan_cache_mode: 'force_generic_plan' };

export interface Interleavings {
  readonly orders: number;
  /** The problems, as sentences. */
  readonly wrong: readonly string[];
}

export interface Extent {
  /** Of a pair with more orders, a sample is tried. */
  readonly ordersMax: number;
  readonly onDone: (count: number) => void;
}

export async function inEveryOrder(pairs: readonly Pair[], { ordersMax, onDone }: Extent): Promise<Interleavings> {
  const left = pairs.values();
  const found: Interleavings[] = [];
  await Promise.all(Array.from({ length: serversCount }, async () => {
    const postgres = await TestPostgres.create({ settings });
    try {
      await using interleaver = await Interleaver.on(postgres.url);
      for (const pair of left) {
        found.push(await problemsOf(interleaver, pair, ordersMax));
        onDone(found.length);
      }
    } finally {
      await postgres.stop();
    }
  }));
  return {
    orders: found.reduce((sum, { orders }) => sum + orders, 0),
    wrong: found.flatMap(({ wrong }) => wrong),
  };
}

async function problemsOf(interleaver: Interleaver, pair: Pair, ordersMax: number): Promise<Interleavings> {
  const { orders, wrong } = await interleaver.run(pair, ordersMax);
  const tooFew = orders < 2 ? [`only ${orders} order was possible`] : [];
  return { orders, wrong: [...wrong, ...tooFew].map((what) => `${pair.name}: ${what}`) };
}
