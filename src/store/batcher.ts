/**
 * The batcher: collects items that arrive together and runs them in one transaction. A transaction costs a round trip
 * and a flush to the disk, however many changes it writes. An item that arrives while no other runs waits only for one
 * turn of the event loop. Items that arrive while others run wait, and then run together. If a group fails, each of its
 * items runs alone, so that only the item that causes the error is rejected.
 *
 * Saves (bench/LEDGER.md, "commits that wait for the same transaction are one batch"): create with 16 in flight on
 * SQLite 32.9 → 20.3 µs. Without it every item is a transaction of its own.
 */
import { turn } from '../time/clock.ts';

/**
 * Runs a group of items in one transaction; returns one answer per item. It calls `take` to get the items when the
 * transaction can begin, so that items that arrive until then still join the group.
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
  /** The largest sum of the sizes of a group. An item that is larger runs alone. Default: no limit. */
  readonly sizeMax?: number;
  /** The size of an item, for `sizeMax`. Default: 0. */
  readonly sizeOf?: (item: Item) => number;
  /**
   * Returns whether an error has another cause than an item, for example a lost connection. The error then rejects all
   * items of the group; otherwise each item runs again alone.
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
    await turn(); // items that are added in the same turn of the event loop join
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
