/** Hands out job ids from blocks that the store reserves: small at first, larger while ids are used up fast. */
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

  /** Returns this many ids, ascending. */
  async take(count: number): Promise<number[]> {
    while (this.#end - this.#next < count) {
      const reserve = (): Promise<void> => this.#reserve(count);
      // A reservation that failed while the store was unreachable must not fail the next one.
      this.#reserving = this.#reserving.then(reserve, reserve);
      await this.#reserving;
    }
    const ids: number[] = [];
    for (const end = this.#next + count; this.#next < end; this.#next += 1) ids.push(this.#next);
    return ids;
  }

  /** If a larger block is needed, the rest of the old block stays unused: ids may have gaps. */
  async #reserve(count: number): Promise<void> {
    if (this.#end - this.#next >= count) return;
    const size = Math.max(count, this.#block);
    this.#next = await this.#store.reserve(size);
    this.#end = this.#next + size;
    this.#block = Math.min(blockMax, this.#block * 2);
  }
}
