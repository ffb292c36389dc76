// A process of the simulation: it has a clock of its own, can be paused, and can die at any await with all its memory.
import type { Clock } from '../../src/time/clock.ts';
import type { Timeline } from './timeline.ts';

export class SimProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly #timeline: Timeline;
  #isAlive = true;
  #pausedUntil = 0;
  #lastWords: (() => void)[] = [];

  constructor(name: string, timeline: Timeline, skew: Skew) {
    this.name = name;
    this.#timeline = timeline;
    this.clock = new ProcessClock(this, timeline, skew);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#pausedUntil > this.#timeline.now;
  }

  /** Its memory is lost: nothing that it waited for ever comes. */
  die(): void {
    this.#isAlive = false;
    for (const call of this.#lastWords.splice(0)) call();
  }

  /** For those outside who hold something of it. */
  onDeath(call: () => void): void {
    this.#lastWords.push(call);
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#timeline.now + ms);
  }

  wakeUp(): void {
    this.#pausedUntil = 0;
  }

  /** Lets something reach the process: never if it is dead, later if it is paused. */
  deliver(what: () => void | Promise<void>): void | Promise<void> {
    if (!this.#isAlive) return;
    if (!this.isPaused) return what();
    this.#timeline.after(this.#pausedUntil - this.#timeline.now, () => this.deliver(what));
  }
}

/** How far a clock is off, and how fast it goes. */
export interface Skew {
  readonly offsetMs: number;
  readonly rate: number;
}

class ProcessClock implements Clock {
  readonly #process: SimProcess;
  readonly #timeline: Timeline;
  readonly #rate: number;
  readonly #start: number;
  #offsetMs: number;

  constructor(process: SimProcess, timeline: Timeline, { offsetMs, rate }: Skew) {
    this.#process = process;
    this.#timeline = timeline;
    this.#rate = rate;
    this.#start = timeline.now;
    this.#offsetMs = offsetMs;
  }

  now(): number {
    return Math.floor(this.#timeline.now + this.#offsetMs);
  }

  monotonic(): number {
    return (this.#timeline.now - this.#start) * this.#rate;
  }

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  after(ms: number, call: () => void): () => void {
    if (ms === Infinity) return () => {};
    let isOff = false;
    // Rounded up, and by one more: a timer never comes early, whatever the rate.
    const cancel = this.#timeline.after(ms / this.#rate + (this.#rate === 1 ? 0 : 1), () =>
      this.#process.deliver(() => {
        if (!isOff) call();
      }),
    );
    return () => {
      isOff = true;
      cancel();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.after(ms, wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}
