/** The clock: the only place that reads the time or sets a timer, real or virtual. */
import { Refusal } from '../refusal.ts';

export interface Clock {
  /** Wall time in milliseconds since the epoch; may jump. */
  now(): number;
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonic(): number;
  /**
   * Resolves when `ms` have passed or the signal aborts; never rejects. With Infinity, only the signal ends the sleep.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `call` once after `ms`, never earlier, even if `ms` is many years; returns a function that cancels the call.
   */
  after(ms: number, call: () => void): () => void;
}

/** The timer functions of a real clock. Tests replace them to see which timers are armed. */
export interface Timers {
  monotonic(): number;
  arm(ms: number, call: () => void): () => void;
}

// The longest timer that is set; a longer wait uses several. Node fires a timer of more than 2^31 - 1 ms immediately
// (nodejs/node #4541). One hour is far below that, and reading the clock every hour keeps a long wait from drifting.
const hopMs = 3_600_000;

export function afterOn(timers: Timers): Clock['after'] {
  return (ms, call) => {
    const deadline = timers.monotonic() + requireMs(ms);
    const arm = (): (() => void) => {
      const left = Math.max(0, Math.ceil(deadline - timers.monotonic()));
      return timers.arm(Math.min(left, hopMs), wake);
    };
    const wake = (): void => {
      if (timers.monotonic() < deadline) disarm = arm();
      else call();
    };
    let disarm = arm();
    return () => disarm();
  };
}

const systemAfter = afterOn({
  monotonic: () => performance.now(),
  arm: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
});

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepOn(systemAfter, ms, signal),
  after: systemAfter,
};

interface VirtualTimer {
  readonly at: number;
  readonly call: () => void;
}

// Captured when the module loads: a test that fakes the global timers must not stop the virtual clock.
const { setImmediate: nextTurn } = globalThis;

/** A clock that stands still until a test advances it. */
export class VirtualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  #advancing = false;
  /** The armed timers, ordered by the time at which they fire, then by creation. */
  readonly #timers: VirtualTimer[] = [];

  constructor(start: number) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((wait, call) => this.after(wait, call), ms, signal);
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#monotonic + requireMs(ms), call };
    const later = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(later === -1 ? this.#timers.length : later, 0, timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index !== -1) this.#timers.splice(index, 1);
    };
  }

  /**
   * Advances the time and fires the timers in order. Code that awaits something continues before the first timer fires,
   * and after each timer.
   */
  async advance(ms: number): Promise<void> {
    if (this.#advancing) throw new Error('cannot advance: the clock is advancing already');
    this.#advancing = true;
    try {
      await this.#advanceTo(this.#monotonic + requireMs(ms));
    } finally {
      this.#advancing = false;
    }
  }

  /** Moves only the wall time, as an operator or a time server can. Fires no timer; monotonic time does not change. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Returns the time in ms until the next timer fires; Infinity: no timer is armed. */
  untilNext(): number {
    return this.#timers.length === 0 ? Infinity : Math.max(0, this.#timers[0]!.at - this.#monotonic);
  }

  /** How many timers are armed. */
  pending(): number {
    return this.#timers.length;
  }

  async #advanceTo(target: number): Promise<void> {
    await turn();
    while (this.#timers.length > 0 && this.#timers[0]!.at <= target) {
      const { at, call } = this.#timers.shift()!;
      this.#moveTo(at);
      call();
      await turn();
    }
    this.#moveTo(target);
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

/** Waits for one turn of the event loop, in which all queued microtasks run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(() => resolve());
  });
}

function sleepOn(after: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = after(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

function requireMs(ms: number): number {
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    throw new Refusal('malformed.duration', 'Give the time to wait as a number of milliseconds.');
  }
  return Math.max(0, ms);
}
