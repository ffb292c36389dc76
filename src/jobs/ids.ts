/**
 * Hands out job ids from blocks that the store reserves. Blocks are small at first, and grow while they are used up
 * fast. A block expires after a short time, because lists are ordered by id. Otherwise an instance that rarely creates
 * jobs would give its new jobs lower ids than older jobs of other instances have.
 */
import type { Store } from '../store/store.ts';

const blockMax = 16_384;
/**
 * How long a block is used. If two instances create jobs more than this time apart, the later job usually has the
 * higher id. A reservation every 50 ms costs a busy producer almost nothing.
 */
const blockMs = 50;

export class Ids {
  readonly #store: Pick<Store, 'reserveIds' | 'now'>;
  #first = 0;
  #next = 0;
  #end = 0;
  #reservedAt = -Infinity;
  #block = 1;
  #reserving: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'reserveIds' | 'now'>) {
    this.#store = store;
  }

  /** Returns this many ids, ascending. */
  async take(count: number): Promise<number[]> {
    if (count === 0) return [];
    for (let isFresh = false; !this.#has(count, isFresh); isFresh = true) {
      const reserve = (): Promise<void> => this.#reserve(count);
      // Reservations run one after another. The failure of a reservation does not prevent the next one.
      this.#reserving = this.#reserving.then(reserve, reserve);
      await this.#reserving;
    }
    const ids: number[] = [];
    for (const end = this.#next + count; this.#next < end; this.#next += 1) ids.push(this.#next);
    return ids;
  }

  /**
   * Whether the block has enough ids and has not expired. `isFresh`: the block was reserved or checked while this
   * request waited, so it is used even if the store's answer took longer than `blockMs`.
   */
  #has(count: number, isFresh: boolean): boolean {
    return this.#end - this.#next >= count && (isFresh || !this.#isExpired());
  }

  /** Whether the block was reserved more than `blockMs` ago, or store time was set back by more than `blockMs`. */
  #isExpired(): boolean {
    return Math.abs(this.#store.now() - this.#reservedAt) > blockMs;
  }

  /**
   * Replaces the block if it has expired or has too few ids. The remaining ids of the old block are never used, so the
   * ids of jobs have gaps.
   */
  async #reserve(count: number): Promise<void> {
    const isExpired = this.#isExpired();
    if (this.#end - this.#next >= count && !isExpired) return;
    const used = this.#next - this.#first;
    this.#block = isExpired ? Math.max(1, used) : Math.min(blockMax, this.#block * 2);
    const size = Math.max(count, this.#block);
    const reservedAt = this.#store.now();
    this.#first = this.#next = await this.#store.reserveIds(size);
    this.#end = this.#next + size;
    this.#reservedAt = reservedAt;
  }
}
