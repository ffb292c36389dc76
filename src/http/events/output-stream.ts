/**
 * The stream of the output of a run: sends each chunk once, with its position as the event id, so that a client that
 * reconnects with the last id continues behind it.
 */
import { standingOf } from '../../store/query.ts';
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
  let position = after;
  let sentAt = clock.monotonic();
  try {
    yield sseRetry;
    while (!signal.aborted && (principal.expires === null || principal.expires > clock.now())) {
      // The run is read before its output: when its end is stored, its output is.
      const job = await sharedReads.job(id);
      const chunks = await sharedReads.output(id, position);
      position = chunks.at(-1)?.position ?? position;
      if (chunks.length > 0 || clock.monotonic() - sentAt >= heartbeatMs) {
        const events = chunks.map((chunk) => sseEvent('chunk', chunkView(chunk, principal.visibility), chunk.position));
        yield events.join('') || sseHeartbeat;
        sentAt = clock.monotonic();
      }
      if (chunks.length > 0) continue;
      if (job.state === 'ended') return yield sseEvent('end', { standing: standingOf(job) });
      await watch.wait(job.state === 'running', signal);
    }
  } finally {
    watch.end();
  }
}
