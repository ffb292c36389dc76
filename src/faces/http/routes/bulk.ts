/** Bulk over HTTP: counts what is meant, or starts the run that does it. */
import { bulkTypeName, type BulkAsk } from '../../../engine/bulk.ts';
import { queryOf } from '../filter.ts';
import type { Handling } from '../handling.ts';
import { actor } from '../principal.ts';

export const bulkRoutes: Handling<'bulk'> = {
  async bulk({ engine, bell }, { body: { action, filter, dryRun = false, only, why } }, call) {
    const { principal } = call;
    const query = queryOf(filter, principal.sight);
    const count = (await engine.jobs.count(query)).reduce((sum, tally) => sum + tally.count, 0);
    if (dryRun) {
      call.status = 200;
      return { count, operation: null };
    }
    const by = actor(principal);
    const input: BulkAsk = { action, query, by, why: why ?? null, only: only ?? null, asked: engine.now() };
    const { id } = await engine.createNamed({ type: bulkTypeName }, { input }, by);
    bell.ring();
    return { count, operation: id };
  },
};
