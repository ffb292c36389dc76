/** Server-sent events: their text format, and a response that sends them as fast as the client reads. */
import type { OpenStream } from './open-streams.ts';

/** Formats one event. When a browser reconnects, it sends the last `id` back as Last-Event-ID. */
export function sseEvent(event: string, data: unknown, id: string | null = null): string {
  return `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const ssePosition = (id: string): string => `id: ${id}\n\n`;
export const sseHeartbeat = ': still here\n\n';
export const sseRetry = 'retry: 2000\n\n';

const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const;

/**
 * Returns a response that takes the next piece whenever the client can receive more. The response ends when `stream`
 * ends, even if the client reads nothing.
 */
export function sseResponse(pieces: AsyncGenerator<string, void, undefined>, stream: OpenStream): Response {
  const encoder = new TextEncoder();
  let isClosed = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stream.signal.addEventListener('abort', () => {
          if (!isClosed) controller.close();
          isClosed = true;
          void pieces.return().catch(() => {});
        });
      },
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done) stream.end();
          else if (!isClosed) controller.enqueue(encoder.encode(value));
        } catch (error) {
          if (!isClosed) controller.error(error);
          isClosed = true;
          stream.end();
        }
      },
      cancel() {
        isClosed = true;
        stream.end();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: sseHeaders });
}
