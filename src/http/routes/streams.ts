/** Streams over HTTP. */
import type { Handling } from '../handler.ts';
import { HttpRefusal } from '../problems.ts';
import { sseResponse } from '../events/sse.ts';
import { changes, requirePlace, runChanges } from '../events/stream.ts';

const readersMax = 2_000;

export const streamRoutes: Handling<'stream' | 'streamRun'> = {
  async stream(desk, { query: { run, type, kind, after } }, call) {
    if (desk.feed.readers >= readersMax) {
      throw new HttpRefusal('too.many', 'too many read this stream', { 'retry-after': '5' });
    }
    const place = call.request.headers.get('last-event-id') ?? after ?? null;
    if (place !== null) await desk.engine.jobs.events(requirePlace(place).cursor, 1);
    const leave = new AbortController();
    const isMeant = (event: { job: number; parent: number | null; type: string; kind: string }): boolean =>
      (run === undefined || event.job === run || event.parent === run) &&
      (type?.includes(event.type) ?? true) &&
      ((kind as readonly string[] | undefined)?.includes(event.kind) ?? true);
    return sseResponse(changes(desk, { after: place, isMeant }, call, leave.signal), leave);
  },

  async streamRun(desk, { params: { id } }, call) {
    await desk.engine.snapshot(id);
    const last = Number(call.request.headers.get('last-event-id') ?? 0);
    const leave = new AbortController();
    const afterLine = Number.isSafeInteger(last) && last > 0 ? last : 0;
    return sseResponse(runChanges(desk, { id, afterLine }, call, leave.signal), leave);
  },
};
