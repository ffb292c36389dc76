/**
 * Run turns: one timer that decides when the streams of single runs read their run again. A run is read after an event
 * of the run or of its tasks. A running run is read without an event, too: progress and log lines are not events.
 * Each turn wakes the streams of a limited number of runs. With many streams, each stream is therefore updated less
 * often, but at least every `patienceMs`.
 */
import type { FeedEvent } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { WakeSignal } from '../../time/wake-signal.ts';
import type { EventFeed } from './feed.ts';

export const turnMs = 250;
export const runsPerTurn = 100;
/** How long a stream waits for its turn. After this time it reads its run without a turn. */
const patienceMs = 15_000;

type FollowableFeed = Pick<EventFeed, 'start' | 'follow'>;
type Timer = Pick<Clock, 'after'>;

export class RunTurns {
  readonly #feed: FollowableFeed;
  readonly #clock: Timer;
  readonly #watches = new Map<number, Set<RunWatch>>();
  /** The watches that wait for their turn, in the order in which they began to wait. */
  readonly #waiting = new Set<RunWatch>();
  #unfollow: (() => void) | null = null;
  #stopTimer: (() => void) | null = null;

  constructor(feed: FollowableFeed, clock: Timer) {
    this.#feed = feed;
    this.#clock = clock;
  }

  /** Watches a run. Call this before the first read of the run, so that no event is missed. */
  async watch(id: number): Promise<RunWatch> {
    await this.#feed.start();
    const watch = new RunWatch(id, this.#clock, { begin: (one) => this.#begin(one), end: (one) => this.#end(one) });
    this.#unfollow ??= this.#feed.follow(({ event }) => this.#note(event));
    this.#watches.set(id, (this.#watches.get(id) ?? new Set()).add(watch));
    return watch;
  }

  #begin(watch: RunWatch): void {
    this.#waiting.add(watch);
    if (watch.isDue) this.#turnLater();
  }

  #note({ job, parent }: FeedEvent): void {
    for (const id of parent === null ? [job] : [job, parent]) {
      for (const watch of this.#watches.get(id) ?? []) {
        watch.hasChanged = true;
        this.#turnLater();
      }
    }
  }

  #turnLater(): void {
    this.#stopTimer ??= this.#clock.after(turnMs, () => this.#turn());
  }

  /**
   * Wakes the watches of up to `runsPerTurn` due runs: runs with a new event first, then running runs without one.
   * Within each group, the watches that began to wait earlier come first.
   */
  #turn(): void {
    this.#stopTimer = null;
    const due = [...this.#waiting]
      .filter(({ isDue }) => isDue)
      .sort((a, b) => Number(b.hasChanged) - Number(a.hasChanged));
    const runs = new Set([...new Set(due.map(({ id }) => id))].slice(0, runsPerTurn));
    for (const watch of due.filter(({ id }) => runs.has(id))) {
      this.#waiting.delete(watch);
      watch.wake();
    }
    if (due.some(({ id }) => !runs.has(id))) this.#turnLater();
  }

  #end(watch: RunWatch): void {
    this.#waiting.delete(watch);
    const watches = this.#watches.get(watch.id);
    watches?.delete(watch);
    if (watches?.size === 0) this.#watches.delete(watch.id);
    if (this.#watches.size > 0) return;
    this.#unfollow?.();
    this.#stopTimer?.();
    [this.#unfollow, this.#stopTimer] = [null, null];
  }
}

interface WatchCalls {
  begin(watch: RunWatch): void;
  end(watch: RunWatch): void;
}

export class RunWatch {
  readonly id: number;
  /** Whether an event of the run or of its tasks has arrived since the last turn of this watch. */
  hasChanged = false;
  #isRunning = false;
  readonly #wake: WakeSignal;
  readonly #calls: WatchCalls;

  constructor(id: number, clock: Timer, calls: WatchCalls) {
    this.id = id;
    this.#wake = new WakeSignal(clock);
    this.#calls = calls;
  }

  get isDue(): boolean {
    return this.hasChanged || this.#isRunning;
  }

  /** Resolves when the run has its turn to be read, at the latest after `patienceMs`. */
  async wait(isRunning: boolean, signal: AbortSignal): Promise<void> {
    this.#isRunning = isRunning;
    this.#calls.begin(this);
    await this.#wake.wait(patienceMs, signal);
  }

  wake(): void {
    this.hasChanged = false;
    this.#wake.notify();
  }

  end(): void {
    this.#calls.end(this);
  }
}
