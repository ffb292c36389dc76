/** The series bucket: the counts by type and the quantiles of durations within one interval of a time series. */
import type { SeriesView } from '../contract.ts';
import { Quantiles, type QuantilesState } from './quantiles.ts';

export const counted = ['created', 'succeeded', 'failed', 'cancelled', 'retried', 'lapsed'] as const;
export type Counted = (typeof counted)[number];
type Counts = Record<Counted, number>;

/**
 * The JSON form of a bucket. `all` has the counts in the order of `counted`. Each entry of `types` starts with the
 * index of a type in `SeriesState.types`. The counts of this type follow, in the order of `counted`.
 */
export interface BucketState {
  readonly all: readonly number[];
  readonly types: readonly (readonly number[])[];
  readonly waits: QuantilesState | null;
  readonly runs: QuantilesState | null;
}

/** How many types a bucket counts separately. Further types are only in the sum `all`. */
const typesMax = 50;
const typesShownMax = 50;

export class SeriesBucket {
  readonly all: Counts = noCounts();
  readonly types = new Map<string, Counts>();
  waits = new Quantiles();
  runs = new Quantiles();

  static from(state: BucketState, types: readonly string[]): SeriesBucket {
    const bucket = new SeriesBucket();
    Object.assign(bucket.all, countsOf(state.all));
    for (const [type, ...counts] of state.types) bucket.types.set(types[type!]!, countsOf(counts));
    if (state.waits) bucket.waits = new Quantiles(state.waits);
    if (state.runs) bucket.runs = new Quantiles(state.runs);
    return bucket;
  }

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

export const noCounts = (): Counts => ({ created: 0, succeeded: 0, failed: 0, cancelled: 0, retried: 0, lapsed: 0 });

const countsOf = (values: readonly number[]): Counts =>
  Object.fromEntries(counted.map((word, index) => [word, values[index] ?? 0])) as Counts;

const valuesOf = (counts: Counts): number[] => counted.map((word) => counts[word]);

export const bucketState = (
  { all, types, waits, runs }: SeriesBucket,
  indexOf: (type: string) => number,
): BucketState => ({
  all: valuesOf(all),
  types: [...types].map(([type, counts]) => [indexOf(type), ...valuesOf(counts)]),
  waits: waits.state(),
  runs: runs.state(),
});

/** Sums the counts of buckets by type; the types with the most failures come first. */
export function sumOfTypes(buckets: readonly SeriesBucket[]): SeriesView['types'] {
  const sums = new Map<string, Counts>();
  for (const [type, counts] of buckets.flatMap((bucket) => [...bucket.types])) {
    const sum = sums.get(type) ?? noCounts();
    for (const word of counted) sum[word] += counts[word];
    sums.set(type, sum);
  }
  const all = [...sums].map(([type, counts]) => ({ type, ...counts }));
  return all.sort((a, b) => b.failed - a.failed || b.succeeded - a.succeeded).slice(0, typesShownMax);
}
