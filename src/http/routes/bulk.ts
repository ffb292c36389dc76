/** Bulk operations over HTTP: counts the matching runs, or starts the run that acts on them. */
import { bulkTypeName, countMatching, type BulkRequest } from '../../engine/bulk.ts';
import { queryOf } from '../filter.ts';
import type { RouteHandlers } from '../handler.ts';
import { actor, terminateCode } from '../access/principal.ts';
import { checkVisible } from '../visible-search.ts';
import { act } from './runs.ts';

export const bulkRoutes: RouteHandlers<'bulk'> = {
  async bulk({ engine }, { body: { action, filter, dryRun = false, only, fingerprint, why } }, call) {
    const { principal } = call;
    const query = checkVisible(queryOf(filter, principal.visibility), principal.visibility);
    const count = await countMatching(engine.jobs, query, fingerprint);
    if (dryRun) {
      call.status = 200;
      return { count, operation: null };
    }
    const by = actor(principal);
    const about = { action, query, only: only ?? null, ...(fingerprint === undefined ? {} : { fingerprint }) };
    const input: BulkRequest = {
      ...about, by, why: why ?? null, code: terminateCode(principal), count, asked: engine.now(),
    };
    const { id } = await engine.createNamed({ own: bulkTypeName }, { input }, by);
    const after = { count, query, ...(fingerprint === undefined ? {} : { fingerprint }) };
    await engine.jobs.audit({ action: `${action} many`, job: id, def: null, before: null, after }, act(principal, why));
    return { count, operation: id };
  },
};
