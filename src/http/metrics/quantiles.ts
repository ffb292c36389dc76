/** Quantiles of durations, estimated from counts per bin. The JSON form of the bins is stored with the time series. */

export interface QuantilesState {
  readonly bins: readonly (readonly [bin: number, count: number])[];
  readonly min: number;
  readonly max: number;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * The number of bins between a duration and twice that duration. With eight bins, an estimated quantile is off by at
 * most 5 %. An estimate outside the range of the added durations is replaced by the shortest or the longest of them.
 */
const binsPerDoubling = 8;

export class Quantiles {
  readonly #bins: Map<number, number>;
  #min: number;
  #max: number;

  constructor({ bins, min, max }: QuantilesState = { bins: [], min: Infinity, max: 0 }) {
    this.#bins = new Map(bins);
    this.#min = min;
    this.#max = max;
  }

  static sum(all: readonly Quantiles[]): Quantiles {
    const sum = new Quantiles();
    for (const one of all) {
      for (const [bin, count] of one.#bins) sum.#bins.set(bin, (sum.#bins.get(bin) ?? 0) + count);
      sum.#min = Math.min(sum.#min, one.#min);
      sum.#max = Math.max(sum.#max, one.#max);
    }
    return sum;
  }

  get count(): number {
    return this.#bins.values().reduce((sum, count) => sum + count, 0);
  }

  add(ms: number): void {
    const bin = Math.round(Math.log2(Math.max(1, ms)) * binsPerDoubling);
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1);
    this.#min = Math.min(this.#min, ms);
    this.#max = Math.max(this.#max, ms);
  }

  percentiles(): Percentiles | null {
    if (this.#bins.size === 0) return null;
    const bins = [...this.#bins].sort(([a], [b]) => a - b);
    const total = bins.reduce((sum, [, count]) => sum + count, 0);
    const at = (part: number): number => this.#bounded(binAt(bins, Math.ceil(part * total)));
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  }

  /** The JSON form; null: no duration was added. */
  state(): QuantilesState | null {
    return this.#bins.size === 0 ? null : { bins: [...this.#bins], min: this.#min, max: this.#max };
  }

  #bounded(bin: number): number {
    return Math.round(Math.min(this.#max, Math.max(this.#min, 2 ** (bin / binsPerDoubling))));
  }
}

/** Returns the bin of the duration with this rank. Rank 1 is the shortest duration. */
function binAt(bins: readonly (readonly [number, number])[], rank: number): number {
  let left = rank;
  return bins.find(([, count]) => (left -= count) <= 0)?.[0] ?? 0;
}
