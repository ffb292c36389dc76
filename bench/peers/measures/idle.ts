/** What an instance costs that has nothing to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sight } from '../hand.ts';
import type { Measure } from '../measure.ts';
import { isOurEngine } from '../ours.ts';
import type { Reading } from '../reading.ts';

/** A start is not idle yet. */
const settleShare = 0.2;
/** The question itself is one, on a connection of its own. */
const ownTransactions = 1;

export const idle: Measure = {
  name: 'idle',
  suits: isOurEngine,
  run: async (site, { idleSeconds: seconds }) => {
    const hand = await site.hire();
    await hand.ask({ do: 'work' });
    await sleep(seconds * settleShare * 1_000);
    const [before, asked] = [await hand.ask<Sight>({ do: 'look' }), await site.ground.transactions()];
    await sleep(seconds * 1_000);
    const [after, askedSince] = [await hand.ask<Sight>({ do: 'look' }), await site.ground.transactions()];
    const cost: Reading[] = [
      { figure: 'idle CPU', unit: '% of a core', value: (after.cpuUs - before.cpuUs) / (seconds * 10_000) },
      { figure: 'idle memory', unit: 'MB', value: after.rssMB },
    ];
    if (asked === null || askedSince === null) return cost;
    return [{ figure: 'idle queries', unit: '/s', value: (askedSince - asked - ownTransactions) / seconds }, ...cost];
  },
};
