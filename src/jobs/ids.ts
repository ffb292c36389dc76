/** Hands out job ids from blocks that the store reserves: small blocks at first, larger ones while they are used up fast. */
import type { Store } from '../store/store.ts';

const blockMax = 1024;

export class Ids {
  readonly #store: Store;
  #next = 0;
  #end = 0;
  #block = 1;
  #reserving: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** As many ids as asked for, rising. */
  async take(count: number): Promise<number[]> {
    while (this.#end - this.#next < count) {
      this.#reserving = this.#reserving.then(() => this.#reserve(count));
      await this.#reserving;
    }
    const first = this.#next;
    this.#next += count;
    return Array.from({ length: count }, (_, index) => first + index);
  }

  /** What is left of the old block goes unused when a larger one is needed: ids may have gaps. */
  async #reserve(count: number): Promise<void> {
    if (this.#end - this.#next >= count) return;
    const size = Math.max(count, this.#block);
    this.#next = await this.#store.reserve(size);
    this.#end = this.#next + size;
    this.#block = Math.min(blockMax, this.#block * 2);
  }
}
