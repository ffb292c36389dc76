/**
 * Counting: elects the server that counts events for the metrics. Every server follows the feed, so without the role
 * `counting` each event would be counted once per server. The elected server also stores the time series, from which
 * servers continue after a restart.
 */
import type { EngineCore } from '../../engine/engine.ts';
import type { Logger } from '../../logger.ts';
import type { Clock } from '../../time/clock.ts';
import { Loop } from '../../time/loop.ts';
import { systemRandom } from '../../random.ts';
import type { EventFeed } from '../events/feed.ts';
import { loadSeries, storeSeries } from './stored-series.ts';
import type { DefinitionMetrics } from './definition-metrics.ts';
import type { TimeSeries } from './time-series.ts';

export interface CountingParts {
  readonly engine: EngineCore;
  readonly timeSeries: TimeSeries;
  readonly definitions: Pick<DefinitionMetrics, 'state' | 'restore'>;
  readonly feed: () => Pick<EventFeed, 'cursor'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const role = 'counting';
const leaseMs = 10_000;
const turnMs = 3_000;
export const storeEveryMs = 180_000;

export class Counting {
  readonly #parts: CountingParts;
  readonly #loop: Loop;
  #until = 0;
  #storedAt: number;

  constructor(parts: CountingParts) {
    this.#parts = parts;
    this.#loop = new Loop('counting', { ...parts, random: systemRandom }, () => this.#turn());
    this.#storedAt = parts.clock.monotonic();
  }

  /** Whether this server has the role `counting`, and therefore counts the events of the store. */
  get isHere(): boolean {
    return this.#until > this.#parts.engine.now();
  }

  /**
   * Restores the stored time series; returns the feed cursor from which counting continues. Null: no stored series can
   * be continued, and counting begins with the oldest event.
   */
  async begin(): Promise<string | null> {
    const { engine, timeSeries, definitions, logger } = this.#parts;
    await this.#lead();
    this.#loop.start();
    const stored = await loadSeries(engine.jobs);
    try {
      if (stored !== null) {
        // This read throws if the cursor is from another kind of store, as after a copy of the data from SQLite to
        // PostgreSQL. In that case the series is not restored, because counting begins with the oldest event.
        await engine.jobs.events(stored.cursor, 1);
        timeSeries.restore(stored);
        definitions.restore(stored.lastSuccesses ?? []);
        return stored.cursor;
      }
    } catch (error) {
      logger.warn('cannot continue the stored time series', { error });
    }
    const { events: [oldest] } = await engine.jobs.events(null, 1);
    timeSeries.countFrom(oldest?.event.at ?? engine.now());
    return null;
  }

  async store(): Promise<void> {
    const { engine, timeSeries, definitions, feed } = this.#parts;
    if (!this.isHere) return;
    await timeSeries.load();
    const { cursor } = feed();
    // The cursor and the state are read without an `await` between them, so that the state contains exactly the events
    // up to the cursor.
    if (cursor !== null) {
      const series = { cursor, ...timeSeries.state(), lastSuccesses: definitions.state() };
      await storeSeries(engine.jobs, series, engine.instance);
    }
    this.#storedAt = this.#parts.clock.monotonic();
  }

  async close(): Promise<void> {
    await this.#loop.stop();
    if (!this.isHere) return;
    const { engine, logger } = this.#parts;
    // Gives up the role, so that another server takes it at its next turn. If this fails, the lease of the role lapses
    // within seconds.
    await engine.jobs.store.lead(role, engine.instance, 0).catch((error: unknown) => {
      logger.warn('cannot give up the role of counting', { error });
    });
    this.#until = 0;
  }

  async #turn(): Promise<number> {
    await this.#lead();
    if (this.#parts.clock.monotonic() - this.#storedAt >= storeEveryMs) await this.store();
    return turnMs;
  }

  async #lead(): Promise<void> {
    const { engine } = this.#parts;
    const { leader, until } = await engine.jobs.store.lead(role, engine.instance, leaseMs);
    this.#until = leader === engine.instance ? until : 0;
  }
}
