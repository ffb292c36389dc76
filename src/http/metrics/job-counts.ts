/** The census: how many jobs are open or have ended. To count a million takes long, so it is done once for all. */
import type { EngineCore } from '../../engine/engine.ts';
import { workKinds } from '../../model/state.ts';
import { endedStandings, openStandings, type Query, type Tally } from '../../store/query.ts';
import type { Clock } from '../../time/clock.ts';

type Counter = Pick<EngineCore, 'count'>;
type Ticker = Pick<Clock, 'monotonic'>;

/** What takes no longer than this may be counted for everyone anew. */
const cheapMs = 50;
/** So many times as long as it took beyond that, a count is good for whoever asks. */
const keptTimes = 20;
const endedKeptMs = 2_000;

export class Census {
  readonly #open: Count;
  readonly #ended: Count;

  constructor(engine: Counter, clock: Ticker) {
    this.#open = new Count(engine, clock, { kinds: workKinds, standings: openStandings }, 0);
    this.#ended = new Count(engine, clock, { kinds: workKinds, standings: endedStandings }, endedKeptMs);
  }

  open(): Promise<readonly Tally[]> {
    return this.#open.read();
  }

  ended(): Promise<readonly Tally[]> {
    return this.#ended.read();
  }
}

class Count {
  readonly #engine: Counter;
  readonly #clock: Ticker;
  readonly #query: Query;
  readonly #keptMs: number;
  #counting: Promise<readonly Tally[]> | null = null;
  #goodUntil = 0;

  constructor(engine: Counter, clock: Ticker, query: Query, keptMs: number) {
    this.#engine = engine;
    this.#clock = clock;
    this.#query = query;
    this.#keptMs = keptMs;
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
      this.#goodUntil = now + Math.max(this.#keptMs, (now - start - cheapMs) * keptTimes);
      return tallies;
    } catch (error) {
      this.#counting = null;
      throw error;
    }
  }
}
