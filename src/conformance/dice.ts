/** Dice: the choices within one move, all drawn from one number; from 0 they always show 0. */
import { seededRandom, type Random } from '../random.ts';

export class Dice {
  readonly #random: Random | undefined;

  constructor(seed: number) {
    this.#random = seed === 0 ? undefined : seededRandom(seed);
  }

  /** A number from 0 to below `sides`. */
  roll(sides: number): number {
    return this.#random ? Math.floor(this.#random.next() * sides) : 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.roll(from.length)]!;
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.#random !== undefined && this.roll(times) === 0;
  }
}
