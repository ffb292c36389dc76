/**
 * Views: jobs as JSON objects in replies. Keys are in alphabetical order. `data` of vocabulary/bedrock.ts returns the
 * data of a job as JSON text, with the members that a hand-out adds.
 */
import type { HandedOut } from '../jobs/bedrock/hand-out.ts';
import type { EndedJob, Job } from '../model/job.ts';
import type { Fate } from '../model/state.ts';
import { bedrockState, created, data, lastRun, nextRun } from '../vocabulary/bedrock.ts';

/**
 * Returns the JSON of a job in a reply to GetJob or GetJobs: the job as it was before it was handed out, the data of
 * its parent, and its ended children.
 */
export function handedOutText({ before, parent, children }: HandedOut): string {
  const isChild = before.parent !== null;
  const finished = children.filter(withFate('succeeded'));
  const cancelled = children.filter(withFate('cancelled'));
  const failed = children.filter(withFate('failed'));
  const isResumed = finished.length + cancelled.length > 0;
  return objectText({
    cancelledChildJobs: isResumed ? childrenText(cancelled) : undefined,
    created: text(created(before)),
    data: data(before),
    failedChildJobs: failed.length > 0 ? childrenText(failed) : undefined,
    finishedChildJobs: isResumed ? childrenText(finished) : undefined,
    jobID: String(before.id),
    lastRun: text(lastRun(before)),
    name: text(before.type),
    nextRun: text(nextRun(before)),
    parentData: isChild ? (parent ? data(parent) : '{}') : undefined,
    parentJobID: isChild ? String(before.parent) : undefined,
    priority: String(before.priority),
    repeat: text(before.policy.repeat ?? ''),
    retryAfter: text(before.policy.retryAfter ?? ''),
  });
}

export const queriedText = (job: Job): string =>
  objectText({
    created: text(created(job)),
    data: data(job),
    jobID: String(job.id),
    lastRun: text(lastRun(job)),
    name: text(job.type),
    nextRun: text(nextRun(job)),
    priority: String(job.priority),
    repeat: text(job.policy.repeat ?? ''),
    retryAfter: text(job.policy.retryAfter ?? ''),
    state: text(bedrockState(job)),
  });

const childrenText = (children: readonly EndedJob[]): string =>
  `[${children.map((child) => objectText({ data: data(child), jobID: String(child.id) })).join(',')}]`;

const withFate = (fate: Fate) => (job: EndedJob): boolean => job.fate === fate;

/** Writes a JSON object from members whose values are JSON texts, in the given order; omits undefined members. */
function objectText(members: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(members).filter(([, json]) => json !== undefined);
  return `{${written.map(([key, json]) => `"${key}":${json}`).join(',')}}`;
}

const text = (value: string): string => JSON.stringify(value);
