/**
 * Ranges of skipped ticks by time. They are kept in chains of ranges that follow each other: a schedule skips its ticks in
 * the order of time, so there are about as many chains as schedules, each searched by bisection.
 */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface Entry<R> {
  readonly range: R;
  /** Its position among all ranges. */
  readonly position: number;
}

export class SkipRanges<R extends Range> {
  readonly #chains: Entry<R>[][] = [];
  #count = 0;

  add(range: R): void {
    const entry = { range, position: this.#count++ };
    const chain = this.#chains.find((some) => some.at(-1)!.range.to < range.from);
    if (chain === undefined) this.#chains.push([entry]);
    else chain.push(entry);
  }

  /** Returns the ranges that contain the time, in the order in which they were added. */
  at(time: number): readonly R[] {
    return this.#chains
      .flatMap((chain) => lastFrom(chain, time) ?? [])
      .filter(({ range }) => time <= range.to)
      .toSorted((a, b) => a.position - b.position)
      .map(({ range }) => range);
  }

  *[Symbol.iterator](): Generator<R, void, undefined> {
    for (const chain of this.#chains) for (const { range } of chain) yield range;
  }
}

/** Returns the last entry that begins at or before the time. */
function lastFrom<R extends Range>(chain: readonly Entry<R>[], time: number): Entry<R> | undefined {
  let [low, high] = [0, chain.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (chain[middle]!.range.from <= time) low = middle + 1;
    else high = middle;
  }
  return chain[low - 1];
}
