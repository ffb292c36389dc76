/** The sleep of a job whose handler sleeps, from the history of the job. */
import type { Event, EventKind } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { Store } from '../store/store.ts';

export type Slept = Extract<Event, { readonly kind: 'slept' }>;

/** The events after which a sleeping job still sleeps. */
const duringSleep: ReadonlySet<EventKind> = new Set<EventKind>(['edited', 'followed', 'paused', 'resumed', 'answered']);
const pageSize = 50;
/** How many events during a sleep are read at most. */
const eventsMax = 1000;

/** Returns the event with which the handler of a job fell asleep; null: it does not sleep. */
export async function sleepOf(store: Pick<Store, 'history'>, { id, version }: Job): Promise<Slept | null> {
  for (let to = version; to > Math.max(0, version - eventsMax); to -= pageSize) {
    const from = Math.max(1, to - pageSize + 1);
    const events = await store.history(id, from, to - from + 1);
    const event = events.findLast(({ kind }) => !duringSleep.has(kind));
    if (event !== undefined) return event.kind === 'slept' ? event : null;
  }
  return null;
}
