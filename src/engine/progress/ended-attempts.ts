/**
 * The attempts that have ended or were lost lately. A job is forgotten when another one with the same slot ends: with
 * consecutive ids, after 8,192 jobs.
 *
 * It has typed arrays instead of a Map: the tables of a Map that gains and loses entries all the time would be most of the
 * garbage in the old generation of V8 (bench/LEDGER.md, "typed arrays for what changes with each job").
 */
import type { Holding } from '../../store/store.ts';

const slots = 8_192;

export class EndedAttempts {
  readonly #ids = new Float64Array(slots).fill(Number.NaN);
  readonly #fences = new Float64Array(slots);

  add({ id, fence }: Holding): void {
    const slot = id % slots;
    this.#ids[slot] = id;
    this.#fences[slot] = fence;
  }

  /** Whether this attempt or a later one of the job was added. */
  has({ id, fence }: Holding): boolean {
    const slot = id % slots;
    return this.#ids[slot] === id && this.#fences[slot]! >= fence;
  }
}
