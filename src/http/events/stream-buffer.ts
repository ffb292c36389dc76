/**
 * The stream buffer: events that one connection has yet to send, bounded; a reader that is too slow is disconnected.
 */
import type { Clock } from '../../time/clock.ts';
import type { FeedItem } from './feed.ts';

export const bufferedMax = 5_000;

export class StreamBuffer {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #buffered: FeedItem[] = [];
  #wake: AbortController | null = null;
  #isOverrun = false;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  push(entry: FeedItem): void {
    if (this.#buffered.length >= bufferedMax) this.#isOverrun = true;
    if (!this.#isOverrun) this.#buffered.push(entry);
    this.#wake?.abort();
  }

  /** All that waits; empty if nothing came in time, or the connection has gone. */
  async take(withinMs: number): Promise<readonly FeedItem[]> {
    if (this.#buffered.length === 0 && !this.#isOverrun) {
      this.#wake = new AbortController();
      await this.#clock.sleep(withinMs, AbortSignal.any([this.#wake.signal, this.#signal]));
      this.#wake = null;
    }
    const taken = this.#buffered;
    this.#buffered = [];
    return taken;
  }
}
