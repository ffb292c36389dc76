/** Durations: how long each job waited, for a worker or for other jobs, and ran, measured from the events of the feed. */
import { endings, type Event } from '../../model/event.ts';
import { workKinds } from '../../model/state.ts';
import type { FeedEvent } from '../../store/store.ts';
import { BoundedMap } from '../../time/bounded-map.ts';

/** The durations that end with an event; null for one that does not end with it, or whose start was not seen. */
export interface JobDurations {
  /** How long the job waited for a worker until it was claimed. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  /** How long the job waited for the runs that it follows. */
  readonly followedMs: number | null;
  /** How long the job waited for its tasks or children. */
  readonly familyMs: number | null;
}

const none: JobDurations = { waitedMs: null, ranMs: null, followedMs: null, familyMs: null };
const trackedMax = 50_000;

export class DurationTracker {
  /** By job id: the time from which the job waits for a worker. */
  readonly #waits = new BoundedMap<number, number>(trackedMax);
  /** By job id: the time at which the job was claimed. */
  readonly #claimed = new BoundedMap<number, number>(trackedMax);
  /** By job id: the time from which the job waits for other jobs. */
  readonly #held = new BoundedMap<number, number>(trackedMax);

  endedBy({ job, kind, event }: Pick<FeedEvent, 'job' | 'kind' | 'event'>): JobDurations {
    if (!workKinds.includes(kind)) return none;
    const waitsFrom = this.#waitStart(job, event);
    if (waitsFrom !== undefined) this.#waits.set(job, waitsFrom);
    if (event.kind === 'claimed') {
      this.#claimed.set(job, event.at);
      const from = this.#waits.get(job);
      return from === undefined ? none : { ...none, waitedMs: Math.max(0, event.at - from) };
    }
    if (startsToWait(event)) this.#held.set(job, event.at);
    if (event.kind === 'proceeded') return { ...none, followedMs: this.#waitedForOthers(job, event) };
    if (event.kind === 'settled') return { ...none, familyMs: this.#waitedForOthers(job, event) };
    const claimedAt = this.#claimed.get(job);
    if (claimedAt === undefined || (event.kind !== 'retried' && !endings.has(event.kind))) return none;
    this.#claimed.delete(job);
    if (event.kind !== 'retried') {
      this.#waits.delete(job);
      this.#held.delete(job);
    }
    return { ...none, ranMs: event.at - claimedAt };
  }

  #waitedForOthers(job: number, { at }: Event): number | null {
    const from = this.#held.get(job);
    this.#held.delete(job);
    return from === undefined ? null : at - from;
  }

  /**
   * Returns the time from which the job waits for a worker; undefined: the event does not change this time. The wait
   * starts at the due time, but not before the event, because the job could not be claimed before the event. Exception:
   * if an edit changes the due time of a job that already waits, and the job is still due, its wait keeps its start.
   */
  #waitStart(job: number, event: Event): number | undefined {
    const before = this.#waits.get(job);
    if (event.kind === 'freed') return before === undefined ? undefined : Math.max(before, event.at);
    if (event.kind !== 'edited') return 'due' in event ? Math.max(event.due, event.at) : undefined;
    const { due } = event.edit;
    return due === undefined || due > event.at ? due : Math.min(before ?? event.at, event.at);
  }
}

/** Whether the job waits from this event on for runs that it follows, or for its tasks or children. */
function startsToWait(event: Event): boolean {
  if (event.kind === 'planned') return event.tasks > 0;
  return (event.kind === 'created' || event.kind === 'reopened') && (event.hold === 'runs' || event.hold === 'children');
}
