/** The streams: what changes anywhere, and one run as it goes on. Nothing is missed, and nothing is told twice. */
import type { FeedEvent } from '../../store/store.ts';
import { changed, eventView, runView } from '../views.ts';
import { batch, parsePlace, placeOf, type Entry } from './feed.ts';
import type { Call, Desk } from '../handler.ts';
import { HttpRefusal } from '../problems.ts';
import { Reader } from './stream-buffer.ts';
import { sseEvent, sseHeartbeat, ssePlace, sseRetry } from './sse.ts';

const heartbeatMs = 15_000;
const lookMs = 250;
/** More than can come in while a reader that catches up changes over to the shared feed. */
const rememberedMax = 20_000;

export interface StreamAsk {
  /** A place that an earlier stream told; null: from now on. */
  readonly after: string | null;
  readonly isMeant: (event: FeedEvent) => boolean;
}

export async function* changes(
  desk: Desk,
  { after, isMeant }: StreamAsk,
  { principal }: Pick<Call, 'principal'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { clock, feed } = desk;
  const reader = new Reader(clock, signal);
  const told = new Set<string>();
  const stops: (() => void)[] = [];
  const tell = ({ place, event }: Entry): string =>
    isMeant(event) ? sseEvent('change', changed(event, principal.sight), place) : '';
  try {
    await feed.start();
    const join = (): void => void stops.push(feed.follow((entry) => reader.push(entry)));
    if (after === null) join();
    yield sseRetry + ssePlace(after ?? feed.place);
    if (after !== null) {
      for await (const entries of catchUp(desk, after, join, signal)) {
        remember(told, entries);
        yield entries.map(tell).join('') || sseHeartbeat;
      }
    }
    while (!signal.aborted) {
      const entries = await reader.take(heartbeatMs);
      const pieces = entries.filter(({ event }) => !told.delete(keyOf(event))).map(tell).join('');
      if (signal.aborted || (principal.expires !== null && principal.expires <= clock.now())) return;
      // Also what does not concern this reader moves its place on.
      const last = entries.findLast(({ place }) => place !== null)?.place;
      yield pieces + (last ? ssePlace(last) : '') || sseHeartbeat;
      if (reader.isOverrun) return yield sseEvent('dropped', { why: 'too slow: come back with the last id' });
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/**
 * What is stored after a place. Near its end the reader joins the feed, which may be a little behind the store; then
 * all that is stored by now is read, so that nothing is missed in between. What the feed tells again is known by key.
 */
async function* catchUp(
  { engine }: Desk,
  after: string,
  join: () => void,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const { cursor: start, read } = requirePlace(after);
  let cursor = read === 0 ? start : (await engine.jobs.events(start, read)).cursor;
  let isJoined = false;
  while (!signal.aborted) {
    const from = cursor;
    const { events, cursor: next } = await engine.jobs.events(from, batch);
    yield events.map((event, index) => ({ place: placeOf(from, index + 1), event }));
    cursor = next;
    const isEnd = events.length < batch;
    if (isEnd && isJoined) return;
    if (isEnd) join();
    isJoined ||= isEnd;
  }
}

function remember(told: Set<string>, entries: readonly Entry[]): void {
  for (const { event } of entries) told.add(keyOf(event));
  for (const key of told) {
    if (told.size <= rememberedMax) return;
    told.delete(key);
  }
}

/** A job has each number once. */
const keyOf = ({ job, event }: FeedEvent): string => `${job} ${event.n}`;

export function requirePlace(place: string): { readonly cursor: string; readonly read: number } {
  const parsed = parsePlace(place);
  if (parsed !== null) return parsed;
  throw new HttpRefusal('malformed.request', 'Last-Event-ID was not told by this stream: begin without one');
}

export interface RunStreamAsk {
  readonly id: number;
  /** Log lines beyond this number. */
  readonly afterLine: number;
}

/** The run now and whenever it has changed, its progress, and its log line by line, until it has ended. */
export async function* runChanges(
  { engine, clock }: Desk,
  { id, afterLine }: RunStreamAsk,
  { principal }: Pick<Call, 'principal'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { sight } = principal;
  let line = afterLine;
  let [toldRun, toldProgress, version] = ['', '', 0];
  let toldAt = clock.monotonic();
  yield sseRetry;
  while (!signal.aborted && (principal.expires === null || principal.expires > clock.now())) {
    const { job, tasks, progress } = await engine.snapshot(id);
    const [run, tree] = [runView(job, sight, { tasks, progress }), JSON.stringify(progress)];
    const lines = await engine.log(id, { after: line });
    const history = job.version > version ? await engine.history(id, version + 1) : [];
    line = lines.at(-1)?.n ?? line;
    const place = String(line);
    const pieces = [
      ...(JSON.stringify(run) === toldRun ? [] : [sseEvent('run', run, place)]),
      ...history.map((event) => sseEvent('event', eventView(event, sight))),
      ...(tree === toldProgress ? [] : [sseEvent('progress', { progress }, place)]),
      ...(lines.length === 0 ? [] : [sseEvent('log', { lines }, place)]),
    ];
    [toldRun, toldProgress, version] = [JSON.stringify(run), tree, job.version];
    if (pieces.length > 0 || clock.monotonic() - toldAt > heartbeatMs) {
      yield pieces.join('') || sseHeartbeat;
      toldAt = clock.monotonic();
    }
    if (job.state === 'ended' && lines.length === 0) return yield sseEvent('end', { standing: run.standing }, place);
    if (lines.length === 0) await engine.untilChange(id, lookMs);
  }
}

