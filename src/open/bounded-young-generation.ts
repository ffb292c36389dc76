/**
 * Limits what V8 does for throughput at the price of memory, while a worker of this process drains many jobs. Both settings
 * count for the whole process, and V8 is free again when the workers are idle.
 *
 * - The young generation, in which objects begin: since Node 24, V8 lets it grow to 2 × 64 MiB, as long as anything
 *   survives its collections, whatever is alive; up to Node 22 the limit was 2 × 16 MiB. Here it is that again, as with
 *   `--max-semi-space-size=16`. Saves 84 to 106 MB of a draining process.
 * - Pretenuring: V8 begins objects in the old generation if the first hundreds from the same place in the code survived a
 *   collection, as those of a claimed batch do. Garbage then stays until a full collection, with everything that it refers
 *   to. V8 decides once per place and process, so that some processes became 90 MB larger than others. Here it is off.
 *
 * Measured in bench/LEDGER.md. Applies to workers that claim `busyJobs` or more between two heartbeats, but for what the
 * program was started with a flag of its own. The bound does not apply either if threads besides the heartbeat's begin after
 * the first engine: a thread that has just begun could not grow at all. Threads that began before the first engine are not
 * seen: Node lists no threads. While a worker is busy, theirs stays as large as it is, and they collect more often.
 *
 * Node advises against flags after the start in general. V8 reads the first at the end of a collection, where it decides
 * whether to grow, and the second where it decides about a place; results never depend on them. Without them
 * (`youngGeneration: 'unbounded'`) the process is larger.
 */
import v8 from 'node:v8';
import { isMainThread, type Worker } from 'node:worker_threads';
import type { YoungGeneration } from '../engine/loops/young-generation.ts';
import { V8Setting } from './v8-setting.ts';

/** V8 reports both semi-spaces as one size. */
const bytesMax = 2 * 16 * 1_048_576;
const busyJobs = 500;
/** The factor by which V8 grows the young generation. It does not shrink by this. */
const growth = new V8Setting({
  free: '--semi-space-growth-factor=2',
  limited: '--semi-space-growth-factor=1',
  own: /semi[-_]space/,
});
const pretenuring = new V8Setting({
  free: '--allocation-site-pretenuring',
  limited: '--no-allocation-site-pretenuring',
  own: /site[-_]pretenuring/,
});

const busy = new Set<BoundedYoungGeneration>();
const smallThreads = new WeakSet<Worker>();
const otherThreads = new Set<Worker>();
let isWatching = false;

export class BoundedYoungGeneration implements YoungGeneration {
  /** Since the last heartbeat or adjustment. */
  #claimed = 0;
  #wasAdjusted = false;

  constructor() {
    watchThreads();
  }

  noteClaimed(jobs: number): void {
    this.#claimed += jobs;
    if (this.#claimed < busyJobs) return;
    this.#claimed = 0;
    this.#wasAdjusted = true;
    busy.add(this);
    adjust();
  }

  /** Lets V8 go if the worker has become idle: a young generation that shrinks meanwhile could not grow again. */
  noteBeat(): void {
    if (!this.#wasAdjusted) this.release();
    this.#wasAdjusted = false;
    this.#claimed = 0;
  }

  release(): void {
    if (busy.delete(this)) adjust();
  }
}

/** Call with a thread that needs no large young generation, directly after its creation. */
export const ignoreThread = (thread: Worker): void => void smallThreads.add(thread);

function watchThreads(): void {
  if (isWatching) return;
  isWatching = true;
  process.on('worker', (thread) => {
    if (smallThreads.has(thread)) return;
    otherThreads.add(thread);
    adjust();
    thread.once('exit', () => otherThreads.delete(thread));
  });
}

function adjust(): void {
  if (!isMainThread) return;
  const isBusy = busy.size > 0;
  pretenuring.limit(isBusy);
  growth.limit(isBusy && otherThreads.size === 0 && youngBytes() >= bytesMax);
}

function youngBytes(): number {
  try {
    return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;
  } catch {
    // Other runtimes have no such statistics.
    return 0;
  }
}
