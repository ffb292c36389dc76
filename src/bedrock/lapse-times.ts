/** When to look for workers that are late: at moments that are known, and often enough for those of other servers. */

/** How long a lapsed lease of another server's worker may go unnoticed. */
export const lapseMs = 250;

export class LapseTimes {
  /** When leases that were given here end. Bedrock counts in whole seconds, so that they are few. */
  readonly #ends = new Set<number>();
  #next = Infinity;
  #checkedAt = -Infinity;

  note(end: number | null): void {
    if (end === null) return;
    this.#ends.add(end);
    this.#next = Math.min(this.#next, end);
  }

  /** Whether it is time; whoever asks then looks. */
  isTime(now: number): boolean {
    const isTime = now >= this.#next || Math.abs(now - this.#checkedAt) >= lapseMs;
    if (isTime) this.#checkedAt = now;
    if (now >= this.#next) this.#forget(now);
    return isTime;
  }

  #forget(now: number): void {
    this.#next = Infinity;
    for (const end of this.#ends) {
      if (end <= now) this.#ends.delete(end);
      else this.#next = Math.min(this.#next, end);
    }
  }
}
