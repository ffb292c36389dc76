/** Bulk operations over HTTP: action, actor, reason and progress of each. */
import { bulkTypeName, type BulkRequest, type BulkOutcome } from '../../engine/bulk.ts';
import type { Job } from '../../model/job.ts';
import type { Query } from '../../store/query.ts';
import type { OperationView } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { redactTags, redactText, type Visibility } from '../access/redact.ts';
import { runView, type RunExtras } from '../views.ts';
import { pageOf } from './runs.ts';

const pageDefault = 50;

export const operationRoutes: RouteHandlers<'listOperations'> = {
  async listOperations({ engine }, { query: { after, limit = pageDefault } }, { principal: { visibility } }) {
    const page = pageOf({ after, limit });
    const { jobs, next } = await engine.find({ kinds: ['run'], types: [bulkTypeName] }, page);
    const items = await Promise.all(jobs.map(async (job) =>
      operationView(job, visibility, await engine.snapshot(job.id))));
    return { items, next };
  },
};

function operationView(job: Job, visibility: Visibility, { progress }: RunExtras): OperationView {
  const { action, by, why, only, query, fingerprint = null, count = null } = JSON.parse(job.input) as BulkRequest;
  const outcome = job.result === null ? null : (JSON.parse(job.result) as BulkOutcome);
  return {
    run: runView(job, visibility, { progress: progress ?? null }),
    action,
    by,
    why,
    only,
    fingerprint,
    query: queryView(query, visibility),
    total: count,
    done: outcome?.done ?? null,
    refused: { ...outcome?.refused },
  };
}

/**
 * The query of an operation, with its search values redacted: a search value can be a part of a payload, error or tag.
 */
function queryView({ input, error, text, tags, ...rest }: Query, visibility: Visibility): OperationView['query'] {
  return {
    ...rest,
    ...(input === undefined ? {} : { input: visibility === 'full' ? input : '[redacted]' }),
    ...(error === undefined ? {} : { error: redactText(error, visibility) }),
    ...(text === undefined ? {} : { text: redactText(text, visibility) }),
    ...(tags === undefined ? {} : { tags: redactTags(tags, visibility) }),
  };
}
