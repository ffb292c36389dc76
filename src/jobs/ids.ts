/**
 * Hands out job ids from blocks that the store reserves: small at first, larger while they are used up fast. A block
 * expires, so that the ids of all instances rise with time: lists are ordered by id, and an instance that creates
 * rarely would otherwise put its newest runs behind older ones of others.
 */
import type { Store } from '../store/store.ts';

const blockMax = 16_384;
/** Ids are in the order of creation to this precision. A reservation every 50 ms costs a busy producer nothing. */
const blockMs = 50;

export class Ids {
  readonly #store: Pick<Store, 'reserve' | 'now'>;
  #first = 0;
  #next = 0;
  #end = 0;
  #reservedAt = -Infinity;
  #block = 1;
  #reserving: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'reserve' | 'now'>) {
    this.#store = store;
  }

  /** Returns this many ids, ascending. */
  async take(count: number): Promise<number[]> {
    if (count === 0) return [];
    for (let isFresh = false; !this.#has(count, isFresh); isFresh = true) {
      const reserve = (): Promise<void> => this.#reserve(count);
      // A reservation that failed while the store was unreachable must not fail the next one.
      this.#reserving = this.#reserving.then(reserve, reserve);
      await this.#reserving;
    }
    const ids: number[] = [];
    for (const end = this.#next + count; this.#next < end; this.#next += 1) ids.push(this.#next);
    return ids;
  }

  /** A block that was reserved for this request counts, however long the answer took. */
  #has(count: number, isFresh: boolean): boolean {
    return this.#end - this.#next >= count && (isFresh || !this.#isExpired());
  }

  /** Also if store time was set back. */
  #isExpired(): boolean {
    return Math.abs(this.#store.now() - this.#reservedAt) > blockMs;
  }

  /** What is left of the old block goes unused when it expired or a larger one is needed: ids may have gaps. */
  async #reserve(count: number): Promise<void> {
    const isExpired = this.#isExpired();
    if (this.#end - this.#next >= count && !isExpired) return;
    const used = this.#next - this.#first;
    this.#block = isExpired ? Math.max(1, used) : Math.min(blockMax, this.#block * 2);
    const size = Math.max(count, this.#block);
    const reservedAt = this.#store.now();
    this.#first = this.#next = await this.#store.reserve(size);
    this.#end = this.#next + size;
    this.#reservedAt = reservedAt;
  }
}
