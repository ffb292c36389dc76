/** Event streams over HTTP. */
import type { RouteHandlers } from '../handler.ts';
import { parseOutputPosition } from '../../model/output.ts';
import { outputChunks } from '../events/output-stream.ts';
import { sseResponse } from '../events/sse.ts';
import { changes, requirePosition, runChanges } from '../events/stream.ts';

export const streamRoutes: RouteHandlers<'stream' | 'streamRun' | 'streamOutput'> = {
  async stream(services, { query: { run, type, kind, after } }, call) {
    const position = call.request.headers.get('last-event-id') ?? after ?? null;
    if (position !== null) await services.engine.jobs.events(requirePosition(position).cursor, 1);
    const open = services.openStreams.open(call);
    const matches = (event: { job: number; parent: number | null; type: string; kind: string }): boolean =>
      (run === undefined || event.job === run || event.parent === run) &&
      (type?.includes(event.type) ?? true) &&
      ((kind as readonly string[] | undefined)?.includes(event.kind) ?? true);
    return sseResponse(changes(services, { after: position, matches }, call, open.signal), open);
  },

  async streamRun(services, { params: { id } }, call) {
    await services.engine.snapshot(id);
    const last = Number(call.request.headers.get('last-event-id') ?? 0);
    const open = services.openStreams.open(call);
    const afterLine = Number.isSafeInteger(last) && last > 0 ? last : 0;
    return sseResponse(runChanges(services, { id, afterLine }, call, open.signal), open);
  },

  async streamOutput(services, { params: { id }, query }, call) {
    await services.engine.get(id);
    const after = call.request.headers.get('last-event-id') ?? query.after;
    if (after !== undefined) parseOutputPosition(after);
    const open = services.openStreams.open(call);
    return sseResponse(outputChunks(services, { id, after }, call, open.signal), open);
  },
};
