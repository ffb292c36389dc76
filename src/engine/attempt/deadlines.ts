/**
 * Deadlines: many timeouts share one timer, set to the earliest. If that one is cancelled while others wait, the timer
 * still fires at its time, and is then set to the next.
 */
import type { Clock } from '../../time/clock.ts';

interface Deadline {
  readonly at: number;
  readonly call: () => void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new Set<Deadline>();
  #armedFor = Infinity;
  #disarm: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `call` once, after `ms`. The returned function cancels the deadline. */
  after(ms: number, call: () => void): () => void {
    const deadline = { at: this.#clock.monotonic() + ms, call };
    this.#waiting.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at, ms);
    return () => {
      this.#waiting.delete(deadline);
      if (this.#waiting.size === 0) this.#clear();
    };
  }

  #arm(at: number, ms: number): void {
    this.#disarm();
    this.#armedFor = at;
    this.#disarm = this.#clock.after(ms, () => this.#fire());
  }

  #clear(): void {
    this.#disarm();
    this.#armedFor = Infinity;
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    this.#armedFor = Infinity;
    let next = Infinity;
    for (const deadline of this.#waiting) {
      if (deadline.at > now) next = Math.min(next, deadline.at);
      else if (this.#waiting.delete(deadline)) deadline.call();
    }
    if (next < this.#armedFor && this.#waiting.size > 0) this.#arm(next, next - now);
  }
}
