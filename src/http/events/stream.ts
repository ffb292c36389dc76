/**
 * The event streams: all changes, or one run. The stream of all changes sends each stored event that matches its
 * filter, normally exactly once, even if the client reconnects with the last id that it received.
 */
import type { FeedEvent } from '../../store/store.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import { changed, eventView, logView, progressView, runView } from '../views.ts';
import { feedPageMax, parsePosition, positionOf } from '../../store/feed-position.ts';
import type { FeedItem } from './feed.ts';
import { hasExpired } from '../access/principal.ts';
import type { HttpCall, HttpServices } from '../handler.ts';
import { HttpRefusal } from '../problems.ts';
import { StreamBuffer } from './stream-buffer.ts';
import { sseEvent, sseHeartbeat, ssePosition, sseRetry } from './sse.ts';

const heartbeatMs = 15_000;
const tooSlow = 'the client reads too slowly; reconnect with the last id';
/**
 * How many of the events that were sent while catching up are remembered. The shared feed delivers the newest of them
 * again, and the stream skips these. Normally the shared feed lags behind the store by far fewer events
 * than this.
 */
export const sentMax = 20_000;

export interface StreamRequest {
  /** The last position that an earlier stream sent; null: start with the next event. */
  readonly after: string | null;
  readonly matches: (event: FeedEvent) => boolean;
}

export async function* changes(
  services: HttpServices,
  { after, matches }: StreamRequest,
  { principal }: Pick<HttpCall, 'principal'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { clock, feed } = services;
  const buffer = new StreamBuffer(clock, signal);
  const sent = new BoundedMap<string, true>(sentMax);
  const stops: (() => void)[] = [];
  const render = ({ position, event }: FeedItem): string =>
    matches(event) ? sseEvent('change', changed(event, principal.visibility), position) : '';
  try {
    await feed.start();
    const join = (): void => void stops.push(feed.follow((entry) => buffer.push(entry)));
    if (after === null) join();
    yield sseRetry + ssePosition(after ?? feed.position);
    if (after !== null) {
      // Without this wait, the shared feed could still deliver events before `after`, which the client already has.
      await feed.caughtUp();
      for await (const entries of catchUp(services, after, join, signal)) {
        for (const { event } of entries) sent.set(keyOf(event), true);
        yield entries.map(render).join('') || sseHeartbeat;
      }
      // After an overrun, the buffered events are not sent: some of them may have been sent while catching up, and
      // `sent` may no longer contain their keys.
      if (buffer.isOverrun) return yield sseEvent('dropped', { why: tooSlow });
    }
    while (!signal.aborted) {
      // Leaves out events that were sent while catching up. Their positions need not be sent again either.
      const entries = (await buffer.take(heartbeatMs)).filter(({ event }) => !sent.delete(keyOf(event)));
      const pieces = entries.map(render).join('');
      if (signal.aborted || hasExpired(principal, clock.now())) return;
      // Also send the position of events that the filter drops, so that a reconnecting client does not read them again.
      const last = entries.findLast(({ position }) => position !== null)?.position;
      yield pieces + (last ? ssePosition(last) : '') || sseHeartbeat;
      if (buffer.isOverrun) return yield sseEvent('dropped', { why: tooSlow });
    }
  } finally {
    for (const stop of stops) stop();
  }
}

/**
 * Yields the stored events after a position. At the end of the store's feed, calls `join`, which follows the shared
 * feed. The shared feed may have delivered newer events before `join`, so the store is read to its end once more. The
 * caller drops the events that arrive twice.
 */
async function* catchUp(
  { engine }: HttpServices,
  after: string,
  join: () => void,
  signal: AbortSignal,
): AsyncGenerator<readonly FeedItem[]> {
  const { cursor: start, read } = requirePosition(after);
  let cursor = read === 0 ? start : (await engine.jobs.events(start, read)).cursor;
  let isJoined = false;
  while (!signal.aborted) {
    const from = cursor;
    const { events, cursor: next } = await engine.jobs.events(from, feedPageMax);
    yield events.map((event, index) => ({ position: positionOf(from, index + 1), event }));
    cursor = next;
    const isEnd = events.length < feedPageMax;
    if (isEnd && isJoined) return;
    if (isEnd) join();
    isJoined ||= isEnd;
  }
}

/** Identifies an event: the events of one job are numbered. */
const keyOf = ({ job, event }: FeedEvent): string => `${job} ${event.n}`;

export function requirePosition(position: string): { readonly cursor: string; readonly read: number } {
  const parsed = parsePosition(position);
  if (parsed !== null) return parsed;
  throw new HttpRefusal('malformed.request', 'invalid Last-Event-ID; connect without one');
}

export interface RunStreamRequest {
  readonly id: number;
  /** Only log lines with a higher number are sent. */
  readonly afterLine: number;
}

/** Yields what has changed, until the run has ended: the run, its new events, its progress, its new log lines. */
export async function* runChanges(
  { sharedReads, runTurns, clock }: HttpServices,
  { id, afterLine }: RunStreamRequest,
  { principal }: Pick<HttpCall, 'principal'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { visibility } = principal;
  const watch = await runTurns.watch(id);
  let line = afterLine;
  let [sentRun, sentProgress, version] = ['', '', 0];
  let sentAt = clock.monotonic();
  try {
    yield sseRetry;
    while (!signal.aborted && !hasExpired(principal, clock.now())) {
      const { job, tasks, progress } = await sharedReads.snapshot(id);
      const [run, tree] = [runView(job, visibility, { tasks, progress }), JSON.stringify(progress)];
      const lines = await sharedReads.log(id, line, job.version);
      const history = job.version > version ? await sharedReads.history(id, version + 1, job.version) : [];
      line = lines.at(-1)?.n ?? line;
      const position = String(line);
      const pieces = [
        ...(JSON.stringify(run) === sentRun ? [] : [sseEvent('run', run, position)]),
        ...history.map((event) => sseEvent('event', eventView(event, visibility))),
        ...(tree === sentProgress
          ? [] : [sseEvent('progress', { progress: progressView(progress, visibility) }, position)]),
        ...(lines.length === 0 ? [] : [sseEvent('log', { lines: logView(lines, visibility) }, position)]),
      ];
      [sentRun, sentProgress, version] = [JSON.stringify(run), tree, job.version];
      if (pieces.length > 0 || clock.monotonic() - sentAt >= heartbeatMs) {
        yield pieces.join('') || sseHeartbeat;
        sentAt = clock.monotonic();
      }
      if (job.state === 'ended' && lines.length === 0) {
        return yield sseEvent('end', { standing: run.standing }, position);
      }
      if (lines.length === 0) await watch.wait(job.state === 'running', signal);
    }
  } finally {
    watch.end();
  }
}
