/**
 * Time series for charts: counts and durations per interval, in one ring of buckets for each range. Events are counted
 * from the feed, and counting continues from the stored state after a restart. All servers count the events of the same
 * feed, so their counts usually agree, and a request need not count rows. For the time before counting began, the
 * newest ended jobs are read once.
 */
import type { EngineCore } from '../../engine/engine.ts';
import type { Job } from '../../model/job.ts';
import { workKinds } from '../../model/state.ts';
import type { FeedEvent } from '../../store/store.ts';
import { endedStandings, standingOf } from '../../store/query.ts';
import type { SeriesRange, SeriesView } from '../contract.ts';
import type { JobDurations } from './durations.ts';
import { Quantiles, type Percentiles } from './quantiles.ts';
import {
  bucketState, SeriesBucket, sumOfTypes, type BucketState, type Counted, counted, noCounts,
} from './series-bucket.ts';

interface Ring {
  readonly bucketMs: number;
  readonly count: number;
  readonly buckets: Map<number, SeriesBucket>;
}

/** The JSON form of all rings. */
export interface SeriesState {
  readonly since: number;
  /** The names of types. The buckets refer to them by index. */
  readonly types: readonly string[];
  readonly rings: Readonly<Record<string, readonly (readonly [slot: number, bucket: BucketState])[]>>;
}

const shapes: Readonly<Record<SeriesRange, readonly [bucketMs: number, count: number]>> = {
  '15m': [10_000, 90],
  '1h': [30_000, 120],
  '6h': [180_000, 120],
  '1d': [600_000, 144],
  '7d': [3_600_000, 168],
  '90d': [43_200_000, 180],
};

const loadedPagesMax = 5;
const loadedPageSize = 1_000;

