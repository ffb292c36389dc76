/**
 * The stream of the output of a run: sends each chunk once, with its position as the event id, so that a client that
 * reconnects with the last id continues behind it.
 */
import { outputPages } from '../../engine/follow-output.ts';
import type { OutputChunk } from '../../model/output.ts';
import { standingOf } from '../../store/query.ts';
import { hasExpired, type Principal } from '../access/principal.ts';
import type { HttpCall, HttpServices } from '../handler.ts';
import { chunkView } from '../views.ts';
import { sseEvent, sseHeartbeat, sseRetry } from './sse.ts';

const heartbeatMs = 15_000;

export interface OutputStreamRequest {
  readonly id: number;
  /** The position behind which the stream begins; undefined: at the first chunk. */
  readonly after: string | undefined;
}

/** Yields the chunks of the output until the run has ended. */
export async function* outputChunks(
  { sharedReads, runTurns, clock }: HttpServices,
  { id, after }: OutputStreamRequest,
  { principal }: Pick<HttpCall, 'principal'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const watch = await runTurns.watch(id);
  let sentAt = clock.monotonic();
  const isOver = (): boolean => signal.aborted || hasExpired(principal, clock.now());
  try {
    yield sseRetry;
    for await (const page of outputPages((request) => sharedReads.outputOrJob(id, request), after)) {
      if (isOver()) return;
      const isWaiting = 'state' in page;
      if (isWaiting && page.state === 'ended') return yield sseEvent('end', { standing: standingOf(page) });
      if (!isWaiting || clock.monotonic() - sentAt >= heartbeatMs) {
        yield isWaiting ? sseHeartbeat : page.map((chunk) => eventOf(chunk, principal)).join('');
        sentAt = clock.monotonic();
      }
      if (isWaiting) await watch.wait(page.state === 'running', signal);
    }
  } finally {
    watch.end();
  }
}

const eventOf = (chunk: OutputChunk, { visibility }: Principal): string =>
  sseEvent('chunk', chunkView(chunk, visibility), chunk.position);
