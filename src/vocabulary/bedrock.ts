/**
 * Bedrock: the states, times and data of a job in the terms of the Bedrock protocol. A job is handed out when a worker
 * claims it.
 */
import { isLate, type Job } from '../model/job.ts';
import { exactText, isObject, parseExact } from '../model/json.ts';
import type { Fate } from '../model/state.ts';
import { formatTimestamp } from '../time/instant.ts';

export type BedrockState = 'QUEUED' | 'RUNNING' | 'RUNQUEUED' | 'PAUSED' | 'FINISHED' | 'FAILED' | 'CANCELLED';
export const bedrockStates: readonly BedrockState[] = [
  'QUEUED', 'RUNNING', 'RUNQUEUED', 'PAUSED', 'FINISHED', 'FAILED', 'CANCELLED',
];

const wordsOfFates: Readonly<Record<Fate, BedrockState>> = {
  succeeded: 'FINISHED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

export function bedrockState(job: Job): BedrockState {
  switch (job.state) {
    case 'pending':
      return isLate(job) ? 'RUNQUEUED' : 'QUEUED';
    case 'held':
      return 'PAUSED';
    case 'running':
      return job.policy.retryAfter === undefined ? 'RUNNING' : 'RUNQUEUED';
    case 'ended':
      return wordsOfFates[job.fate];
  }
}

/**
 * Returns the due time of the job. While it runs and is RUNQUEUED, returns the end of its lease, when its worker counts
 * as lost and the job is handed out again.
 */
export function nextRun(job: Job): string {
  const isRunQueued = job.state === 'running' && bedrockState(job) === 'RUNQUEUED';
  return formatTimestamp((isRunQueued ? job.lease.until : null) ?? job.due);
}

/** Returns when the job was last handed out; empty: never. */
export const lastRun = (job: Job): string => (job.startedAt === null ? '' : formatTimestamp(job.startedAt));

export const created = (job: Job): string => formatTimestamp(job.created);

/** Returns how often the job was handed out without finishing; 0 if it has no `handOutsMax` or has ended. */
export const handOuts = (job: Job): number =>
  job.policy.handOutsMax === undefined || job.state === 'ended' ? 0 : job.crashes + job.attempt;

/**
 * Returns the data that the client passed. If `handOuts` is not 0, adds the members that Bedrock adds at a hand-out.
 */
export function data(job: Job): string {
  const count = handOuts(job);
  return count === 0 ? job.input : withHandOut(job.input, count, originalNextRun(job));
}

/**
 * Returns the data with the number of hand-outs in the member `countKey`. If `scheduled` is not null, also adds it as
 * `originalNextRun`, the time from which a SCHEDULED repeat is computed.
 */
export const withHandOut = (input: string, count: number, scheduled: string | null): string =>
  withMembers(input, { [countKey]: count, ...(scheduled === null ? {} : { originalNextRun: scheduled }) });

/** The member of the data in which workers receive the number of unfinished hand-outs. */
export const countKey = 'retryAfterCount';

/**
 * Returns the time from which the SCHEDULED repeat of a handed-out job is computed. It is not the job's next run, which
 * the hand-out has changed. Null: the job is not handed out, or has no SCHEDULED repeat.
 */
function originalNextRun(job: Job): string | null {
  const isOut = job.state === 'running' || isLate(job);
  return isOut && job.policy.repeat?.includes('SCHEDULED') ? formatTimestamp(job.scheduled ?? job.due) : null;
}

/**
 * Adds members to the text of a JSON object; returns any other text unchanged. If all members are new, appends them as
 * SQLite does, so that the rest of the text stays unchanged. Otherwise writes the whole object anew.
 */
function withMembers(text: string, members: Readonly<Record<string, number | string>>): string {
  const object = parseExact(text);
  if (!isObject(object)) return text;
  if (Object.keys(members).some((key) => Object.hasOwn(object, key))) return exactText({ ...object, ...members });
  const rest = text.trimEnd().slice(0, -1);
  return `${rest}${Object.keys(object).length === 0 ? '' : ','}${JSON.stringify(members).slice(1)}`;
}