export class TimeSeries {
  readonly #engine: Pick<EngineCore, 'find' | 'now'>;
  #since: number;
  readonly #rings = new Map(Object.entries(shapes).map(([range, [bucketMs, count]]): [string, Ring] =>
    [range, { bucketMs, count, buckets: new Map() }]));
  #loaded: Promise<void> | null = null;

  constructor(engine: Pick<EngineCore, 'find' | 'now'>, now: number) {
    this.#engine = engine;
    this.#since = now;
  }

  /** Sets the time from which events are counted. `load` adds jobs that ended before this time. */
  countFrom(since: number): void {
    this.#since = since;
  }

  add({ kind, type, event }: FeedEvent, { waitedMs, ranMs }: JobDurations): void {
    if (!workKinds.includes(kind)) return;
    const word = counted.find((one) => one === event.kind);
    if (word === undefined && waitedMs === null && ranMs === null) return;
    this.#each(event.at, (bucket) => {
      if (word !== undefined) bucket.count(type, word);
      if (waitedMs !== null) bucket.waits.add(waitedMs);
      if (ranMs !== null) bucket.runs.add(ranMs);
    });
  }

  async answer(range: SeriesRange, type: string | undefined): Promise<SeriesView> {
    await this.load();
    const { bucketMs, count, buckets } = this.#rings.get(range)!;
    const last = Math.floor(this.#engine.now() / bucketMs);
    const slots = Array.from({ length: count }, (_, index) => last - count + 1 + index);
    const shown = slots.flatMap((slot) => buckets.get(slot) ?? []);
    return {
      since: this.#since,
      bucketMs,
      points: slots.map((slot) => ({
        at: slot * bucketMs,
        ...countsAt(buckets.get(slot), type),
        wait: type === undefined ? percentilesAt(buckets, slot, 'waits') : null,
        run: type === undefined ? percentilesAt(buckets, slot, 'runs') : null,
      })),
      types: sumOfTypes(shown),
    };
  }

  /**
   * Reads the newest ended jobs, up to `loadedPagesMax` pages, and adds those that ended before counting began. Later
   * calls, and calls after `restore`, read nothing, unless the first read failed.
   */
  async load(): Promise<void> {
    const loading = (this.#loaded ??= this.#loadEnded());
    try {
      await loading;
    } catch (error) {
      if (this.#loaded === loading) this.#loaded = null;
      throw error;
    }
  }

  state(): SeriesState {
    const types: string[] = [];
    const indexes = new Map<string, number>();
    const indexOf = (type: string): number => {
      if (!indexes.has(type)) indexes.set(type, types.push(type) - 1);
      return indexes.get(type)!;
    };
    const rings = [...this.#rings].map(([range, { buckets }]) =>
      [range, [...buckets].map(([slot, bucket]) => [slot, bucketState(bucket, indexOf)] as const)] as const);
    return { since: this.#since, types, rings: Object.fromEntries(rings) };
  }

  restore({ since, types, rings }: SeriesState): void {
    this.#since = since;
    this.#loaded = Promise.resolve();
    for (const [range, ring] of this.#rings) {
      ring.buckets.clear();
      for (const [slot, bucket] of rings[range] ?? []) ring.buckets.set(slot, SeriesBucket.from(bucket, types));
    }
  }

  async #loadEnded(): Promise<void> {
    for (const job of await this.#newestEnded()) this.#addEnded(job);
  }

  async #newestEnded(): Promise<readonly Job[]> {
    const ended: Job[] = [];
    const query = { kinds: workKinds, standings: endedStandings } as const;
    let after: number | null = null;
    for (let pages = 0; pages < loadedPagesMax; pages++) {
      const page = { order: 'newest', limit: loadedPageSize, ...(after === null ? {} : { after }) } as const;
      const { jobs, next } = await this.#engine.find(query, page);
      ended.push(...jobs);
      if (next === null) break;
      after = next;
    }
    return ended;
  }

  #addEnded(job: Job): void {
    if (job.state !== 'ended' || job.endedAt >= this.#since) return;
    const { startedAt, endedAt, due, created, type } = job;
    this.#each(created, (bucket) => bucket.count(type, 'created'));
    this.#each(endedAt, (bucket) => {
      bucket.count(type, standingOf(job) as Counted);
      if (startedAt !== null) bucket.runs.add(endedAt - startedAt);
    });
    if (startedAt !== null && job.attempt === 1) {
      this.#each(startedAt, (bucket) => bucket.waits.add(Math.max(0, startedAt - Math.max(due, created))));
    }
  }

  #each(at: number, work: (bucket: SeriesBucket) => void): void {
    const now = this.#engine.now();
    for (const { bucketMs, count, buckets } of this.#rings.values()) {
      const [slot, oldest] = [Math.floor(at / bucketMs), Math.floor(now / bucketMs) - count + 1];
      if (slot < oldest) continue;
      let bucket = buckets.get(slot);
      if (bucket === undefined) {
        buckets.set(slot, (bucket = new SeriesBucket()));
        for (const old of buckets.keys()) if (old < oldest) buckets.delete(old);
      }
      work(bucket);
    }
  }
}

const countsAt = (bucket: SeriesBucket | undefined, type: string | undefined): Readonly<Record<Counted, number>> =>
  (type === undefined ? bucket?.all : bucket?.types.get(type)) ?? noCounts();

/**
 * If a bucket has fewer durations than this, its percentiles include durations of the buckets before it. Otherwise one
 * long job could determine the 99th percentile, which is the longest duration if there are only ten.
 */
const durationsMin = 100;
const bucketsBackMax = 10;

/** Returns the percentiles to show for the bucket `slot`; null: this bucket has no durations of its own. */
function percentilesAt(
  buckets: ReadonlyMap<number, SeriesBucket>,
  slot: number,
  name: 'waits' | 'runs',
): Percentiles | null {
  const own = buckets.get(slot)?.[name];
  if (own === undefined || own.count === 0) return null;
  const summed = [own];
  for (let [back, count] = [1, own.count]; back <= bucketsBackMax && count < durationsMin; back += 1) {
    const before = buckets.get(slot - back)?.[name];
    if (before === undefined) continue;
    summed.push(before);
    count += before.count;
  }
  return Quantiles.sum(summed).percentiles();
}
