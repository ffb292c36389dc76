/** Cancel delivery: aborts the attempts of cancelled jobs, and stops jobs whose grace period has passed. */
import { stopJob } from '../../jobs/operate.ts';
import type { Jobs } from '../../jobs.ts';
import type { Attempts } from '../attempt/attempts.ts';

export class CancelDelivery {
  readonly #jobs: Jobs;
  readonly #by: string;
  readonly #attempts: Attempts;

  constructor(jobs: Jobs, by: string, attempts: Attempts) {
    this.#jobs = jobs;
    this.#by = by;
    this.#attempts = attempts;
  }

  async deliver(ids: readonly number[]): Promise<void> {
    const { store } = this.#jobs;
    for (const { id, state, cancel } of await store.load(ids)) {
      if (cancel === null || state === 'ended') continue;
      this.#attempts.get(id)?.cancel(cancel.why ?? `cancelled by ${cancel.by}`);
      if (cancel.stopAt !== null && cancel.stopAt <= store.now()) await this.#stop(id);
    }
  }

  async #stop(id: number): Promise<void> {
    await stopJob(this.#jobs.store, id, { by: this.#by, code: 'automation', why: 'did not give up in time' });
    this.#attempts.get(id)?.revoke();
  }
}
