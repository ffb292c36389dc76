/**
 * The stream buffer: the events that one connection has not sent yet. A client that reads so slowly that the buffer
 * overflows is disconnected.
 */
import type { Clock } from '../../time/clock.ts';
import { WakeSignal } from '../../time/wake-signal.ts';
import type { FeedItem } from './feed.ts';

export const bufferedMax = 5_000;

export class StreamBuffer {
  readonly #wake: WakeSignal;
  readonly #signal: AbortSignal;
  #buffered: FeedItem[] = [];
  #isOverrun = false;

  /** `signal` aborts when the stream ends, for any reason; see `OpenStream`. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#wake = new WakeSignal(clock);
    this.#signal = signal;
  }

  /** Whether events were dropped because the buffer was full. */
  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  push(item: FeedItem): void {
    if (this.#buffered.length >= bufferedMax) this.#isOverrun = true;
    if (!this.#isOverrun) this.#buffered.push(item);
    this.#wake.notify();
  }

  /**
   * Waits for the first event, then removes and returns all buffered events. Returns none if no event arrived within
   * `withinMs`, or if the connection was closed.
   */
  async take(withinMs: number): Promise<readonly FeedItem[]> {
    if (this.#buffered.length === 0 && !this.#isOverrun) await this.#wake.wait(withinMs, this.#signal);
    const taken = this.#buffered;
    this.#buffered = [];
    return taken;
  }
}
