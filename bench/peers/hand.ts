/** A hand: a child process that opens an entrant's queue and does with it what the bench says. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ages } from '../ages.ts';
import { input, stampedInput, type Input } from '../payload.ts';
import { totalUs } from '../stopwatch.ts';
import type { Queue } from './entrant.ts';
import { entrantNamed } from './entrants.ts';
import { sharedMs } from './shared-time.ts';

export type Way = 'single' | 'in flight' | 'bulk';

export type Order =
  | { readonly do: 'open'; readonly entrant: string; readonly at: string; readonly folder: string }
  /** Create for so long. */
  | { readonly do: 'create'; readonly way: Way; readonly seconds: number }
  /** Create so many. */
  | { readonly do: 'fill'; readonly jobs: number }
  /** Create so many, each when the last one should be over. */
  | { readonly do: 'trickle'; readonly jobs: number }
  | { readonly do: 'work' }
  /** How many it has handled: asked so often that the answer must be cheap. */
  | { readonly do: 'count' }
  | { readonly do: 'look' }
  | { readonly do: 'countUnfinished' }
  /** How old so many jobs were when they were started. */
  | { readonly do: 'tellAges'; readonly jobs: number }
  /** Runs of so many tasks each, sixteen at a time. */
  | { readonly do: 'fanOut'; readonly runs: number; readonly tasks: number }
  | { readonly do: 'close' };

export interface Created {
  readonly jobs: number;
  readonly ms: number;
  readonly cpuUs: number;
}

/** What there is to see of this process. */
export interface Sight {
  readonly handled: number;
  /** As it was before the first job and after every so many. */
  readonly milestones: readonly Milestone[];
  readonly cpuUs: number;
  readonly rssMB: number;
  readonly peakRssMB: number;
}

export interface Milestone {
  /** In the time of `sharedMs`. */
  readonly ms: number;
  readonly handled: number;
  readonly cpuUs: number;
}

const bulk = 1_000;
const milestoneJobs = 20;
const inFlight = 16;
const trickleMs = 20;

let queue: Queue;
let handled = 0;
const milestones: Milestone[] = [];
const ages = new Ages();

function handle(given: Input): void {
  handled += 1;
  if (handled % milestoneJobs === 0) passMilestone();
  if (given.madeMs > 0) ages.start(given);
}

function passMilestone(): void {
  milestones.push({ ms: sharedMs(), handled, cpuUs: totalUs(process.cpuUsage()) });
}

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'open':
      queue = await entrantNamed(order.entrant).open(order.at, order.folder);
      return null;
    case 'create':
      return create(order.way, order.seconds);
    case 'fill':
      return fill(order.jobs);
    case 'trickle':
      return trickle(order.jobs);
    case 'work':
      passMilestone();
      await queue.work(handle);
      return null;
    case 'count':
      return handled;
    case 'look':
      return sight();
    case 'countUnfinished':
      return queue.unfinished();
    case 'tellAges':
      return ages.take(order.jobs);
    case 'fanOut':
      return fanOut(order.runs, order.tasks);
    case 'close':
      await queue.close();
      return null;
  }
}

async function create(way: Way, seconds: number): Promise<Created> {
  const inputs = Array.from({ length: way === 'bulk' ? bulk : 1 }, () => input());
  const producers = way === 'in flight' ? inFlight : 1;
  await produce(inputs, producers, seconds / 10);
  const before = process.cpuUsage();
  const start = performance.now();
  const jobs = await produce(inputs, producers, seconds);
  return { jobs, ms: performance.now() - start, cpuUs: totalUs(process.cpuUsage(before)) };
}

/** So many producers, each of which waits for its answer before it goes on. */
async function produce(inputs: readonly Input[], producers: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let jobs = 0;
  const one = async (): Promise<void> => {
    do {
      await queue.create(inputs);
      jobs += inputs.length;
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: producers }, one));
  return jobs;
}

async function fill(jobs: number): Promise<null> {
  for (let left = jobs; left > 0; left -= bulk) {
    await queue.create(Array.from({ length: Math.min(left, bulk) }, () => input()));
  }
  return null;
}

async function fanOut(runs: number, tasks: number): Promise<null> {
  let left = runs;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await queue.fanOut!(tasks);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return null;
}

async function trickle(jobs: number): Promise<null> {
  for (let made = 0; made < jobs; made += 1) {
    await queue.create([stampedInput()]);
    await sleep(trickleMs);
  }
  return null;
}

function sight(): Sight {
  const rssMB = process.memoryUsage.rss() / 1e6;
  const { maxRSS } = process.resourceUsage();
  return { handled, milestones, cpuUs: totalUs(process.cpuUsage()), rssMB, peakRssMB: (maxRSS * 1_024) / 1e6 };
}

process.on('message', (order: Order) => {
  void obey(order).then((answer) => {
    process.send!(answer);
    if (order.do === 'close') process.disconnect();
  });
});

// The parent is gone: nobody will ask again.
process.once('disconnect', () => process.exit());
