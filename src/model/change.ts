/** The change: a job before and after, with the events between. The store writes it only if nobody came in between. */
import type { Event } from './event.ts';
import type { Job } from './job.ts';

export interface Change {
  /** As it was seen; null: it does not exist yet. */
  readonly before: Job | null;
  /** As it shall be; null: every trace of it goes. */
  readonly after: Job | null;
  /** What happened, in order; `after.version` is the number of the last. */
  readonly events: readonly Event[];
}
