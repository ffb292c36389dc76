/**
 * Short searches: searches that found fewer jobs than they wanted. They have left no due job, so that nothing is to be
 * claimed when a slot becomes free. While another search finds as many as it wants, they need not be repeated in every turn.
 *
 * Saves (bench/LEDGER.md, "types without jobs are not searched beside each claim of a batch"): every second claim of an
 * engine whose types have batches. Instance commands are jobs of a type of their own, which is claimed apart.
 * Applies for `repeatMs` after a short search, in turns in which another search finds all that it wants, until a job may
 * be due. A turn in which all find less searches for everything.
 * Without it each turn searches for everything.
 */
import type { Clock } from '../../time/clock.ts';
import type { Want } from './canary-share.ts';

/** Jobs that become due by their time, without a notification, wait for so long at most. */
const repeatMs = 200;

export class ShortSearches {
  readonly #clock: Clock;
  /** By the first type of a want: until when the search need not be repeated. Monotonic times. */
  readonly #until = new Map<string | undefined, number>();
  /** How often `forget` was called. */
  #forgotten = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call before a search, and the returned function with the number of jobs that it has found. */
  begin({ types: [type], limit }: Want): (found: number) => void {
    const forgotten = this.#forgotten;
    this.#until.delete(type);
    return (found) => {
      // The search may not have seen a job that was announced meanwhile.
      if (found < limit && forgotten === this.#forgotten) this.#until.set(type, this.#clock.monotonic() + repeatMs);
    };
  }

  /** Call when a job may be due: all are to be repeated. */
  forget(): void {
    this.#forgotten += 1;
    this.#until.clear();
  }

  /** Whether the last search for these types was short, and no job was announced since. */
  has(types: readonly string[]): boolean {
    return this.#until.has(types[0]);
  }

  /** Returns those of the wants whose searches need not be repeated if another one finds all that it wants. */
  among(wants: readonly Want[]): ReadonlySet<Want> {
    if (this.#until.size === 0 || wants.length === 1) return none;
    const now = this.#clock.monotonic();
    return new Set(wants.filter(({ types: [type] }) => (this.#until.get(type) ?? -Infinity) > now));
  }
}

const none: ReadonlySet<Want> = new Set();
