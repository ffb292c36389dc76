/**
 * Time series for charts: counts and durations per bucket of time. They are counted from the feed and kept in memory,
 * one ring of buckets per range, so that a request never counts rows. Jobs that ended before the server started are
 * read once, from the newest jobs.
 */
import type { EngineCore } from '../../engine/engine.ts';
import type { Job } from '../../model/job.ts';
import { workKinds } from '../../model/state.ts';
import type { FeedEvent } from '../../store/store.ts';
import { endedStandings, standingOf } from '../../store/query.ts';
import type { SeriesRange, SeriesView } from '../contract.ts';
import type { JobDurations } from './durations.ts';

interface Ring {
  readonly bucketMs: number;
  readonly count: number;
  readonly buckets: Map<number, SeriesBucket>;
}

const shapes: Readonly<Record<SeriesRange, readonly [bucketMs: number, count: number]>> = {
  '15m': [10_000, 90],
  '1h': [30_000, 120],
  '6h': [180_000, 120],
  '1d': [600_000, 144],
  '7d': [3_600_000, 168],
  '90d': [43_200_000, 180],
};

const counted = ['created', 'succeeded', 'failed', 'cancelled', 'retried', 'lapsed'] as const;
type Counted = (typeof counted)[number];
type Counts = Record<Counted, number>;

const typesMax = 200;
const typesShownMax = 50;
const loadedPagesMax = 5;
const loadedPageSize = 1_000;

export class TimeSeries {
  readonly #engine: EngineCore;
  readonly #since: number;
  readonly #rings = new Map(Object.entries(shapes).map(([range, [bucketMs, count]]): [string, Ring] =>
    [range, { bucketMs, count, buckets: new Map() }]));
  #loaded: Promise<void> | null = null;

  constructor(engine: EngineCore, now: number) {
    this.#engine = engine;
    this.#since = now;
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
    this.#loaded ??= this.#loadEnded();
    await this.#loaded;
    const { bucketMs, count, buckets } = this.#rings.get(range)!;
    const last = Math.floor(this.#engine.now() / bucketMs);
    const slots = Array.from({ length: count }, (_, index) => last - count + 1 + index);
    const shown = slots.flatMap((slot) => buckets.get(slot) ?? []);
    return {
      since: this.#since,
      bucketMs,
      points: slots.map((slot) => pointOf(slot * bucketMs, buckets.get(slot), type)),
      types: typesOf(shown),
    };
  }

  /** Adds jobs that ended before the server started, from the newest pages only. */
  async #loadEnded(): Promise<void> {
    const query = { kinds: workKinds, standings: endedStandings } as const;
    let after: number | null = null;
    for (let pages = 0; pages < loadedPagesMax; pages++) {
      const page = { order: 'newest', limit: loadedPageSize, ...(after === null ? {} : { after }) } as const;
      const { jobs, next } = await this.#engine.find(query, page);
      for (const job of jobs) this.#addEnded(job);
      if (next === null) return;
      after = next;
    }
  }

  #addEnded(job: Job): void {
    if (job.state !== 'ended' || job.endedAt >= this.#since) return;
    const { startedAt, endedAt, due, type } = job;
    this.#each(job.created, (bucket) => bucket.count(type, 'created'));
    this.#each(endedAt, (bucket) => {
      bucket.count(type, standingOf(job) as Counted);
      if (startedAt !== null) bucket.runs.add(endedAt - startedAt);
    });
    if (startedAt !== null && job.attempt === 1) {
      this.#each(startedAt, (bucket) => bucket.waits.add(Math.max(0, startedAt - due)));
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

class SeriesBucket {
  readonly all: Counts = noCounts();
  readonly types = new Map<string, Counts>();
  readonly waits = new Quantiles();
  readonly runs = new Quantiles();

  count(type: string, word: Counted): void {
    this.all[word] += 1;
    let counts = this.types.get(type);
    if (counts === undefined) {
      if (this.types.size >= typesMax) return;
      this.types.set(type, (counts = noCounts()));
    }
    counts[word] += 1;
  }
}

const noCounts = (): Counts => ({ created: 0, succeeded: 0, failed: 0, cancelled: 0, retried: 0, lapsed: 0 });

/** Four bins per doubling: a quantile is exact to about 10 %. */
const binsPerDoubling = 4;

class Quantiles {
  readonly #bins = new Map<number, number>();
  #count = 0;

  add(ms: number): void {
    const bin = Math.round(Math.log2(Math.max(1, ms)) * binsPerDoubling);
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1);
    this.#count += 1;
  }

  percentiles(): SeriesView['points'][number]['wait'] {
    if (this.#count === 0) return null;
    const bins = [...this.#bins].sort(([a], [b]) => a - b);
    const at = (part: number): number => {
      let left = Math.ceil(part * this.#count);
      for (const [bin, count] of bins) if ((left -= count) <= 0) return Math.round(2 ** (bin / binsPerDoubling));
      return 0;
    };
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  }
}

function pointOf(at: number, bucket: SeriesBucket | undefined, type: string | undefined): SeriesView['points'][number] {
  const counts = (type === undefined ? bucket?.all : bucket?.types.get(type)) ?? noCounts();
  const isWhole = bucket !== undefined && type === undefined;
  return {
    at,
    ...counts,
    wait: isWhole ? bucket.waits.percentiles() : null,
    run: isWhole ? bucket.runs.percentiles() : null,
  };
}

/** The types with most failures first. */
function typesOf(buckets: readonly SeriesBucket[]): SeriesView['types'] {
  const sums = new Map<string, Counts>();
  for (const [type, counts] of buckets.flatMap((bucket) => [...bucket.types])) {
    const sum = sums.get(type) ?? noCounts();
    for (const word of counted) sum[word] += counts[word];
    sums.set(type, sum);
  }
  const all = [...sums].map(([type, counts]) => ({ type, ...counts }));
  return all.sort((a, b) => b.failed - a.failed || b.succeeded - a.succeeded).slice(0, typesShownMax);
}
