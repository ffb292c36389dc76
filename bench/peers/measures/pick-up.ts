/** How long after the call that creates a lone job its handler starts, in the same process and in another. */
import type { Child } from '../../child.ts';
import { latencies } from '../../stopwatch.ts';
import type { Order } from '../hand.ts';
import type { Measure } from '../measure.ts';
import type { FigureName, Reading } from '../reading.ts';

const warmUpJobs = 5;

export const pickUpHere: Measure = {
  name: 'pick-up here',
  suits: () => true,
  run: async (site, { pickUps: jobs }) => {
    const hand = await site.hire();
    return readingsOf('pick-up here', await agesMs(hand, hand, jobs));
  },
};

export const pickUpElsewhere: Measure = {
  name: 'pick-up elsewhere',
  suits: ({ isEmbedded = false }) => !isEmbedded,
  run: async (site, { pickUps: jobs }) => {
    const [worker, producer] = [await site.hire(), await site.hire()];
    return readingsOf('pick-up elsewhere', await agesMs(producer, worker, jobs));
  },
};

/** The first jobs find a worker that is still about to start, and do not count. */
async function agesMs(producer: Child<Order>, worker: Child<Order>, jobs: number): Promise<readonly number[]> {
  await worker.ask({ do: 'work' });
  const trickle = async (count: number): Promise<readonly number[]> => {
    await producer.ask({ do: 'trickle', jobs: count });
    return worker.ask<readonly number[]>({ do: 'tellAges', jobs: count });
  };
  await trickle(warmUpJobs);
  return trickle(jobs);
}

const readingsOf = (measure: 'pick-up here' | 'pick-up elsewhere', agesMs: readonly number[]): Reading[] =>
  latencies(agesMs).readings.map(({ what, value }) => ({ figure: `${measure} ${what}` as FigureName, unit: 'ms', value }));
