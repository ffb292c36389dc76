/** A worker process of the pool: opens a target and handles the requests of its parent. */
import { Ages } from './ages.ts';
import { openTarget } from './open-target.ts';
import { ownName } from './payload.ts';
import { totalUs } from './stopwatch.ts';
import type { Target, TargetAddress } from './target.ts';
import { Worker } from './worker.ts';

export type WorkerRequest =
  | { readonly do: 'open'; readonly address: TargetAddress }
  /** Claims and finishes until no job is left. */
  | { readonly do: 'drain'; readonly limit: number }
  | { readonly do: 'work' }
  | { readonly do: 'reportAges'; readonly count: number }
  | { readonly do: 'close' };

export interface Drained {
  readonly jobs: number;
  readonly cpuUs: number;
}

let target: Target;
let worker: Worker;
const ages = new Ages();

async function handle(request: WorkerRequest): Promise<unknown> {
  switch (request.do) {
    case 'open':
      target = await openTarget(request.address);
      return null;
    case 'drain':
      return drain(request.limit);
    case 'work':
      worker = new Worker(target, ages.start);
      return null;
    case 'reportAges':
      return agesMs(request.count);
    case 'close':
      await target.close();
      return null;
  }
}

async function drain(limit: number): Promise<Drained> {
  const before = process.cpuUsage();
  let jobs = 0;
  for (;;) {
    const claimed = await target.claim(ownName, limit);
    if (claimed.length === 0) return { jobs, cpuUs: totalUs(process.cpuUsage(before)) };
    await target.finish(claimed);
    jobs += claimed.length;
  }
}

async function agesMs(count: number): Promise<readonly number[]> {
  const known = await ages.take(count);
  await worker.stop();
  return known;
}

process.on('message', (request: WorkerRequest) => {
  void handle(request).then((reply) => {
    process.send!(reply);
    if (request.do === 'close') process.disconnect();
  });
});

// The parent has exited: no further request can arrive.
process.once('disconnect', () => process.exit());
