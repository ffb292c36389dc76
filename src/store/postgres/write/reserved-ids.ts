/**
 * The newest ids that this process has reserved: from `#first` to `#last`, with no id of another process between them.
 * While the counter in the database has the value `#last`, no process has reserved a higher id, so new jobs with these
 * ids are in the order of creation.
 */
import { OutdatedIds } from '../../store.ts';
import { ignore } from '../sql/errors.ts';

export class ReservedIds {
  #first = Infinity;
  #last = -1;
  #reserving: Promise<void> = Promise.resolve();
  #reservations = 0;

  /** Awaits a reservation of this process, and records its ids; returns the first id. */
  async track(reservation: Promise<number>, amount: number): Promise<number> {
    this.#reservations += 1;
    this.#reserving = reservation.then(ignore, ignore);
    const first = await reservation;
    if (first !== this.#last + 1) this.#first = first;
    this.#last = first + amount - 1;
    return first;
  }

  /**
   * Runs a commit of jobs with ids from `lowest` on. `commit` gets `#last`, and must throw OutdatedIds if `#last` is no
   * longer the last reserved id. If this process has begun to reserve ids meanwhile, the commit runs again.
   */
  async commitInOrder<T>(lowest: number, commit: (last: number) => Promise<T>): Promise<T> {
    for (;;) {
      const reservations = this.#reservations;
      await this.#reserving;
      if (lowest < this.#first) throw new OutdatedIds();
      try {
        return await commit(this.#last);
      } catch (error) {
        if (!(error instanceof OutdatedIds) || this.#reservations === reservations) throw error;
      }
    }
  }
}
