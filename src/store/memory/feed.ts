/**
 * The feed of the memory store: the retained events of all jobs. A cursor is the position of the next event to read.
 * Positions count from 0, the first event of the store, and include events that were dropped.
 */
import type { Change } from '../../model/change.ts';
import { foreignCursor } from '../feed-cursor.ts';
import type { FeedPage, FeedEvent } from '../store.ts';

export class MemoryFeed {
  #events: FeedEvent[] = [];
  /** The position of the oldest retained event, which is also the number of events that were dropped. */
  #start = 0;

  append(changes: readonly Change[]): void {
    for (const { after, events } of changes) {
      if (after === null) continue;
      const { id: job, kind, type, def, parent } = after;
      for (const event of events) this.#events.push({ job, kind, type, def, parent, event });
    }
  }

  after(cursor: string | null, limit: number): FeedPage {
    const end = this.#start + this.#events.length;
    const from = Math.min(Math.max(cursor === null ? 0 : cursorNumber(cursor), this.#start), end);
    const events = this.#events.slice(from - this.#start, from - this.#start + limit);
    return { events, cursor: String(from + events.length) };
  }

  end(): string {
    return String(this.#start + this.#events.length);
  }

  /** Deletes the events up to and including this time. */
  dropUntil(at: number): void {
    const firstKept = this.#events.findIndex(({ event }) => event.at > at);
    const dropped = firstKept === -1 ? this.#events.length : firstKept;
    this.#events = this.#events.slice(dropped);
    this.#start += dropped;
  }
}

function cursorNumber(cursor: string): number {
  const number = /^\d+$/.test(cursor) ? Number(cursor) : NaN;
  if (!Number.isSafeInteger(number)) throw foreignCursor({ cursor });
  return number;
}
