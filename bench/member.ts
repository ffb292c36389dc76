/** A member of a crew: a process that opens a contender and does what its parent says. */
import { Ages } from './ages.ts';
import type { Contender, Place } from './contender.ts';
import { openContender } from './open-contender.ts';
import { ownName } from './payload.ts';
import { totalUs } from './stopwatch.ts';
import { Worker } from './worker.ts';

export type Order =
  | { readonly do: 'open'; readonly place: Place }
  /** Claim and finish until nothing is left. */
  | { readonly do: 'drain'; readonly limit: number }
  | { readonly do: 'work' }
  | { readonly do: 'tellAges'; readonly count: number }
  | { readonly do: 'close' };

export interface Drained {
  readonly jobs: number;
  readonly cpuUs: number;
}

let contender: Contender;
let worker: Worker;
const ages = new Ages();

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'open':
      contender = await openContender(order.place);
      return null;
    case 'drain':
      return drain(order.limit);
    case 'work':
      worker = new Worker(contender, ages.start);
      return null;
    case 'tellAges':
      return agesMs(order.count);
    case 'close':
      await contender.close();
      return null;
  }
}

async function drain(limit: number): Promise<Drained> {
  const before = process.cpuUsage();
  let jobs = 0;
  for (;;) {
    const taken = await contender.claim(ownName, limit);
    if (taken.length === 0) return { jobs, cpuUs: totalUs(process.cpuUsage(before)) };
    await contender.finish(taken);
    jobs += taken.length;
  }
}

async function agesMs(count: number): Promise<readonly number[]> {
  const known = await ages.take(count);
  await worker.stop();
  return known;
}

process.on('message', (order: Order) => {
  void obey(order).then((answer) => {
    process.send!(answer);
    if (order.do === 'close') process.disconnect();
  });
});

// The parent is gone: nobody will ask again.
process.once('disconnect', () => process.exit());
