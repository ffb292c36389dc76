/**
 * The event feed: one reader of the store's feed, shared by all streams. It also delivers the events of in-memory jobs;
 * these events have no position.
 */
import type { Logger } from '../../logger.ts';
import type { FeedPage as StoreFeed, FeedEvent, Store } from '../../store/store.ts';
import { feedPageMax, positionOf } from '../../store/feed-position.ts';
import type { Clock } from '../../time/clock.ts';
import { WorkSignal } from '../work-signal.ts';

export interface FeedItem {
  /** The position in the store's feed; null: the event belongs to an in-memory job. */
  readonly position: string | null;
  readonly event: FeedEvent;
}

export interface FeedParts {
  readonly store: Pick<Store, 'feedEnd' | 'onWake'>;
  readonly read: (cursor: string | null, limit: number) => Promise<StoreFeed>;
  readonly readMemory: (cursor: string | null, limit: number) => Promise<StoreFeed>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Returns the cursor at which the feed starts to catch up; null: at the oldest event. `start` resolves after the feed
   * has caught up. Without this function, the feed starts at its current end.
   */
  readonly catchUpFrom?: () => Promise<string | null>;
}

const feedPollMs = 200;
const idlePollMs = 1_000;
const outageMs = 1_000;
/**
 * How many events a starting server reads to catch up. If there are more, the feed skips to its end, so that the server
 * starts within seconds.
 */
const caughtUpMax = 200_000;

export class EventFeed {
  readonly #parts: FeedParts;
  readonly #followers = new Set<(item: FeedItem) => void>();
  readonly #stop = new AbortController();
  readonly #signal: WorkSignal;
  #cursor: string | null = null;
  #memoryCursor: string | null = null;
  #started: Promise<void> | null = null;
  #ended: Promise<void> = Promise.resolve();
  #readers = 0;
  #hasBegun = false;
  #isLive = false;
  /**
   * The `resolve` functions of pending calls of `caughtUp`. Each is called when a read that began after the call of
   * `caughtUp` has reached the end of the feed.
   */
  #awaitingEnd: (() => void)[] = [];

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#signal = new WorkSignal(parts.store, parts.clock);
  }

  /**
   * Catches up, then reads new events until `close`. Further calls return the same promise. After an error, the next
   * call continues where the failed one stopped.
   */
  start(): Promise<void> {
    this.#started ??= this.#begin().catch((error: unknown) => {
      this.#started = null;
      throw error;
    });
    return this.#started;
  }

  /** Whether the feed has caught up, so that its followers get events as they happen. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /**
   * The cursor up to which followers have received all events; null: the feed has not started, or it begins at the
   * oldest event and has read none yet.
   */
  get cursor(): string | null {
    return this.#cursor;
  }

  /** The position after the newest event that was read. */
  get position(): string {
    return positionOf(this.#cursor ?? '', 0);
  }

  get readers(): number {
    return this.#readers;
  }

  /**
   * Calls `call` with every event from now on; returns a function that ends the calls. The feed polls faster while it
   * has followers with `isReader`.
   */
  follow(call: (item: FeedItem) => void, isReader = true): () => void {
    this.#followers.add(call);
    if (isReader) this.#readers += 1;
    this.#signal.notify();
    return () => {
      if (this.#followers.delete(call) && isReader) this.#readers -= 1;
    };
  }

  /** Reads the store now instead of at the next poll. */
  poll(): void {
    this.#signal.notify();
  }

  /**
   * Resolves when the followers have received all events that the store's feed could return at this call, or the feed
   * is closed.
   */
  caughtUp(): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#awaitingEnd.push(resolve);
      this.#signal.notify();
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#signal.close();
    await this.#ended;
  }

  async #begin(): Promise<void> {
    const { store, readMemory, catchUpFrom } = this.#parts;
    this.#memoryCursor ??= (await readMemory(null, feedPageMax)).cursor;
    if (!this.#hasBegun) this.#cursor = await (catchUpFrom ?? (() => store.feedEnd()))();
    this.#hasBegun = true;
    if (catchUpFrom !== undefined) await this.#catchUp();
    this.#isLive = true;
    this.#ended = this.#readLoop();
  }

  async #catchUp(): Promise<void> {
    for (let read = 0; read < caughtUpMax; read += feedPageMax) if (!(await this.#read())) return;
    const message = `the event feed skips what is older: more than ${caughtUpMax} events since the last start`;
    this.#parts.logger.warn(message, {});
    this.#cursor = await this.#parts.store.feedEnd();
  }

  async #readLoop(): Promise<void> {
    let isFailing = false;
    while (!this.#stop.signal.aborted) {
      const waiting = this.#awaitingEnd.splice(0);
      try {
        const hasMore = await this.#read();
        isFailing = false;
        if (hasMore) this.#awaitingEnd.unshift(...waiting);
        else for (const resolve of waiting) resolve();
        if (hasMore || this.#awaitingEnd.length > 0) continue;
        await this.#signal.wait(this.#readers > 0 ? feedPollMs : idlePollMs, this.#stop.signal);
      } catch (error) {
        if (!isFailing) this.#parts.logger.warn('cannot read the event feed; retrying', { error });
        isFailing = true;
        this.#awaitingEnd.unshift(...waiting);
        await this.#parts.clock.sleep(outageMs, this.#stop.signal);
      }
    }
    for (const resolve of this.#awaitingEnd.splice(0)) resolve();
  }

  async #read(): Promise<boolean> {
    const from = this.#cursor;
    const stored = await this.#parts.read(from, feedPageMax);
    stored.events.forEach((event, index) => this.#publish({ position: positionOf(from ?? '', index + 1), event }));
    this.#cursor = stored.cursor;
    const inMemory = await this.#parts.readMemory(this.#memoryCursor, feedPageMax);
    for (const event of inMemory.events) this.#publish({ position: null, event });
    this.#memoryCursor = inMemory.cursor;
    return stored.events.length === feedPageMax || inMemory.events.length === feedPageMax;
  }

  #publish(item: FeedItem): void {
    for (const call of this.#followers) call(item);
  }
}
