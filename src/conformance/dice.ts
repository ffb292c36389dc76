/** Dice: the random choices within one move (see moves.ts), all derived from one seed. With seed 0, every roll is 0. */
import { seededRandom, type Random } from '../random.ts';

export class Dice {
  readonly #random: Random | undefined;

  constructor(seed: number) {
    this.#random = seed === 0 ? undefined : seededRandom(seed);
  }

  roll(sides: number): number {
    return this.#random ? Math.floor(this.#random.next() * sides) : 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.roll(from.length)]!;
  }

  /** Returns true once in `times` calls, on average; with seed 0, never. */
  oneIn(times: number): boolean {
    return this.#random !== undefined && this.roll(times) === 0;
  }
}
