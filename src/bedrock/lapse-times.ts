/** Decides when to check for lapsed leases: at the known ends, and periodically for leases of other servers. */

/** The interval of the periodic check. */
export const lapseMs = 250;
/** Store time is an estimate: around the end of a lease, every request checks. */
const toleranceMs = 10;

export class LapseTimes {
  /** The ends of leases granted here. Bedrock uses whole seconds, so there are few distinct ones. */
  readonly #ends = new Set<number>();
  #next = Infinity;
  #checkedAt = -Infinity;

  note(end: number | null): void {
    if (end === null) return;
    this.#ends.add(end);
    this.#next = Math.min(this.#next, end);
  }

  /** Whether a check is due. The caller must then make it. */
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
