// A simulated process: it has its own clock, can be paused, and can crash at any await with all its memory.
import type { Clock } from '../../src/time/clock.ts';
import type { Timeline } from './timeline.ts';

export class SimProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly #timeline: Timeline;
  #isAlive = true;
  #pausedUntil = 0;
  /** How long after the pause messages are delivered. */
  #messageDelayMs = 0;
  #onDeath: (() => void)[] = [];

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

  /** Crashes the process: nothing is delivered to it any more. */
  die(): void {
    this.#isAlive = false;
    for (const call of this.#onDeath.splice(0)) call();
  }

  /** For resources outside the process that must be released. */
  onDeath(call: () => void): void {
    this.#onDeath.push(call);
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#timeline.now + ms);
  }

  /** After this pause, timers come before the messages that have arrived meanwhile, as in the event loop of Node. */
  pauseTimersFirst(ms: number): void {
    this.pause(ms);
    this.#messageDelayMs = 1;
  }

  resume(): void {
    this.#pausedUntil = 0;
  }

  /** Delivers a message: calls `what` in the process, never if it has crashed, later if it is paused. */
  deliver(what: () => void | Promise<void>): void | Promise<void> {
    return this.#call(what, this.#messageDelayMs);
  }

  /** Calls a timer: like `deliver`. */
  callTimer(what: () => void): void {
    void this.#call(what, 0);
  }

  #call(what: () => void | Promise<void>, delayMs: number): void | Promise<void> {
    if (!this.#isAlive) return;
    if (!this.isPaused) return what();
    this.#timeline.after(this.#pausedUntil - this.#timeline.now + delayMs, () => this.#call(what, delayMs));
  }
}

/** The error of a clock: its offset and its rate. */
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
    let isCancelled = false;
    // Plus 1 ms: a timer must not fire early, whatever the rate.
    const cancel = this.#timeline.after(ms / this.#rate + (this.#rate === 1 ? 0 : 1), () =>
      this.#process.callTimer(() => {
        if (!isCancelled) call();
      }),
    );
    return () => {
      isCancelled = true;
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
