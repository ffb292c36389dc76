/** A child process that opens the queue of a peer and handles the requests of the bench. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Ages } from '../ages.ts';
import { input, stampedInput, type Input } from '../payload.ts';
import { totalUs } from '../stopwatch.ts';
import { flowOf, type FlowShape } from './flow.ts';
import { FlowWatch } from './flow-watch.ts';
import type { Ordered, Peer, Queue } from './peer.ts';
import { peerNamed } from './peers.ts';
import { sharedMs } from './shared-time.ts';

export type CreateMode = 'single' | 'in flight' | 'bulk';

export type PeerRequest =
  | { readonly do: 'open'; readonly peer: string; readonly location: string; readonly folder: string }
  /** Creates jobs for some seconds. */
  | { readonly do: 'create'; readonly mode: CreateMode; readonly seconds: number }
  /** Creates a number of jobs in bulk. */
  | { readonly do: 'createBacklog'; readonly jobs: number }
  /** Creates single jobs, with a gap after each. */
  | { readonly do: 'createSingly'; readonly jobs: number; readonly gapMs: number }
  /** The same, each in a transaction with a row of the application; replies with what each cost. */
  | { readonly do: 'orderSingly'; readonly jobs: number; readonly gapMs: number }
  | { readonly do: 'work' }
  /** The number of handled jobs. Sent every 10 ms, so the reply must be cheap. */
  | { readonly do: 'countHandled' }
  | { readonly do: 'stats' }
  | { readonly do: 'countUnfinished' }
  /** Awaits the ages of a number of started jobs. */
  | { readonly do: 'reportAges'; readonly jobs: number }
  /** The same, with the jobs. */
  | { readonly do: 'reportStarts'; readonly jobs: number }
  /** Creates runs with tasks, sixteen at a time, and awaits their ends. */
  | { readonly do: 'fanOut'; readonly runs: number; readonly tasks: number }
  /** Executes runs of steps, and awaits their ends. */
  | { readonly do: 'steps'; readonly runs: number; readonly steps: number }
  /** Creates a flow, awaits its end, and replies with its times. */
  | { readonly do: 'flow'; readonly shape: FlowShape; readonly runs: number }
  | { readonly do: 'close' };

/** A job that was created in a transaction; `madeMs` identifies it. */
export type OrderedJob = Ordered & { readonly madeMs: number };

export interface Created {
  readonly jobs: number;
  readonly ms: number;
  readonly cpuUs: number;
}

/** What a flow took, in this process. */
export interface FlowTimes {
  /** The time of the call that creates it. */
  readonly createMs: number;
  /** From that call to the end of the last run. */
  readonly totalMs: number;
  readonly cpuUs: number;
}

/** Figures of this process. */
export interface ProcessStats {
  readonly handled: number;
  /** One before the first job, then one after every 20 jobs. */
  readonly milestones: readonly Milestone[];
  readonly cpuUs: number;
  readonly rssMB: number;
  readonly peakRssMB: number;
}

export interface Milestone {
  /** Measured by `sharedMs`. */
  readonly ms: number;
  readonly handled: number;
  readonly cpuUs: number;
}

const bulk = 1_000;
const milestoneJobs = 20;
const inFlight = 16;
const pollMs = 5;

let peer: Peer;
let queue: Queue;
let flow: FlowWatch | undefined;
let handled = 0;
const milestones: Milestone[] = [];
const ages = new Ages();

function handleJob(jobInput: Input): void {
  handled += 1;
  if (handled % milestoneJobs === 0) addMilestone();
  if (jobInput.madeMs > 0) ages.start(jobInput);
  flow?.handle(jobInput);
}

function addMilestone(): void {
  milestones.push({ ms: sharedMs(), handled, cpuUs: totalUs(process.cpuUsage()) });
}

async function handleRequest(request: PeerRequest): Promise<unknown> {
  switch (request.do) {
    case 'open':
      peer = peerNamed(request.peer);
      queue = await peer.open(request.location, request.folder);
      return null;
    case 'create':
      return create(request.mode, request.seconds);
    case 'createBacklog':
      return createBacklog(request.jobs);
    case 'createSingly':
      await singly(request, (each) => queue.create([each]));
      return null;
    case 'orderSingly':
      return singly(request, async (each): Promise<OrderedJob> => ({ madeMs: each.madeMs, ...(await queue.order!(each)) }));
    case 'work':
      addMilestone();
      await queue.work(handleJob);
      return null;
    case 'countHandled':
      return handled;
    case 'stats':
      return processStats();
    case 'countUnfinished':
      return queue.unfinished();
    case 'reportAges':
      return ages.take(request.jobs);
    case 'reportStarts':
      return ages.takeStarts(request.jobs);
    case 'fanOut':
      return fanOut(request.runs, request.tasks);
    case 'steps':
      await queue.steps!(request.runs, request.steps);
      return null;
    case 'flow':
      return runFlow(request.shape, request.runs);
    case 'close':
      await queue.close();
      return null;
  }
}

async function create(mode: CreateMode, seconds: number): Promise<Created> {
  const inputs = Array.from({ length: mode === 'bulk' ? bulk : 1 }, () => input());
  const producers = mode === 'in flight' ? inFlight : 1;
  const before = process.cpuUsage();
  const start = performance.now();
  const jobs = await produce(inputs, producers, seconds);
  return { jobs, ms: performance.now() - start, cpuUs: totalUs(process.cpuUsage(before)) };
}

/** Concurrent producers; each awaits its reply before the next create. */
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

async function createBacklog(jobs: number): Promise<null> {
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

async function runFlow(shape: FlowShape, count: number): Promise<FlowTimes> {
  const runs = flowOf(shape, count, peer.flows);
  flow = new FlowWatch(runs);
  const before = process.cpuUsage();
  const start = performance.now();
  await queue.createFlow!(runs);
  const createMs = performance.now() - start;
  await flow.done;
  while ((await queue.unfinished()) > 0) await sleep(pollMs);
  const totalMs = performance.now() - start;
  flow.check();
  return { createMs, totalMs, cpuUs: totalUs(process.cpuUsage(before)) };
}

async function singly<Answer>(
  { jobs, gapMs }: { readonly jobs: number; readonly gapMs: number },
  create: (stamped: Input) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < jobs) {
    answers.push(await create(stampedInput()));
    await sleep(gapMs);
  }
  return answers;
}

function processStats(): ProcessStats {
  const rssMB = process.memoryUsage.rss() / 1e6;
  const { maxRSS } = process.resourceUsage();
  return { handled, milestones, cpuUs: totalUs(process.cpuUsage()), rssMB, peakRssMB: (maxRSS * 1_024) / 1e6 };
}

process.on('message', (request: PeerRequest) => {
  void handleRequest(request).then((reply) => {
    process.send!(reply);
    if (request.do === 'close') process.disconnect();
  });
});

// The parent has exited: no further request can arrive.
process.once('disconnect', () => process.exit());
