/** The time from the call that creates a single job to its handler, in the same process and in another. */
import type { Child } from '../../child.ts';
import { latencies } from '../../stopwatch.ts';
import type { PeerRequest } from '../peer-process.ts';
import type { Measure } from '../measure.ts';
import type { FigureName, Reading } from '../reading.ts';
import type { PeerSizes } from '../sizes.ts';

/** Usually longer than one pick-up. */
export const gapMs = 20;

export const pickUpHere: Measure = {
  name: 'pick-up here',
  appliesTo: () => true,
  run: async (fixture, sizes) => {
    const child = await fixture.startProcess();
    return readingsOf('pick-up here', await agesMs(child, child, sizes));
  },
};

export const pickUpElsewhere: Measure = {
  name: 'pick-up elsewhere',
  appliesTo: ({ isEmbedded = false }) => !isEmbedded,
  run: async (fixture, sizes) => {
    const [worker, producer] = [await fixture.startProcess(), await fixture.startProcess()];
    return readingsOf('pick-up elsewhere', await agesMs(producer, worker, sizes));
  },
};

type PeerProcess = Child<PeerRequest>;

/** The warm-up creates jobs as quickly as it can, so that the code of both processes is compiled. Discards its ages. */
async function agesMs(
  producer: PeerProcess,
  worker: PeerProcess,
  { pickUps, pickUpWarmUp }: PeerSizes,
): Promise<readonly number[]> {
  await worker.request({ do: 'work' });
  const create = async (jobs: number, gap: number): Promise<readonly number[]> => {
    await producer.request({ do: 'createSingly', jobs, gapMs: gap });
    return worker.request<readonly number[]>({ do: 'reportAges', jobs });
  };
  await create(pickUpWarmUp, 0);
  return create(pickUps, gapMs);
}

type Latency = 'pick-up here' | 'pick-up elsewhere' | 'in a transaction' | 'create in a transaction' | 'commit to start';

export const readingsOf = (measure: Latency, ages: readonly number[]): Reading[] =>
  latencies(ages).readings.map(({ what, value }) =>
    ({ figure: `${measure} ${what}` as FigureName, unit: 'ms', value }));
