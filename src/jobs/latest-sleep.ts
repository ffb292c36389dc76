/** The sleep of a job whose handler sleeps, from the history of the job. */
import type { Event, EventKind } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { Store } from '../store/store.ts';

export type Slept = Extract<Event, { readonly kind: 'slept' }>;

/** The events after which a sleeping job still sleeps. */
const duringSleep: ReadonlySet<EventKind> = new Set<EventKind>(['edited', 'followed', 'paused', 'resumed', 'answered']);
/** Few events follow a sleep, unless a program edits the job again and again. */
const firstPage = 50;
const laterPages = 1000;

/** Returns the event with which the handler of a job fell asleep; null: it does not sleep. */
export async function sleepOf(store: Pick<Store, 'history'>, { id, version }: Job): Promise<Slept | null> {
  for (let to = version, size = firstPage; to > 0; to -= size, size = laterPages) {
    const from = Math.max(1, to - size + 1);
    const events = await store.history(id, from, to - from + 1);
    const event = events.findLast(({ kind }) => !duringSleep.has(kind));
    if (event !== undefined) return event.kind === 'slept' ? event : null;
  }
  return null;
}
