/** Job counts: how many jobs are open or have ended. Counting a million takes long, so one count is cached for all. */
import type { EngineCore } from '../../engine/engine.ts';
import { workKinds } from '../../model/state.ts';
import { endedStandings, openStandings, type Query, type Tally } from '../../store/query.ts';
import type { Clock } from '../../time/clock.ts';

type Counter = Pick<EngineCore, 'count'>;
type Ticker = Pick<Clock, 'monotonic'>;

/** What takes no longer than this may be counted for everyone anew. */
const cheapMs = 50;
/** Beyond that, a count is cached for this many times as long as it took. */
const cacheFactor = 20;
const endedCacheMs = 2_000;

export class JobCounts {
  readonly #open: CachedCount;
  readonly #ended: CachedCount;

  constructor(engine: Counter, clock: Ticker) {
    this.#open = new CachedCount(engine, clock, { kinds: workKinds, standings: openStandings }, 0);
    this.#ended = new CachedCount(engine, clock, { kinds: workKinds, standings: endedStandings }, endedCacheMs);
  }

  open(): Promise<readonly Tally[]> {
    return this.#open.read();
  }

  ended(): Promise<readonly Tally[]> {
    return this.#ended.read();
  }
}

class CachedCount {
  readonly #engine: Counter;
  readonly #clock: Ticker;
  readonly #query: Query;
  readonly #cacheMs: number;
  #counting: Promise<readonly Tally[]> | null = null;
  #goodUntil = 0;

  constructor(engine: Counter, clock: Ticker, query: Query, cacheMs: number) {
    this.#engine = engine;
    this.#clock = clock;
    this.#query = query;
    this.#cacheMs = cacheMs;
  }

  read(): Promise<readonly Tally[]> {
    if (this.#counting === null || this.#clock.monotonic() > this.#goodUntil) {
      this.#goodUntil = Infinity;
      this.#counting = this.#count();
    }
    return this.#counting;
  }

  async #count(): Promise<readonly Tally[]> {
    const start = this.#clock.monotonic();
    try {
      const tallies = await this.#engine.count(this.#query);
      const now = this.#clock.monotonic();
      this.#goodUntil = now + Math.max(this.#cacheMs, (now - start - cheapMs) * cacheFactor);
      return tallies;
    } catch (error) {
      this.#counting = null;
      throw error;
    }
  }
}
