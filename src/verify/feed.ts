/** S29: the feed contains each event once and in order. */
import { endings, type Event } from '../model/event.ts';
import { firstRecordId } from '../model/record-id.ts';
import { isRefusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { violation, type Violation } from './violation.ts';

const portion = 1000;

/**
 * Checks the feed from its oldest stored entry to its newest. `seen` maps the id of each open job to the number
 * (`Event.n`) of the newest event of this job that has been read from the feed.
 */
export async function* checkFeed(
  store: Pick<Store, 'eventsAfter'>,
  seen = new Map<number, number>(),
): AsyncGenerator<Violation> {
  try {
    yield* checkEntries(store, seen);
  } catch (error) {
    if (isRefusal(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    yield violation('S36', null, `an entry of the feed cannot be read, and none after it was checked: ${why}`);
  }
}

/** The id of a record follows from its name, so a record that was deleted and is created again has a new history. */
const isRecreated = (job: number, { kind, n }: Event): boolean =>
  job >= firstRecordId && kind === 'created' && n === 1;

async function* checkEntries(
  store: Pick<Store, 'eventsAfter'>,
  seen: Map<number, number>,
): AsyncGenerator<Violation> {
  for (let cursor: string | null = null; ; ) {
    const feed: Awaited<ReturnType<Store['eventsAfter']>> = await store.eventsAfter(cursor, portion);
    for (const { job, event } of feed.events) {
      const last = seen.get(job);
      if (last !== undefined && event.n !== last + 1 && !isRecreated(job, event)) {
        yield violation('S29', job, `the feed has event ${event.n} of job ${job} after event ${last}`);
      }
      if (endings.has(event.kind)) seen.delete(job);
      // An edit does not reopen a job, so an ended job that is edited stays out of `seen`.
      else if (last !== undefined || event.kind !== 'edited') seen.set(job, event.n);
    }
    if (feed.events.length === 0 || feed.cursor === cursor) return;
    cursor = feed.cursor;
  }
}
