/** Wakes a loop at most once per interval; a wake that comes sooner takes effect when the interval has passed. */
import type { Clock } from '../../time/clock.ts';
import type { Loop } from '../../time/loop.ts';

export class ThrottledWake {
  readonly #loop: Loop;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #wokenAt = -Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(loop: Loop, clock: Clock, intervalMs: number) {
    this.#loop = loop;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  wake(): void {
    if (this.#cancelTimer) return;
    const waitMs = this.#wokenAt + this.#intervalMs - this.#clock.monotonic();
    if (waitMs <= 0) this.#wakeNow();
    else this.#cancelTimer = this.#clock.after(waitMs, () => this.#wakeNow());
  }

  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #wakeNow(): void {
    this.#cancelTimer = null;
    this.#wokenAt = this.#clock.monotonic();
    this.#loop.wake();
  }
}
