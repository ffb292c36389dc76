/** The body: all fields of a job that have no column, as one JSON text. A field with its default value is left out. */
import type { EndedJob, Job, JobFacts } from '../model/job.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import type { Writable } from '../model/writable.ts';
import { cachedParse, cachedStringify } from './text-cache.ts';

export type Body = Writable<Partial<JobFacts>> & Pick<JobFacts, 'changed'>;

export const parseBody = cachedParse<Body>();

export function bodyText(job: Job): string {
  const body = bodyWithoutGate(job);
  if (job.state === 'ended' && job.gate !== null) body.gate = job.gate;
  return stringify(body);
}

/**
 * Returns the body of an ended job without its last field, the gate, and without the closing brace. A statement that
 * appends both has equal parameters for jobs that differ only in their gates.
 */
export const bodyTextUpToGate = (job: EndedJob): string => stringifyUpToGate(bodyWithoutGate(job));

const stringify = cachedStringify<Body>();
const stringifyUpToGate = cachedStringify<Body>((body) => JSON.stringify(body).slice(0, -1));

/**
 * Returns the body of a job without its gate. The fields are written out one by one: a loop over their names took ten
 * times as long, because V8 does not cache property accesses by a variable name.
 */
function bodyWithoutGate(job: Job): Body {
  const body: Body = { changed: job.changed };
  if (job.key !== null) body.key = job.key;
  if (job.generation !== 1) body.generation = job.generation;
  if (job.attempt !== 0) body.attempt = job.attempt;
  if (job.crashes !== 0) body.crashes = job.crashes;
  if (job.scheduled !== null) body.scheduled = job.scheduled;
  if (job.startedAt !== null) body.startedAt = job.startedAt;
  if (job.hasChildrenWaiting) body.hasChildrenWaiting = true;
  if (job.isFollowed) body.isFollowed = true;
  if (job.cancel !== null) body.cancel = job.cancel;
  if (job.error !== null) body.error = job.error;
  if (job.details !== null) body.details = job.details;
  if (job.plan !== null) body.plan = job.plan;
  if (job.unique !== null) body.unique = job.unique;
  if (hasFields(job.policy)) body.policy = job.policy;
  if (job.tags !== null) body.tags = job.tags;
  if (job.tick !== null) body.tick = job.tick;
  if (job.follows !== null) body.follows = job.follows;
  if (job.state === 'ended') addOpenColumns(body, job);
  return body;
}

/** Adds the fields of an ended job, except its gate, that have a column in table `job` but none in table `ended`. */
function addOpenColumns(body: Body, job: EndedJob): void {
  if (job.phase !== 'run') body.phase = job.phase;
  if (job.priority !== 0) body.priority = job.priority;
  if (job.due !== job.created) body.due = job.due;
  if (job.fence !== 0) body.fence = job.fence;
  if (job.typeVersion !== firstTypeVersion) body.typeVersion = job.typeVersion;
}

function hasFields(value: object): boolean {
  for (const _ in value) return true;
  return false;
}
