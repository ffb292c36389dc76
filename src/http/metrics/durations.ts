/** Durations: how long each job waited and ran, measured from the events of the feed. */
import { endings } from '../../model/event.ts';
import type { FeedEvent } from '../../store/store.ts';

/** What an event ended; null: it ended none, or its beginning was not seen. */
export interface JobDurations {
  /** From when it was due until it was claimed. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

const none: JobDurations = { waitedMs: null, ranMs: null };
const trackedMax = 50_000;

export class DurationTracker {
  /** When jobs were due, and when they were claimed, until the one follows the other. */
  readonly #due = new Map<number, number>();
  readonly #claimed = new Map<number, number>();

  endedBy({ job, kind, event }: FeedEvent): JobDurations {
    if (kind === 'def') return none;
    if ('due' in event) remember(this.#due, job, event.due);
    if (event.kind === 'claimed') {
      remember(this.#claimed, job, event.at);
      const due = this.#due.get(job);
      return due === undefined ? none : { ...none, waitedMs: Math.max(0, event.at - due) };
    }
    const begun = this.#claimed.get(job);
    if (begun === undefined || (event.kind !== 'retried' && !endings.has(event.kind))) return none;
    this.#claimed.delete(job);
    if (event.kind !== 'retried') this.#due.delete(job);
    return { ...none, ranMs: event.at - begun };
  }
}

function remember(map: Map<number, number>, job: number, at: number): void {
  if (map.size >= trackedMax) map.delete(map.keys().next().value!);
  map.set(job, at);
}
