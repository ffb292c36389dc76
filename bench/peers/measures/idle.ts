/** The cost of an instance without jobs: queries, CPU and memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessStats } from '../peer-process.ts';
import type { Measure } from '../measure.ts';
import { isOurEngine } from '../ours.ts';
import type { Reading } from '../reading.ts';

/** The query that counts transactions is a transaction itself. */
const ownTransactions = 1;

export const idle: Measure = {
  name: 'idle',
  appliesTo: isOurEngine,
  run: async (fixture, { settleSeconds, idleSeconds: seconds }) => {
    const child = await fixture.startProcess();
    await child.request({ do: 'work' });
    await sleep(settleSeconds * 1_000);
    const readStats = (): Promise<ProcessStats> => child.request({ do: 'stats' });
    const read = async () => [await readStats(), await fixture.scratch.transactions()] as const;
    const [before, transactionsBefore] = await read();
    await sleep(seconds * 1_000);
    const [after, transactionsAfter] = await read();
    const cost: Reading[] = [
      { figure: 'idle CPU', unit: '% of a core', value: (after.cpuUs - before.cpuUs) / (seconds * 10_000) },
      { figure: 'idle memory', unit: 'MB', value: after.rssMB },
    ];
    if (transactionsBefore === null || transactionsAfter === null) return cost;
    const transactions = transactionsAfter - transactionsBefore - ownTransactions;
    return [{ figure: 'idle queries', unit: '/s', value: transactions / seconds }, ...cost];
  },
};
