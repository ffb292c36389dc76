/** Durations: how long each job waited and ran, measured from the events of the feed. */
import { endings } from '../../model/event.ts';
import { workKinds } from '../../model/state.ts';
import type { FeedEvent } from '../../store/store.ts';
import { BoundedMap } from '../../time/bounded-map.ts';

/** The durations that end with an event. Null: this duration does not end with the event, or its start was not seen. */
export interface JobDurations {
  /** The time from due to claimed. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

const none: JobDurations = { waitedMs: null, ranMs: null };
const trackedMax = 50_000;

export class DurationTracker {
  /** By job id: the time at which the job was due, and the time at which it was claimed. */
  readonly #due = new BoundedMap<number, number>(trackedMax);
  readonly #claimed = new BoundedMap<number, number>(trackedMax);

  endedBy({ job, kind, event }: FeedEvent): JobDurations {
    if (!workKinds.includes(kind)) return none;
    // A wait begins at this event, even if the due time is earlier: before this event, the job could not be claimed.
    if ('due' in event) this.#due.set(job, Math.max(event.due, event.at));
    if (event.kind === 'claimed') {
      this.#claimed.set(job, event.at);
      const due = this.#due.get(job);
      return due === undefined ? none : { ...none, waitedMs: Math.max(0, event.at - due) };
    }
    const claimedAt = this.#claimed.get(job);
    if (claimedAt === undefined || (event.kind !== 'retried' && !endings.has(event.kind))) return none;
    this.#claimed.delete(job);
    if (event.kind !== 'retried') this.#due.delete(job);
    return { ...none, ranMs: event.at - claimedAt };
  }
}
