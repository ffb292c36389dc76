/**
 * Hands out job ids from blocks that the store reserves. Lists are ordered by id, so the later of two jobs must have
 * the higher id, even if two instances created the jobs. An instance therefore uses a block only until another instance
 * reserves ids. While other instances reserve ids, each request reserves ids of its own.
 */
import type { Store } from '../store/store.ts';
import type { MaybePromise } from '../time/maybe-promise.ts';

const blockMax = 16_384;
/**
 * How long a block is used if the store has no `lastReservedId`. With such a store, two jobs that two instances create
 * within this time of each other may have ids in the wrong order.
 */
const blockMs = 50;

export interface TakenIds {
  readonly ids: number[];
  /** Whether no instance had reserved higher ids when these were requested. */
  readonly isNewest: boolean;
}

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
  /** How many ids the unanswered requests need in total. */
  #wanted = 0;
  #reserving: Promise<void> = Promise.resolve();
  #checking: Promise<boolean> | null = null;

  constructor(store: IdStore) {
    this.#store = store;
  }

  /** Returns this many ids, ascending. They are higher than all ids of jobs that were stored before this call. */
  async take(count: number): Promise<number[]> {
    return (await this.takeUnchecked(count, () => this.#isNewest())).ids;
  }

  /**
   * Like `take`, but may return ids of a block without asking the store whether they are the newest. In that case
   * `isNewest` is false, and the commit that uses the ids must make this check.
   */
  async takeUnchecked(count: number, mayUse: () => MaybePromise<boolean> = () => this.#isAlone): Promise<TakenIds> {
    if (count === 0) return { ids: [], isNewest: true };
    const request = (this.#requests += 1);
    this.#wanted += count;
    try {
      for (;;) {
        const isNewest = this.#requestsBefore >= request;
        const isUsable = isNewest || (this.#left >= count && (await mayUse()));
        if (isUsable && this.#left >= count) return { ids: this.#takeFromBlock(count), isNewest };
        await this.#reserve(request, count);
      }
    } finally {
      this.#wanted -= count;
    }
  }

  /** Call when a commit found that another instance has reserved higher ids: the block is no longer used. */
  discardBlock(): void {
    this.#isAlone = false;
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

  /** Requests of the same turn share a check. A later request needs a check that begins after that request. */
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

  /** Replaces the block. The remaining ids of the old block are never used, so ids have gaps. */
  async #reserveBlock(): Promise<void> {
    const size = Math.max(this.#wanted, this.#nextBlock());
    const [requests, reservedAt, end] = [this.#requests, this.#store.now(), this.#end];
    this.#first = this.#next = await this.#store.reserveIds(size);
    this.#end = this.#next + size;
    this.#isAlone = end === 0 || this.#first === end;
    this.#requestsBefore = requests;
    this.#reservedAt = reservedAt;
  }

  /** Returns a block size that lasts about `blockMs`: twice the last size, unless the last block lasted longer. */
  #nextBlock(): number {
    const used = this.#next - this.#first;
    const slower = this.#store.lastReservedId === undefined ? used : used >> 1;
    const size = this.#isExpired() ? Math.max(1, slower) : Math.min(blockMax, this.#block * 2);
    return (this.#block = this.#isAlone ? size : 1);
  }
}
