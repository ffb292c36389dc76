/** The flow of progress: the newest at most every 100 ms, and the last one without fail. */
import type { Progress } from '../../../model/progress.ts';
import type { Clock } from '../../../time/clock.ts';

const pauseMs = 100;

export class ProgressFlow {
  readonly #clock: Clock;
  readonly #send: (progress: Progress) => void;
  #sentAt = -Infinity;
  #waiting: Progress | null = null;
  #stopTimer: (() => void) | null = null;

  constructor(clock: Clock, send: (progress: Progress) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** A handler that never lets go of its thread is no reason to be silent: the time is looked at here, too. */
  update(progress: Progress): void {
    this.#waiting = progress;
    const leftMs = this.#sentAt + pauseMs - this.#clock.monotonic();
    if (leftMs <= 0) this.flush();
    else this.#stopTimer ??= this.#clock.after(leftMs, () => this.flush());
  }

  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    if (this.#waiting === null) return;
    const progress = this.#waiting;
    this.#waiting = null;
    this.#sentAt = this.#clock.monotonic();
    this.#send(progress);
  }
}
