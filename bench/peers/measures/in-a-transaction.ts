/**
 * A job that is created in the application's transaction, and starts in another process: the time of the call that
 * creates it, from there to its handler, and from the commit to its handler.
 */
import type { Start } from '../../ages.ts';
import type { Child } from '../../child.ts';
import type { OrderedJob, PeerRequest } from '../peer-process.ts';
import type { Reading } from '../reading.ts';
import type { Measure } from '../measure.ts';
import { gapMs, readingsOf } from './pick-up.ts';

export const inTransaction: Measure = {
  name: 'in a transaction',
  appliesTo: ({ joinsTransactions = false }) => joinsTransactions,
  run: async (fixture, { pickUps, pickUpWarmUp }) => {
    const [worker, producer] = [await fixture.startProcess(), await fixture.startProcess()];
    await worker.request({ do: 'work' });
    await order(producer, worker, pickUpWarmUp, 0);
    return readings(await order(producer, worker, pickUps, gapMs));
  },
};

/** A job with the time at which its handler started, from its creation on. */
type Pair = readonly [ordered: OrderedJob, start: Start];

async function order(
  producer: Child<PeerRequest>,
  worker: Child<PeerRequest>,
  jobs: number,
  gap: number,
): Promise<Pair[]> {
  const ordered = await producer.request<readonly OrderedJob[]>({ do: 'orderSingly', jobs, gapMs: gap });
  const starts = await worker.request<readonly Start[]>({ do: 'reportStarts', jobs });
  const byJob = new Map(starts.map((start) => [start.madeMs, start]));
  return ordered.map((each) => [each, byJob.get(each.madeMs)!]);
}

function readings(pairs: readonly Pair[]): Reading[] {
  const fromCommit = pairs.map(([{ madeMs, committingMs }, start]) => start.ageMs - (committingMs - madeMs));
  return [
    ...readingsOf('in a transaction', pairs.map(([, start]) => start.ageMs)),
    ...readingsOf('create in a transaction', pairs.map(([{ createMs }]) => createMs)),
    ...readingsOf('commit to start', fromCommit),
    { figure: 'commit to start max', unit: 'ms', value: Math.max(...fromCommit) },
  ];
}
