// Draws: all chance of a simulation. Each stream has its own numbers: what one is asked does not move the others.
import { seededRandom, type Random } from '../../src/random.ts';

export class Draws {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  stream(name: string): Stream {
    return new Stream(seededRandom(hashOf(name, this.#seed)));
  }

  /** A number in [0, 1) that hangs on the words alone. */
  of(...words: readonly (string | number)[]): number {
    return seededRandom(hashOf(words.join('/'), this.#seed)).next();
  }
}

export class Stream implements Random {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): number {
    return this.#random.next();
  }

  hex(bytes: number): string {
    return this.#random.hex(bytes);
  }

  isTrue(chance: number): boolean {
    return this.next() < chance;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  whole(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.whole(0, from.length - 1)]!;
  }

  /** How long until something that happens once in so long on average. */
  wait(averageMs: number): number {
    return Math.min(-Math.log(1 - this.next()) * averageMs, averageMs * 10);
  }
}

export function hashOf(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
