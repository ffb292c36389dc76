/** Server-sent events: their text format, and a response that generates them as fast as the client reads. */

/** One event. The browser sends the last `id` back as Last-Event-ID. */
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

/** Pulls one piece whenever the client has room; aborts `leave` when the client disconnects. */
export function sseResponse(pieces: AsyncGenerator<string, void, undefined>, leave: AbortController): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        leave.abort();
        await pieces.return();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: sseHeaders });
}
