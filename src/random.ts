/** The source of randomness: random numbers, which a simulation replaces, and the names of instances. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** Random bytes as hexadecimal digits, two for each byte. */
  hex(bytes: number): string;
}

export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  hex: (bytes) => randomBytes(bytes).toString('hex'),
};

/** Random bytes for encryption, which no seed may replace. */
export const randomBytesOf = (count: number): Buffer => randomBytes(count);

/** A reproducible source for tests: the same seed gives the same numbers (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const byte = (): string => Math.floor(next() * 256).toString(16).padStart(2, '0');
  return { next, hex: (bytes) => Array.from({ length: bytes }, byte).join('') };
}

/** Returns a new instance name. Its random part distinguishes containers with the same host name and process id. */
export const instanceName = (random: Random): string => `${hostname().slice(0, 40)}-${process.pid}-${random.hex(4)}`;
