/** The feed: the events of all jobs in commit order, read by a cursor. */
import type { Event } from '../../model/event.ts';
import type { Kind } from '../../model/state.ts';

export interface Feed {
  /** Events after a cursor, in an order that no later commit can change. Null: from the oldest retained event. */
  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage>;

  /** The cursor of the present: every later commit comes after it. */
  feedEnd(): Promise<string>;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Pass it to read on, even if the page is empty. */
  readonly cursor: string;
}

export interface FeedEvent {
  readonly job: number;
  readonly kind: Kind;
  readonly type: string;
  readonly parent: number | null;
  readonly event: Event;
}
