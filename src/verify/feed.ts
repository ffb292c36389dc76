/** S29: the feed contains each event once and in order. */
import { never } from '../model/definition.ts';
import { endings, type Event } from '../model/event.ts';
import { firstRecordId } from '../model/record-id.ts';
import { isRefusal } from '../refusal.ts';
import type { FeedEvent, FeedPage, Store } from '../store/store.ts';
import { violation, type Violation } from './violation.ts';

const portion = 1000;
/** How many gaps of a live feed are looked for again. */
const gapsMax = 1000;

type EventReader = Pick<Store, 'eventsAfter'>;

export interface FeedOptions {
  /** Maps the id of each open job to the number (`Event.n`) of its newest event that has been read from the feed. */
  readonly seen?: Map<number, number>;
  /**
   * The store time up to which the feed is read, if other processes write: they may write faster than the feed is read.
   * They may also purge the entries behind the place at which it is read, and the events after that place then seem to
   * follow others. Each gap is therefore looked for again from the oldest entry on. Left out: no other process writes.
   */
  readonly upTo?: number;
}

/** Checks the feed from its oldest stored entry on. */
export async function* checkFeed(store: EventReader, { seen = new Map<number, number>(), upTo }: FeedOptions = {}): AsyncGenerator<Violation> {
  try {
    if (upTo === undefined) for await (const gap of gapsOf(store, seen)) yield sentenceOf(gap);
    else for (const gap of await lastingGaps(store, seen, upTo)) yield sentenceOf(gap);
  } catch (error) {
    if (isRefusal(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    yield violation('S36', null, `an entry of the feed cannot be read, and none after it was checked: ${why}`);
  }
}

/** An event of a job in the feed, and the event of this job before it, which has not the number before. */
interface Gap {
  readonly job: number;
  readonly n: number;
  readonly last: number;
}

const sentenceOf = ({ job, n, last }: Gap): Violation =>
  violation('S29', job, `the feed has event ${n} of job ${job} after event ${last}`);

/**
 * Returns the gaps that are found twice. A purge deletes the oldest entries: where it has made a gap, it has also deleted the
 * event before the gap, and the second reading does not find it.
 */
async function lastingGaps(store: EventReader, seen: Map<number, number>, upTo: number): Promise<readonly Gap[]> {
  const found: Gap[] = [];
  for await (const gap of gapsOf(store, seen, upTo)) {
    found.push(gap);
    if (found.length === gapsMax) break;
  }
  if (found.length === 0) return found;
  const names = new Set(found.map(nameOf));
  const again: Gap[] = [];
  for await (const gap of gapsOf(store, new Map(), upTo)) {
    if (names.delete(nameOf(gap))) again.push(gap);
    if (names.size === 0) break;
  }
  return again;
}

const nameOf = ({ job, n, last }: Gap): string => `${job} ${last} ${n}`;

async function* gapsOf(store: EventReader, seen: Map<number, number>, upTo = never): AsyncGenerator<Gap> {
  for (let cursor: string | null = null; ; ) {
    const feed: FeedPage = await store.eventsAfter(cursor, portion);
    for (const { job, event } of feed.events) {
      const last = seen.get(job);
      if (last !== undefined && event.n !== last + 1 && !isRecreated(job, event)) yield { job, n: event.n, last };
      if (endings.has(event.kind)) seen.delete(job);
      // An edit does not reopen a job, so an ended job that is edited stays out of `seen`.
      else if (last !== undefined || event.kind !== 'edited') seen.set(job, event.n);
    }
    if (feed.cursor === cursor || isBehind(feed.events, upTo)) return;
    cursor = feed.cursor;
  }
}

/** Whether no event of a page is older; true for an empty page. */
const isBehind = (events: readonly FeedEvent[], upTo: number): boolean => events.every(({ event }) => event.at > upTo);

/** The id of a record follows from its name, so a record that was deleted and is created again has a new history. */
const isRecreated = (job: number, { kind, n }: Event): boolean =>
  job >= firstRecordId && kind === 'created' && n === 1;
