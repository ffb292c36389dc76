/** Hands out job ids from blocks that the store reserves: small at first, larger while they are used up fast. */
import type { Store } from '../store/store.ts';

const blockMax = 16_384;

export class Ids {
  readonly #store: Pick<Store, 'reserve'>;
  #next = 0;
  #end = 0;
  #block = 1;
  #reserving: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'reserve'>) {
    this.#store = store;
  }

  /** As many ids as asked for, rising. */
  async take(count: number): Promise<number[]> {
    while (this.#end - this.#next < count) {
      const reserve = (): Promise<void> => this.#reserve(count);
      // One that failed, while the store was away, is no reason for the next to fail.
      this.#reserving = this.#reserving.then(reserve, reserve);
      await this.#reserving;
    }
    const ids: number[] = [];
    for (const end = this.#next + count; this.#next < end; this.#next += 1) ids.push(this.#next);
    return ids;
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
