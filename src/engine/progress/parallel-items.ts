/** Processes items of a source in parallel. The next item is read from the source only when it can start at once. */
import { turn, type Clock } from '../../time/clock.ts';

export type Items<T> = Iterable<T> | AsyncIterable<T>;

export interface ParallelWork<T> {
  readonly clock: Clock;
  readonly parallelism: number;
  /** After an abort no further item starts; started items finish. */
  readonly stop: AbortSignal;
  /** Must not reject. */
  readonly work: (item: T, index: number) => Promise<void>;
}

/**
 * Starts all items, unless `stop` aborts, and waits until the started ones have finished. Returns whether all were
 * started. Rethrows errors of the source.
 */
export async function runParallel<T>(
  items: Items<T>,
  { clock, parallelism, stop, work }: ParallelWork<T>,
): Promise<boolean> {
  const source = sourceOf(items);
  const limit = new ConcurrencyLimit(parallelism);
  const eventLoop = new EventLoopYield(clock);
  try {
    for (let index = 0; ; index++) {
      const next = await nextUnless(stop, source);
      if (next === undefined) break;
      if (next.done === true) return true;
      limit.begin(work(next.value, index));
      await limit.whenFree();
      await eventLoop.yieldIfDue();
    }
  } finally {
    await limit.end();
  }
  await source.close();
  return false;
}

interface Source<T> {
  next(): IteratorResult<T> | Promise<IteratorResult<T>>;
  close(): Promise<void>;
}

const sourceOf = <T>(items: Items<T>): Source<T> =>
  Symbol.asyncIterator in items ? asyncSource(items[Symbol.asyncIterator]()) : plainSource(items[Symbol.iterator]());

/** A source that does not await items that are promises: a rejected promise fails only its item, not the source. */
const plainSource = <T>(iterator: Iterator<T>): Source<T> => ({
  next: () => iterator.next(),
  close: () => closed(iterator),
});

function asyncSource<T>(iterator: AsyncIterator<T>): Source<T> {
  let isWaiting = false;
  return {
    async next() {
      isWaiting = true;
      try {
        return await iterator.next();
      } finally {
        isWaiting = false;
      }
    },
    async close() {
      const end = closed(iterator);
      // While `next` is pending, an async generator does not execute `return`: awaiting `return` could take for ever.
      if (!isWaiting) await end;
    },
  };
}

/**
 * Closes an iterator. Ignores errors of its `return`: an iterator is closed only after `stop` has aborted, when no
 * further items are needed.
 */
async function closed(iterator: Iterator<unknown> | AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {}
}

/** Returns the next item; undefined if `stop` has aborted or aborts before the source returns the item. */
async function nextUnless<T>(stop: AbortSignal, source: Source<T>): Promise<IteratorResult<T> | undefined> {
  if (stop.aborted) return undefined;
  const next = source.next();
  if (!(next instanceof Promise)) return next;
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T> | undefined>();
  const stopped = (): void => resolve(undefined);
  stop.addEventListener('abort', stopped, { once: true });
  next.then(resolve, reject);
  try {
    return await promise;
  } finally {
    stop.removeEventListener('abort', stopped);
  }
}

/** Limits how many items are processed at a time. Only one call of `whenFree` or `end` may be pending. */
class ConcurrencyLimit {
  readonly #parallelism: number;
  #busy = 0;
  #onFree = (): void => undefined;

  constructor(parallelism: number) {
    this.#parallelism = parallelism;
  }

  begin(work: Promise<void>): void {
    this.#busy += 1;
    void work.then(() => {
      this.#busy -= 1;
      this.#onFree();
    });
  }

  whenFree(): Promise<void> {
    return this.#until(() => this.#busy < this.#parallelism);
  }

  end(): Promise<void> {
    return this.#until(() => this.#busy === 0);
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        this.#onFree = resolve;
      });
    }
  }
}

const yieldEveryMs = 20;

/** Yields to the event loop every 20 ms: items that never await would otherwise block cancels. */
class EventLoopYield {
  readonly #clock: Clock;
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  async yieldIfDue(): Promise<void> {
    if (this.#clock.monotonic() - this.#since < yieldEveryMs) return;
    await turn();
    this.#since = this.#clock.monotonic();
  }
}
