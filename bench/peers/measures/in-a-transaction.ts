/** The time from the call that creates a job in the application's transaction to its handler in another process. */
import { agesMs, readingsOf } from './pick-up.ts';
import type { Measure } from '../measure.ts';

export const inTransaction: Measure = {
  name: 'in a transaction',
  appliesTo: ({ joinsTransactions = false }) => joinsTransactions,
  run: async (fixture, { pickUps: jobs }) => {
    const [worker, producer] = [await fixture.startProcess(), await fixture.startProcess()];
    return readingsOf('in a transaction', await agesMs(producer, worker, jobs, 'orderSlowly'));
  },
};
