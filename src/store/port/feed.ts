/**
 * The feed: the events of all jobs in a fixed order, read by a cursor. On PostgreSQL it is the order of transaction ids,
 * which may differ from the order of the commits.
 */
import type { Event } from '../../model/event.ts';
import type { Kind } from '../../model/state.ts';

export interface Feed {
  /**
   * Returns the events after a cursor; with null, from the oldest retained event on. No later commit adds an event
   * before or between the returned events. If the database was restored from a backup or lost commits in a failover, the
   * event of a cursor may be missing. In that case reading continues near the end of the feed as it was then: some
   * events may be returned again.
   */
  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage>;

  /** Returns the cursor of the current end of the feed. The events of every later commit come after it. */
  feedEnd(): Promise<string>;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The cursor with which `eventsAfter` returns the next page; pass it even if this page is empty. */
  readonly cursor: string;
}

export interface FeedEvent {
  readonly job: number;
  readonly kind: Kind;
  readonly type: string;
  /** The name of its definition, or of the definition that it is; null: it has none, or an older version stored the event. */
  readonly def: string | null;
  readonly parent: number | null;
  readonly event: Event;
}
