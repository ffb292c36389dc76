/** Decides when to check for lapsed leases: when a known lease ends, and periodically for leases of other servers. */

/** The interval of the periodic check. */
export const lapseMs = 250;
/** Store time is an estimate. So for this long before and after a known end of a lease, a check is always due. */
const toleranceMs = 10;

export class LapseTimes {
  /** The ends of leases that this server granted. They are whole seconds, so many leases share an end. */
  readonly #ends = new Set<number>();
  /** The earliest of `#ends`. */
  #next = Infinity;
  #checkedAt = -Infinity;

  /** Adds the end of a lease; null: the lease has no end. */
  note(end: number | null): void {
    if (end === null) return;
    this.#ends.add(end);
    this.#next = Math.min(this.#next, end);
  }

  /** Whether a check is due. If so, the check is recorded as made, and the caller must make it. */
  isCheckDue(now: number): boolean {
    const isCheckDue = now + toleranceMs >= this.#next || Math.abs(now - this.#checkedAt) >= lapseMs;
    if (isCheckDue) this.#checkedAt = now;
    if (now >= this.#next) this.#dropPast(now - toleranceMs);
    return isCheckDue;
  }

  #dropPast(time: number): void {
    this.#next = Infinity;
    for (const end of this.#ends) {
      if (end <= time) this.#ends.delete(end);
      else this.#next = Math.min(this.#next, end);
    }
  }
}
