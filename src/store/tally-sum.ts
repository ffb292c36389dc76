/** Sums tallies by kind, type and standing, in the order of their first occurrence. */
import type { Job } from '../model/job.ts';
import { standingOf, type Tally } from './query.ts';

export class TallySum {
  readonly #sums = new Map<string, Tally>();

  add(tally: Tally): void {
    const name = JSON.stringify([tally.kind, tally.type, tally.standing]);
    this.#sums.set(name, { ...tally, count: tally.count + (this.#sums.get(name)?.count ?? 0) });
  }

  addJob(job: Job): void {
    this.add({ kind: job.kind, type: job.type, standing: standingOf(job), count: 1 });
  }

  all(): Tally[] {
    return [...this.#sums.values()];
  }
}
