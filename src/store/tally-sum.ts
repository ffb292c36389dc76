/** Sums tallies by kind, type and standing, in the order of their first occurrence. */
import type { Job } from '../model/job.ts';
import { standingOf, type Tally } from './query.ts';

type TallySums = Tally & { count: number; due?: number };

export class TallySum {
  readonly #sums = new Map<string, TallySums>();

  add({ kind, type, standing, count, due }: Tally): void {
    // Kinds and standings contain no space. With 20,000 types, a key made by JSON.stringify would take 40 ms.
    const name = `${kind} ${standing} ${type}`;
    const sum = this.#sums.get(name) ?? { kind, type, standing, count: 0 };
    sum.count += count;
    if (due !== undefined) sum.due = (sum.due ?? 0) + due;
    this.#sums.set(name, sum);
  }

  addJob(job: Job, dueBy?: number): void {
    const due = dueBy === undefined ? {} : { due: job.state === 'pending' && job.due < dueBy ? 1 : 0 };
    this.add({ kind: job.kind, type: job.type, standing: standingOf(job), count: 1, ...due });
  }

  all(): Tally[] {
    return [...this.#sums.values()];
  }
}
