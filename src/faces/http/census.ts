/** The census: how many jobs have ended how. To count a million takes long, so it is done seldom, and once for all. */
import type { EngineCore } from '../../engine/engine.ts';
import type { Tally } from '../../store/query.ts';
import type { Clock } from '../../time/clock.ts';

const kinds = ['run', 'task', 'bedrock'] as const;
const standings = ['succeeded', 'failed', 'cancelled'] as const;

/** At least so long, and so many times as long as it took, a count is good for whoever asks. */
const keptMs = 2_000;
const keptTimes = 20;

export class Census {
  readonly #engine: Pick<EngineCore, 'count'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #counting: Promise<readonly Tally[]> | null = null;
  #goodUntil = 0;

  constructor(engine: Pick<EngineCore, 'count'>, clock: Pick<Clock, 'monotonic'>) {
    this.#engine = engine;
    this.#clock = clock;
  }

  ended(): Promise<readonly Tally[]> {
    if (this.#counting === null || this.#clock.monotonic() > this.#goodUntil) {
      this.#goodUntil = Infinity;
      this.#counting = this.#count();
    }
    return this.#counting;
  }

  async #count(): Promise<readonly Tally[]> {
    const start = this.#clock.monotonic();
    try {
      const tallies = await this.#engine.count({ kinds, standings });
      const now = this.#clock.monotonic();
      this.#goodUntil = now + Math.max(keptMs, (now - start) * keptTimes);
      return tallies;
    } catch (error) {
      this.#counting = null;
      throw error;
    }
  }
}
