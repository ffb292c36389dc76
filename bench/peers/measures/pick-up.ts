/** The time from the call that creates a single job to its handler, in the same process and in another. */
import type { Child } from '../../child.ts';
import { latencies } from '../../stopwatch.ts';
import type { PeerRequest } from '../peer-process.ts';
import type { Measure } from '../measure.ts';
import type { FigureName, Reading } from '../reading.ts';

export const warmUpJobs = 5;

export const pickUpHere: Measure = {
  name: 'pick-up here',
  appliesTo: () => true,
  run: async (fixture, { pickUps: jobs }) => {
    const child = await fixture.startProcess();
    return readingsOf('pick-up here', await agesMs(child, child, jobs));
  },
};

export const pickUpElsewhere: Measure = {
  name: 'pick-up elsewhere',
  appliesTo: ({ isEmbedded = false }) => !isEmbedded,
  run: async (fixture, { pickUps: jobs }) => {
    const [worker, producer] = [await fixture.startProcess(), await fixture.startProcess()];
    return readingsOf('pick-up elsewhere', await agesMs(producer, worker, jobs));
  },
};

type PeerProcess = Child<PeerRequest>;

/** Discards the first jobs: the worker may still be starting. */
async function agesMs(producer: PeerProcess, worker: PeerProcess, jobs: number): Promise<readonly number[]> {
  await worker.request({ do: 'work' });
  const createSlowly = async (count: number): Promise<readonly number[]> => {
    await producer.request({ do: 'createSlowly', jobs: count });
    return worker.request<readonly number[]>({ do: 'reportAges', jobs: count });
  };
  await createSlowly(warmUpJobs);
  return createSlowly(jobs);
}

type Latency = 'pick-up here' | 'pick-up elsewhere' | 'in a transaction' | 'create in a transaction' | 'commit to start';

export const readingsOf = (measure: Latency, ages: readonly number[]): Reading[] =>
  latencies(ages).readings.map(({ what, value }) =>
    ({ figure: `${measure} ${what}` as FigureName, unit: 'ms', value }));
