/**
 * A bound on the young generation of V8, in which objects begin, while a worker of this process drains many jobs. Since
 * Node 24, V8 lets it grow to 2 × 64 MiB, as long as anything survives its collections, whatever is alive; up to Node 22
 * the limit was 2 × 16 MiB. Here it is that again, as with `--max-semi-space-size=16`.
 *
 * Saves (bench/LEDGER.md, "the young generation is bounded while jobs are drained"): 84 to 106 MB of a draining process.
 * Applies to workers that claim `busyJobs` or more between two heartbeats, unless the program was started with a flag of
 * its own for the semi-spaces, or threads besides the heartbeat's begin after its first engine: the flag counts for all
 * threads, and one that has just begun could not grow at all. Threads that began before the first engine are not seen:
 * Node lists no threads. While a worker is busy, theirs stays as large as it is, and they collect more often. Node advises against flags after the start in general; V8 reads this one at the end of
 * a collection, where it decides whether to grow, and nowhere else.
 * Without it (`youngGeneration: 'unbounded'`) the process is larger and its results are equal.
 */
import v8 from 'node:v8';
import { isMainThread, type Worker } from 'node:worker_threads';
import type { YoungGeneration } from '../engine/loops/young-generation.ts';

/** V8 reports both semi-spaces as one size. */
const bytesMax = 2 * 16 * 1_048_576;
const busyJobs = 500;
/** The factor by which V8 grows the young generation. It does not shrink by this. */
const [growing, fixed] = [2, 1];

const busy = new Set<BoundedYoungGeneration>();
const smallThreads = new WeakSet<Worker>();
const otherThreads = new Set<Worker>();
let isWatching = false;
let factor = growing;
let isImpossible = !isMainThread || hasOwnFlag([...process.execArgv, process.env['NODE_OPTIONS'] ?? '']);

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
  if (isImpossible) return;
  try {
    const isBounded = busy.size > 0 && otherThreads.size === 0 && youngBytes() >= bytesMax;
    setFactor(isBounded ? fixed : growing);
  } catch {
    // Other runtimes have no such flag, or no such statistics.
    isImpossible = true;
  }
}

function setFactor(wanted: number): void {
  if (wanted === factor) return;
  v8.setFlagsFromString(`--semi-space-growth-factor=${wanted}`);
  factor = wanted;
}

const youngBytes = (): number =>
  v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;

function hasOwnFlag(texts: readonly string[]): boolean {
  return texts.some((text) => /semi[-_]space/.test(text));
}
