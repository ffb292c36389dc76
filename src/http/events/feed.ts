/**
 * The feed: one reader of what changes, shared by all who follow it.
 *
 * Every event has a place `CURSOR~N`: the Nth after a cursor of the store, whose order no later commit can change. So a
 * reader that comes back with a place is told exactly what came after it. Jobs in memory are told of too, without one.
 */
import type { Logger } from '../../logger.ts';
import type { FeedPage as StoreFeed, FeedEvent, Store } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { Bell } from '../work-signal.ts';

export interface Entry {
  /** Null: of a job in memory. */
  readonly place: string | null;
  readonly event: FeedEvent;
}

export interface FeedParts {
  readonly store: Pick<Store, 'feedEnd' | 'onWake'>;
  readonly read: (cursor: string | null, limit: number) => Promise<StoreFeed>;
  readonly readMemory: (cursor: string | null, limit: number) => Promise<StoreFeed>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const batch = 500;
const lookMs = 200;
const idleLookMs = 1_000;
const outageMs = 1_000;

export class Feed {
  readonly #parts: FeedParts;
  readonly #followers = new Set<(entry: Entry) => void>();
  readonly #stop = new AbortController();
  readonly #bell: Bell;
  #cursor: string | null = null;
  #memoryCursor: string | null = null;
  #started: Promise<void> | null = null;
  #over: Promise<void> = Promise.resolve();
  #readers = 0;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#bell = new Bell(parts.store, parts.clock);
  }

  /** Reads from now on. */
  start(): Promise<void> {
    this.#started ??= this.#begin();
    return this.#started;
  }

  /** Up to where it has told. */
  get place(): string {
    return placeOf(this.#cursor ?? '', 0);
  }

  get readers(): number {
    return this.#readers;
  }

  /** Calls with every event from now on; the answer ends that. `isReader`: someone waits for it. */
  follow(call: (entry: Entry) => void, isReader = true): () => void {
    this.#followers.add(call);
    if (isReader) this.#readers += 1;
    this.#bell.ring();
    return () => {
      if (this.#followers.delete(call) && isReader) this.#readers -= 1;
    };
  }

  /** Looks at once. */
  look(): void {
    this.#bell.ring();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#bell.close();
    await this.#over;
  }

  async #begin(): Promise<void> {
    this.#cursor = await this.#parts.store.feedEnd();
    this.#memoryCursor = (await this.#parts.readMemory(null, batch)).cursor;
    this.#over = this.#readOn();
  }

  async #readOn(): Promise<void> {
    let isOut = false;
    while (!this.#stop.signal.aborted) {
      try {
        const isMore = await this.#read();
        isOut = false;
        if (!isMore) await this.#bell.wait(this.#readers > 0 ? lookMs : idleLookMs, this.#stop.signal);
      } catch (error) {
        if (!isOut) this.#parts.logger.warn('the feed cannot be read: trying on', { error });
        isOut = true;
        await this.#parts.clock.sleep(outageMs, this.#stop.signal);
      }
    }
  }

  async #read(): Promise<boolean> {
    const from = this.#cursor!;
    const stored = await this.#parts.read(from, batch);
    stored.events.forEach((event, index) => this.#tell({ place: placeOf(from, index + 1), event }));
    this.#cursor = stored.cursor;
    const passing = await this.#parts.readMemory(this.#memoryCursor, batch);
    for (const event of passing.events) this.#tell({ place: null, event });
    this.#memoryCursor = passing.cursor;
    return stored.events.length === batch || passing.events.length === batch;
  }

  #tell(entry: Entry): void {
    for (const call of this.#followers) call(entry);
  }
}

export const placeOf = (cursor: string, read: number): string => `${cursor}~${read}`;

/** Null: that is no place. */
export function parsePlace(place: string): { readonly cursor: string; readonly read: number } | null {
  const [, cursor, read] = /^([!-~]{1,200})~(\d{1,4})$/.exec(place) ?? [];
  return cursor === undefined || Number(read) > batch ? null : { cursor, read: Number(read) };
}
