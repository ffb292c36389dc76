/** Event streams over HTTP. */
import type { RouteHandlers } from '../handler.ts';
import { HttpRefusal } from '../problems.ts';
import { sseResponse } from '../events/sse.ts';
import { changes, requirePosition, runChanges } from '../events/stream.ts';

const readersMax = 2_000;

export const streamRoutes: RouteHandlers<'stream' | 'streamRun'> = {
  async stream(services, { query: { run, type, kind, after } }, call) {
    if (services.feed.readers >= readersMax) {
      throw new HttpRefusal('too.many', 'too many clients read this stream; try again later', { 'retry-after': '5' });
    }
    const position = call.request.headers.get('last-event-id') ?? after ?? null;
    if (position !== null) await services.engine.jobs.events(requirePosition(position).cursor, 1);
    const leave = new AbortController();
    const matches = (event: { job: number; parent: number | null; type: string; kind: string }): boolean =>
      (run === undefined || event.job === run || event.parent === run) &&
      (type?.includes(event.type) ?? true) &&
      ((kind as readonly string[] | undefined)?.includes(event.kind) ?? true);
    return sseResponse(changes(services, { after: position, matches }, call, leave.signal), leave);
  },

  async streamRun(services, { params: { id } }, call) {
    await services.engine.snapshot(id);
    const last = Number(call.request.headers.get('last-event-id') ?? 0);
    const leave = new AbortController();
    const afterLine = Number.isSafeInteger(last) && last > 0 ? last : 0;
    return sseResponse(runChanges(services, { id, afterLine }, call, leave.signal), leave);
  },
};
