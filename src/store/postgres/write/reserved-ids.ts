/**
 * The ids that this process has reserved, as far as no other process reserved ids in between. Jobs with these ids are in
 * the order of creation as long as the counter in the database has the value of the last reservation.
 */
import { OutdatedIds } from '../../store.ts';
import { ignore } from '../sql/errors.ts';

export class ReservedIds {
  #first = Infinity;
  #last = -1;
  #reserving: Promise<void> = Promise.resolve();
  #reservations = 0;

  /** Follows a reservation of this process; returns the first id. */
  async track(reservation: Promise<number>, amount: number): Promise<number> {
    this.#reservations += 1;
    this.#reserving = reservation.then(ignore, ignore);
    const first = await reservation;
    if (first !== this.#last + 1) this.#first = first;
    this.#last = first + amount - 1;
    return first;
  }

  /**
   * Runs a commit of jobs with ids from `lowest` on. The commit gets the id that must be the last reserved one. If it is
   * not, because of a reservation of this process meanwhile, the commit runs again.
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
