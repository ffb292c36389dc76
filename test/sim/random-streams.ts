// The random numbers of a simulation, in named streams. Reading one stream does not change the others.
import { seededRandom, type Random } from '../../src/random.ts';

export class RandomStreams {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  stream(name: string): RandomStream {
    return new RandomStream(seededRandom(hashOf(name, this.#seed)));
  }

  /** A number in [0, 1) that depends only on the seed and the parts. */
  numberFor(...parts: readonly (string | number)[]): number {
    return seededRandom(hashOf(parts.join('/'), this.#seed)).next();
  }
}

export class RandomStream implements Random {
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

  integer(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.integer(0, from.length - 1)]!;
  }

  /** An exponentially distributed interval with this average, at most ten times as long. */
  intervalMs(averageMs: number): number {
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
