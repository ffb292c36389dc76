/**
 * Remembers for each group of fair-share.ts where the last claim of this instance stopped. The first claim of a group
 * begins at a random key: otherwise the first keys would gain from each restart of a process.
 */
import { systemRandom, type Random } from '../random.ts';
import type { ShareTurn } from './waiting-job.ts';

/** Where the last claim of a group stopped: at which key, and how many jobs of the key's turn it had taken. */
export interface Stop {
  /** Encoded, as in the texts of gates. */
  readonly key: string;
  readonly taken: number;
}

/** At this number of groups, all stops are forgotten: the next rounds start at random keys. */
const stopsMax = 10_000;

export class ShareStops {
  readonly #random: Random;
  readonly #stops = new Map<string, Stop>();

  constructor(random: Random = systemRandom) {
    this.#random = random;
  }

  /** Null: this instance has not claimed of the group. */
  of(group: string): Stop | null {
    return this.#stops.get(group) ?? null;
  }

  /** Returns the stop of a group. If there is none, one before a random key of these. */
  among(group: string, keys: () => readonly string[]): Stop {
    return this.#stops.get(group) ?? this.#begin(group, keys());
  }

  /** Returns the stop of a group. If there is none, one at a random text from `first` to `last`, which need not be a key. */
  between(group: string, first: string, last: string): Stop {
    return this.#stops.get(group) ?? this.#begin(group, [textBetween(first, last, this.#random)]);
  }

  /** Records that a job was claimed in its turn, or cannot be locked. */
  record({ group, share: { key, weight } }: ShareTurn): void {
    const stop = this.of(group);
    this.stopAt(group, { key, taken: stop?.key === key && stop.taken < weight ? stop.taken + 1 : 1 });
  }

  stopAt(group: string, stop: Stop): void {
    if (this.#stops.size === stopsMax) this.#stops.clear();
    this.#stops.set(group, stop);
  }

  #begin(group: string, keys: readonly string[]): Stop {
    const stop = { key: keys[Math.floor(this.#random.next() * keys.length)] ?? '', taken: 0 };
    this.stopAt(group, stop);
    return stop;
  }
}

/** The characters of encoded keys have codes from 33 (`!`) to 126 (`~`). */
const [lowest, highest] = [33, 126];

/** Returns a random text: what both texts begin with, a character between their next ones, and random characters. */
function textBetween(first: string, last: string, random: Random): string {
  let same = 0;
  while (same < first.length && first[same] === last[same]) same++;
  const from = first.codePointAt(same) ?? lowest;
  const to = last.codePointAt(same) ?? highest;
  const pick = (low: number, high: number): string =>
    String.fromCodePoint(low + Math.floor(random.next() * (high - low + 1)));
  return first.slice(0, same) + pick(from, to) + Array.from({ length: 8 }, () => pick(lowest, highest)).join('');
}
