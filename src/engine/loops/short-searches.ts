/**
 * Short searches: searches that found fewer jobs than they wanted. While another search finds as many as it wants, they
 * need not be repeated in every turn.
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

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note({ types: [type], limit }: Want, found: number): void {
    if (found < limit) this.#until.set(type, this.#clock.monotonic() + repeatMs);
    else this.#until.delete(type);
  }

  /** Call when a job may be due: all are to be repeated. */
  forget(): void {
    this.#until.clear();
  }

  /** Returns those of the wants whose searches need not be repeated if another one finds all that it wants. */
  among(wants: readonly Want[]): ReadonlySet<Want> {
    if (this.#until.size === 0 || wants.length === 1) return none;
    const now = this.#clock.monotonic();
    return new Set(wants.filter(({ types: [type] }) => (this.#until.get(type) ?? -Infinity) > now));
  }
}

const none: ReadonlySet<Want> = new Set();
