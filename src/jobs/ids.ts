/**
 * Hands out job ids from blocks that the store reserves. Blocks are small at first, and grow while they are used up
 * fast. A block expires after a short time, because lists are ordered by id. Otherwise an instance that rarely creates
 * jobs would give its new jobs lower ids than older jobs of other instances have.
 *
 * A reservation is a round trip and a flush. While single jobs are created less than `blockMs` apart, the next block is
 * reserved before it is needed, between creates.
 */
import type { Store } from '../store/store.ts';

const blockMax = 16_384;
/**
 * How long a block is used. If two instances create jobs more than this time apart, the later job usually has the
 * higher id. A reservation every 100 ms costs a busy producer almost nothing.
 */
const blockMs = 100;
/**
 * The largest block behind which the next one is reserved ahead. A reservation for more jobs costs each of them little,
 * and while jobs are created without a pause it would delay one of them all the same.
 */
const aheadMax = 16;

interface Block {
  readonly first: number;
  readonly end: number;
  readonly reservedAt: number;
  next: number;
}

interface IdsOptions {
  /** Default: true. False if a statement of the store may only follow a call that asks for it. */
  readonly reservesAhead?: boolean;
}

const emptyBlock = (): Block => ({ first: 0, end: 0, reservedAt: -Infinity, next: 0 });

const leftIn = ({ next, end }: Block): number => end - next;

export class Ids {
  readonly #store: Pick<Store, 'reserveIds' | 'now'>;
  readonly #reservesAhead: boolean;
  #block = emptyBlock();
  /** The block that was reserved last and is not used yet; empty: there is none. */
  #following = emptyBlock();
  #reserving: Promise<void> = Promise.resolve();
  #isReservingAhead = false;
  /** Whether the last ids were taken without waiting for a reservation. */
  #wasReady = false;

  constructor(store: Pick<Store, 'reserveIds' | 'now'>, { reservesAhead = true }: IdsOptions = {}) {
    this.#store = store;
    this.#reservesAhead = reservesAhead;
  }

  /** Returns this many ids, ascending. */
  async take(count: number): Promise<number[]> {
    if (count === 0) return [];
    this.#wasReady = this.#has(count, false);
    for (let isFresh = this.#wasReady; !this.#has(count, isFresh); isFresh = true) await this.#reserve(count);
    const ids: number[] = [];
    const block = this.#block;
    for (const end = block.next + count; block.next < end; block.next += 1) ids.push(block.next);
    return ids;
  }

  /**
   * Reserves the next block if the current one is small and will soon be used up or expire. To be called after a create.
   * Does nothing if the ids of that create had to be reserved for it, as those of rare creates are: the block would
   * expire unused.
   */
  reserveAhead(): void {
    const block = this.#block;
    if (!this.#reservesAhead || !this.#wasReady || this.#isReservingAhead) return;
    if (block.end - block.first > aheadMax) return;
    if (!this.#isRunningOut(block) || (leftIn(this.#following) > 0 && !this.#isExpired(this.#following))) return;
    this.#isReservingAhead = true;
    const reserve = async (): Promise<void> => {
      this.#following = await this.#newBlock(1);
    };
    // If this fails, the next `take` reserves a block itself, and throws the error.
    this.#afterOthers(reserve).catch(() => {}).finally(() => (this.#isReservingAhead = false));
  }

  /**
   * Whether there are enough ids in the current block, or in the following one, which then replaces it. `isFresh`: the
   * current block was reserved or checked while this request waited, so it is used even if the store's answer took
   * longer than `blockMs`.
   */
  #has(count: number, isFresh: boolean): boolean {
    if (leftIn(this.#block) >= count && (isFresh || !this.#isExpired(this.#block))) return true;
    if (leftIn(this.#following) < count || this.#isExpired(this.#following)) return false;
    this.#replaceBlock(this.#following);
    return true;
  }

  /** The ids that are left in the block before are never used, so the ids of jobs have gaps. */
  #replaceBlock(block: Block): void {
    this.#block = block;
    this.#following = emptyBlock();
  }

  /** Whether the block was reserved more than `blockMs` ago, or store time was set back by more than `blockMs`. */
  #isExpired({ reservedAt }: Block): boolean {
    return Math.abs(this.#store.now() - reservedAt) > blockMs;
  }

  /** Whether more than half of the block's ids, or of its time, are used. */
  #isRunningOut(block: Block): boolean {
    return leftIn(block) * 2 < block.end - block.first || (this.#store.now() - block.reservedAt) * 2 > blockMs;
  }

  /** Replaces the block unless a reservation before has. */
  #reserve(count: number): Promise<void> {
    return this.#afterOthers(async () => {
      if (!this.#has(count, false)) this.#replaceBlock(await this.#newBlock(count));
    });
  }

  /** Reservations run one after another. The failure of a reservation does not prevent the next one. */
  #afterOthers(reserve: () => Promise<void>): Promise<void> {
    this.#reserving = this.#reserving.then(reserve, reserve);
    return this.#reserving;
  }

  async #newBlock(count: number): Promise<Block> {
    const size = Math.max(count, this.#nextSize());
    const reservedAt = this.#store.now();
    const first = await this.#store.reserveIds(size);
    return { first, end: first + size, reservedAt, next: first };
  }

  /** As many ids as were used of the current block, or twice its size if most of it was used before it expired. */
  #nextSize(): number {
    const { first, next, end } = this.#block;
    const isUsedUp = leftIn(this.#block) * 2 < end - first && !this.#isExpired(this.#block);
    return isUsedUp ? Math.min(blockMax, (end - first) * 2) : Math.max(1, next - first);
  }
}
