/**
 * Job watchers: wake callers that wait for a job when this instance has stored a change of the job, or when the store
 * reports the end of the job. Such callers are, for example, `RunHandle.result`, and `complete` or `fail` with the
 * token of a hand-off that is not stored yet. If another instance changes the job without ending it, no caller is
 * woken. So each caller also polls, at the interval that it passes to `until` or `changed`.
 */
import { CallbacksById } from '../../time/callbacks-by-id.ts';
import type { Clock } from '../../time/clock.ts';
import { WakeSignal } from '../../time/wake-signal.ts';

export interface JobWatch {
  /** Resolves when the job may have changed since the previous call of `changed`, at the latest after `withinMs`. */
  changed(withinMs: number): Promise<void>;
  stop(): void;
}

/** Registers a function to call when the job may have ended; returns a function that removes it. */
export type OnEnd = (id: number, call: () => void) => () => void;

export class JobWatchers {
  readonly #clock: Clock;
  readonly #onEnd: OnEnd;
  readonly #waiters = new CallbacksById();

  constructor(clock: Clock, onEnd: OnEnd = () => () => {}) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get hasWaiters(): boolean {
    return this.#waiters.size > 0;
  }

  notify(ids: Iterable<number>): void {
    this.#waiters.call(ids);
  }

  /** Resolves when this instance has changed the job or the job has ended, at the latest after `withinMs`. */
  async until(id: number, withinMs: number): Promise<void> {
    const watch = this.watch(id);
    await watch.changed(withinMs);
    watch.stop();
  }

  /**
   * Watches a job. The first call of `changed` asks the store to report the end of the job. A caller that finds the job
   * ended does not call `changed`, so the store is not asked.
   */
  watch(id: number): JobWatch {
    const signal = new WakeSignal(this.#clock);
    const notify = () => signal.notify();
    const removeWaiter = this.#waiters.add(id, notify);
    let removeEnd: (() => void) | undefined;
    let seen = 0;
    return {
      changed: async (withinMs) => {
        removeEnd ??= this.#onEnd(id, notify);
        if (signal.notified === seen) await signal.wait(withinMs);
        seen = signal.notified;
      },
      stop: () => {
        removeWaiter();
        removeEnd?.();
      },
    };
  }
}
