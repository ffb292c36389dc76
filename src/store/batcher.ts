/**
 * The batcher: collects items that arrive together and runs them in one transaction. A transaction costs a round trip
 * and a flush to the disk, however many changes it writes. A new item runs after one turn of the event loop, unless
 * `runningMax` groups are running. Items that arrive in that case are queued, and run together as the next group, up to
 * `sizeMax`. If a group fails because of one item, each item of the group runs again alone, so that only the faulty
 * item is rejected.
 *
 * Saves (bench/LEDGER.md, "commits that wait for the same transaction are one batch"): creating a job on SQLite with 16
 * calls in flight takes 20.3 instead of 32.9 µs. Without the batcher every item is a transaction of its own.
 */
import { turn } from '../time/clock.ts';

/**
 * Runs a group of items in one transaction; returns one answer per item. It calls `take` for the items only when the
 * transaction can begin: items that arrive before that call still join the group.
 */
export type RunItems<Item, Answer> = (take: () => readonly Item[]) => Promise<readonly Answer[]>;

export interface BatcherOptions<Item> {
  /** At most this many groups run at a time; further items wait. */
  readonly runningMax: number;
  /**
   * Whether `run` blocks the event loop, so that no item can arrive while a group runs. The batcher then waits for one
   * turn of the event loop between two groups, so that new items can join.
   */
  readonly isBlocking?: boolean;
  /** The largest total size of the items in a group. A single item that is larger runs alone. Default: no limit. */
  readonly sizeMax?: number;
  /** The size of an item, for `sizeMax`. Default: 0. */
  readonly sizeOf?: (item: Item) => number;
  /**
   * Returns whether an error has another cause than an item of the group, for example a lost connection. True: the
   * error rejects all items of the group. False, or without this function: if the group has several items, each of them
   * runs again alone. An error before `take` was called rejects the whole group in any case.
   */
  readonly isForAll?: (error: unknown) => boolean;
}

interface Queued<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Answer> {
  readonly #run: RunItems<Item, Answer>;
  readonly #options: BatcherOptions<Item>;
  readonly #queue: Queued<Item, Answer>[] = [];
  #running = 0;

  constructor(run: RunItems<Item, Answer>, options: BatcherOptions<Item>) {
    this.#run = run;
    this.#options = options;
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      if (this.#running < this.#options.runningMax) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#running += 1;
    await turn(); // items that are added in the same turn of the event loop join the group
    while (this.#queue.length > 0) {
      await this.#runGroup();
      if (this.#options.isBlocking && this.#queue.length > 0) await turn();
    }
    this.#running -= 1;
  }

  async #runGroup(): Promise<void> {
    let group: readonly Queued<Item, Answer>[] | undefined;
    const take = (): readonly Item[] => (group ??= this.#takeGroup()).map(({ item }) => item);
    try {
      const answers = await this.#run(take);
      group?.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      const isForAll = group === undefined || group.length === 1 || this.#options.isForAll?.(error);
      group ??= this.#takeGroup();
      if (isForAll) for (const { reject } of group) reject(error);
      else for (const queued of group) await this.#runAlone(queued);
    }
  }

  async #runAlone({ item, resolve, reject }: Queued<Item, Answer>): Promise<void> {
    await this.#run(() => [item]).then(([answer]) => resolve(answer!), reject);
  }

  #takeGroup(): Queued<Item, Answer>[] {
    const { sizeMax = Infinity, sizeOf = () => 0 } = this.#options;
    let size = 0;
    const end = this.#queue.findIndex(({ item }) => (size += sizeOf(item)) > sizeMax);
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end));
  }
}
