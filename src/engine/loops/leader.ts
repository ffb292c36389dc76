/**
 * The leader: the instance that does maintenance most often, so that the others find little to do. Apart from runs with
 * `leaderOnly`, leadership only saves work: maintenance is safe on every instance.
 */
import type { Jobs } from '../../jobs.ts';

export class Leader {
  readonly #jobs: Jobs;
  readonly #by: string;
  readonly #leaseMs: number;
  readonly #mayLead: () => Promise<boolean>;
  #onGained = (): void => {};
  #until = 0;
  #term = 0;

  /** `mayLead`: whether this instance may be the leader now. If not, it does not renew its leadership. */
  constructor(jobs: Jobs, by: string, leaseMs: number, mayLead: () => Promise<boolean> = async () => true) {
    this.#jobs = jobs;
    this.#by = by;
    this.#leaseMs = leaseMs;
    this.#mayLead = mayLead;
  }

  onGained(call: () => void): void {
    this.#onGained = call;
  }

  get isLeader(): boolean {
    return this.#until > this.#jobs.store.now();
  }

  get term(): number {
    return this.#term;
  }

  async turn(): Promise<number> {
    if (!(await this.#mayLead())) return this.#leaseMs / 3;
    const { leader, term, until } = await this.#jobs.store.lead('engine', this.#by, this.#leaseMs);
    const isNew = leader === this.#by && term !== this.#term;
    this.#term = term;
    this.#until = leader === this.#by ? until : 0;
    if (isNew) this.#onGained();
    return this.#leaseMs / 3;
  }
}
