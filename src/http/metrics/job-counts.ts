/**
 * Job counts by type and state. Counting a million jobs is slow, so simultaneous requests share one count, and slow
 * counts are cached.
 */
import type { EngineCore } from '../../engine/engine.ts';
import { workKinds } from '../../model/state.ts';
import { endedStandings, openStandings, type Query, type Tally } from '../../store/query.ts';
import type { Clock } from '../../time/clock.ts';

type Counter = Pick<EngineCore, 'count' | 'now'>;
type MonotonicClock = Pick<Clock, 'monotonic'>;

/** A count that takes at most this long is not cached, except the count of ended jobs. */
const cheapMs = 50;
/** A slower count is cached for this many milliseconds per millisecond that it took beyond `cheapMs`. */
const cacheFactor = 20;
/** How long the count of ended jobs is cached at least. */
const endedCacheMs = 2_000;

export class JobCounts {
  readonly #open: CachedCount;
  readonly #ready: CachedCount;
  readonly #ended: CachedCount;

  constructor(engine: Counter, clock: MonotonicClock) {
    const counted = (query: () => Query, cacheMs = 0): CachedCount => new CachedCount(engine, clock, query, cacheMs);
    this.#open = counted(() => ({ kinds: workKinds, standings: openStandings }));
    this.#ready = counted(() => ({ kinds: workKinds, standings: ['pending'], dueBefore: engine.now() }));
    this.#ended = counted(() => ({ kinds: workKinds, standings: endedStandings }), endedCacheMs);
  }

  open(): Promise<readonly Tally[]> {
    return this.#open.read();
  }

  /** Counts the pending jobs that are due. */
  ready(): Promise<readonly Tally[]> {
    return this.#ready.read();
  }

  ended(): Promise<readonly Tally[]> {
    return this.#ended.read();
  }
}

class CachedCount {
  readonly #engine: Counter;
  readonly #clock: MonotonicClock;
  readonly #query: () => Query;
  readonly #cacheMs: number;
  #counting: Promise<readonly Tally[]> | null = null;
  #validUntil = 0;

  constructor(engine: Counter, clock: MonotonicClock, query: () => Query, cacheMs: number) {
    this.#engine = engine;
    this.#clock = clock;
    this.#query = query;
    this.#cacheMs = cacheMs;
  }

  read(): Promise<readonly Tally[]> {
    if (this.#counting === null || this.#clock.monotonic() > this.#validUntil) {
      this.#validUntil = Infinity;
      this.#counting = this.#count();
    }
    return this.#counting;
  }

  async #count(): Promise<readonly Tally[]> {
    const start = this.#clock.monotonic();
    try {
      const tallies = await this.#engine.count(this.#query());
      const now = this.#clock.monotonic();
      this.#validUntil = now + Math.max(this.#cacheMs, (now - start - cheapMs) * cacheFactor);
      return tallies;
    } catch (error) {
      this.#counting = null;
      throw error;
    }
  }
}
