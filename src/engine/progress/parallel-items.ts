/** Processes the items of a source in parallel; an item is read from the source only when a place is free. */
import { turn, type Clock } from '../../time/clock.ts';

export type Items<T> = Iterable<T> | AsyncIterable<T>;

export interface ParallelWork<T> {
  readonly clock: Clock;
  /** How many items are worked on at a time. */
  readonly parallelism: number;
  /** Once it aborts no further item is begun; those under way come to their end. */
  readonly stop: AbortSignal;
  /** Must not reject. */
  readonly work: (item: T, index: number) => Promise<void>;
}

/** Whether every item was begun. Ends when none is under way any more; throws what the source throws. */
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

/** What it yields goes to the work as it is, a promise too: one that rejects is the failure of its item alone. */
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
      // A generator that still owes its next item would answer only after that.
      if (!isWaiting) await end;
    },
  };
}

/** The stage is over already: how its source takes that is of no interest. */
async function closed(iterator: Iterator<unknown> | AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {}
}

/** The next answer; undefined once it was stopped, even if the source keeps everyone waiting. */
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

/** Counts the items in work. Only one caller waits for it at a time. */
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

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#onFree = resolve;
      });
    }
  }
}

const breathMs = 20;

/** Lets the event loop turn now and then: items that never wait for anything would keep a cancel from being heard. */
class EventLoopYield {
  readonly #clock: Clock;
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  async yieldIfDue(): Promise<void> {
    if (this.#clock.monotonic() - this.#since < breathMs) return;
    await turn();
    this.#since = this.#clock.monotonic();
  }
}
