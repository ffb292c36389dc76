/**
 * Job counts by type and state. Counting a million jobs is slow, so simultaneous requests share one count, and slow
 * counts are cached.
 */
import type { EngineCore } from '../../engine/engine.ts';
import { workKinds } from '../../model/state.ts';
import { endedStandings, openStandings, type Tally } from '../../store/query.ts';
import type { Clock } from '../../time/clock.ts';

type Counter = Pick<EngineCore, 'count' | 'now'>;
type MonotonicClock = Pick<Clock, 'monotonic'>;

/** A count that takes at most this long is not cached, except the count of ended jobs. */
const cheapMs = 50;
/** A count that takes longer than `cheapMs` is cached for this many times the excess over `cheapMs`. */
const cacheFactor = 20;
/** The shortest time for which the count of ended jobs is cached. */
const endedCacheMs = 2_000;

export class JobCounts {
  readonly #open: CachedCount;
  readonly #ended: CachedCount;

  constructor(engine: Counter, clock: MonotonicClock) {
    const open = { kinds: workKinds, standings: openStandings };
    const ended = { kinds: workKinds, standings: endedStandings };
    this.#open = new CachedCount(clock, 0, () => engine.count(open, engine.now()));
    this.#ended = new CachedCount(clock, endedCacheMs, () => engine.count(ended));
  }

  /** Counts open jobs. The field `due` of a tally counts those that are pending and due. */
  open(): Promise<readonly Tally[]> {
    return this.#open.read();
  }

  ended(): Promise<readonly Tally[]> {
    return this.#ended.read();
  }
}

class CachedCount {
  readonly #clock: MonotonicClock;
  readonly #cacheMs: number;
  readonly #count: () => Promise<readonly Tally[]>;
  #counting: Promise<readonly Tally[]> | null = null;
  #validUntil = 0;

  constructor(clock: MonotonicClock, cacheMs: number, count: () => Promise<readonly Tally[]>) {
    this.#clock = clock;
    this.#cacheMs = cacheMs;
    this.#count = count;
  }

  read(): Promise<readonly Tally[]> {
    if (this.#counting === null || this.#clock.monotonic() > this.#validUntil) {
      this.#validUntil = Infinity;
      this.#counting = this.#countAgain();
    }
    return this.#counting;
  }

  async #countAgain(): Promise<readonly Tally[]> {
    const start = this.#clock.monotonic();
    try {
      const tallies = await this.#count();
      const now = this.#clock.monotonic();
      this.#validUntil = now + Math.max(this.#cacheMs, (now - start - cheapMs) * cacheFactor);
      return tallies;
    } catch (error) {
      this.#counting = null;
      throw error;
    }
  }
}
