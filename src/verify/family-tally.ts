/**
 * Counts the tasks of runs while all jobs are read in the order of their ids: a search for the tasks of each run would read
 * every task twice. The tasks of a run mostly have higher ids than the run, and follow soon, so that few counts are open
 * at a time.
 */
import type { Job } from '../model/job.ts';

/** The tasks of a run that has planned more are read by a search of their own. */
const plannedMax = 100;
/** How many keys of tasks are remembered. */
const keysMax = 100_000;

interface OpenCount {
  left: number;
  readonly keys: Set<string>;
}

export class FamilyTally {
  readonly #open = new Map<number, OpenCount>();
  /** Runs whose tasks were read by a search. */
  readonly #searched = new Set<number>();
  #keys = 0;

  /** Begins to count the tasks of a run. Returns the runs whose tasks must be read by a search instead. */
  expect(run: number, planned: number): readonly number[] {
    if (planned === 0 || planned > plannedMax) return this.#search([run]);
    this.#open.set(run, { left: planned, keys: new Set() });
    const [oldest] = this.#open.keys();
    return this.#keys + this.#open.size > keysMax ? this.#search([oldest!]) : [];
  }

  /**
   * Counts tasks. Returns the runs whose tasks must be read by a search, because a task is one too many or has the key
   * of another, or because the run has a higher id or had not planned when it was read.
   */
  add(tasks: readonly Job[]): readonly number[] {
    return this.#search([...new Set(tasks.filter((task) => !this.#isCounted(task)).map(({ parent }) => parent!))]);
  }

  /** Returns the runs of which tasks are missing. */
  unfinished(): readonly number[] {
    return [...this.#open.keys()];
  }

  #isCounted({ parent, key }: Job): boolean {
    const count = this.#open.get(parent!);
    if (count === undefined) return this.#searched.has(parent!);
    if (key !== null && count.keys.size === count.keys.add(key).size) return false;
    if (key !== null) this.#keys += 1;
    count.left -= 1;
    if (count.left === 0) this.#close(parent!);
    return true;
  }

  #search(runs: readonly number[]): readonly number[] {
    for (const run of runs) {
      this.#close(run);
      this.#searched.add(run);
    }
    return runs;
  }

  #close(run: number): void {
    this.#keys -= this.#open.get(run)?.keys.size ?? 0;
    this.#open.delete(run);
  }
}
