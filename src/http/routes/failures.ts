/** Failures over HTTP, grouped by job type, error code and the pattern of the message. */
import type { FailureGroup } from '../../engine/inspect/failures.ts';
import { durationMs } from '../../time/duration.ts';
import type { FailureGroupView } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { redactText, type Visibility } from '../access/redact.ts';

const bucketCount = 30;

export const failureRoutes: RouteHandlers<'listFailures'> = {
  async listFailures({ engine }, { query: { range = '1d', type } }, { principal: { visibility } }) {
    const now = engine.now();
    const bucketMs = durationMs(range) / bucketCount;
    const since = now - durationMs(range);
    const { groups, scanned, isCut } = await engine.failures({ since, ...(type === undefined ? {} : { type }) });
    const items = groups.map((group) => groupView(group, { since, bucketMs, visibility }));
    return { items, since, bucketMs, scanned, isCut };
  },
};

interface GroupViewOptions {
  readonly since: number;
  readonly bucketMs: number;
  readonly visibility: Visibility;
}

function groupView(
  { times, samples, message, ...group }: FailureGroup,
  { since, bucketMs, visibility }: GroupViewOptions,
): FailureGroupView {
  const buckets = Array.from({ length: bucketCount }, () => 0);
  for (const at of times) buckets[Math.min(bucketCount - 1, Math.floor((at - since) / bucketMs))]! += 1;
  return {
    ...group,
    message: redactText(message, visibility),
    firstAt: times.at(-1)!,
    lastAt: times[0]!,
    buckets,
    samples: samples.map(({ id, kind, parent, changed }) => ({ id, kind, parent, at: changed })),
  };
}
