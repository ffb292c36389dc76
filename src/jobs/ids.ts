/**
 * Hands out job ids from blocks that the store reserves. Lists are ordered by id, so a job that is created after
 * another one must have the higher id, even if another instance created the first. A block is therefore used only as
 * long as no instance has reserved ids since. While other instances reserve ids, each request reserves its own.
 */
import type { Store } from '../store/store.ts';

const blockMax = 16_384;
/**
 * How long a block is used if the store cannot tell the last reserved id. Two jobs that instances create within this
 * time of each other may then have ids in the wrong order.
 */
const blockMs = 50;

type IdStore = Pick<Store, 'reserveIds' | 'lastReservedId' | 'now'>;

export class Ids {
  readonly #store: IdStore;
  #first = 0;
  #next = 0;
  #end = 0;
  #reservedAt = -Infinity;
  #block = 1;
  /** Whether no other instance reserved ids between the last two reservations of this one. */
  #isAlone = true;
  /** The number of requests so far, and how many of them were made before the block was reserved. */
  #requests = 0;
  #requestsBefore = 0;
  /** How many ids the requests need that have not got theirs. */
  #wanted = 0;
  #reserving: Promise<void> = Promise.resolve();
  #checking: Promise<boolean> | null = null;

  constructor(store: IdStore) {
    this.#store = store;
  }

  /** Returns this many ids, ascending. They are higher than all ids of jobs that were stored before this call. */
  async take(count: number): Promise<number[]> {
    if (count === 0) return [];
    const request = (this.#requests += 1);
    this.#wanted += count;
    try {
      for (;;) {
        const isNewest = this.#requestsBefore >= request || (this.#left >= count && (await this.#isNewest()));
        if (isNewest && this.#left >= count) return this.#takeFromBlock(count);
        await this.#reserve(request, count);
      }
    } finally {
      this.#wanted -= count;
    }
  }

  get #left(): number {
    return this.#end - this.#next;
  }

  #takeFromBlock(count: number): number[] {
    const ids: number[] = [];
    for (const end = this.#next + count; this.#next < end; this.#next += 1) ids.push(this.#next);
    return ids;
  }

  /** Whether no instance has reserved ids since the block was reserved. */
  #isNewest(): boolean | Promise<boolean> {
    if (this.#store.lastReservedId === undefined) return !this.#isExpired();
    return this.#isAlone && (this.#checking ??= this.#check());
  }

  /** Requests of the same turn share a check. A later request needs a check that begins after it. */
  async #check(): Promise<boolean> {
    await Promise.resolve();
    this.#checking = null;
    return (await this.#store.lastReservedId!()) === this.#end - 1;
  }

  /** Whether the block was reserved more than `blockMs` ago, or store time was set back by more than `blockMs`. */
  #isExpired(): boolean {
    return Math.abs(this.#store.now() - this.#reservedAt) > blockMs;
  }

  /** Reserves a block for all requests so far. If a reservation fails, the next is tried all the same. */
  #reserve(request: number, count: number): Promise<void> {
    const reserve = async (): Promise<void> => {
      if (this.#requestsBefore < request || this.#left < count) await this.#reserveBlock();
    };
    this.#reserving = this.#reserving.then(reserve, reserve);
    return this.#reserving;
  }

  /** Replaces the block. Its remaining ids are never used, so ids have gaps. */
  async #reserveBlock(): Promise<void> {
    const size = Math.max(this.#wanted, this.#nextBlock());
    const [requests, reservedAt, end] = [this.#requests, this.#store.now(), this.#end];
    this.#first = this.#next = await this.#store.reserveIds(size);
    this.#end = this.#next + size;
    this.#isAlone = end === 0 || this.#first === end;
    this.#requestsBefore = requests;
    this.#reservedAt = reservedAt;
  }

  /** Returns a size that lasts about `blockMs`: double the last one, unless that one lasted longer. */
  #nextBlock(): number {
    const used = this.#next - this.#first;
    const slower = this.#store.lastReservedId === undefined ? used : used >> 1;
    const size = this.#isExpired() ? Math.max(1, slower) : Math.min(blockMax, this.#block * 2);
    return (this.#block = this.#isAlone ? size : 1);
  }
}
