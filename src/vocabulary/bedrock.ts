/** Bedrock: the states, times and data of a job in the terms of the Bedrock protocol. */
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

/** When it is handed out next: for a RUNQUEUED job, when its worker counts as lost. */
export function nextRun(job: Job): string {
  const isRunQueued = job.state === 'running' && bedrockState(job) === 'RUNQUEUED';
  return formatTimestamp((isRunQueued ? job.lease.until : null) ?? job.due);
}

/** Empty if it has never been handed out. */
export const lastRun = (job: Job): string => (job.startedAt === null ? '' : formatTimestamp(job.startedAt));

export const created = (job: Job): string => formatTimestamp(job.created);

/** How often it was handed out without finishing, if that is counted. */
export const handOuts = (job: Job): number =>
  job.policy.handOutsMax === undefined || job.state === 'ended' ? 0 : job.crashes + job.attempt;

/** The data as it was passed; for a job that is handed out, with the members that Bedrock adds then. */
export function data(job: Job): string {
  const count = handOuts(job);
  return count === 0 ? job.input : withHandOut(job.input, count, originalNextRun(job));
}

/** Data with the members that a hand-out adds to it. */
export const withHandOut = (input: string, count: number, scheduled: string | null): string =>
  withMembers(input, { [countKey]: count, ...(scheduled === null ? {} : { originalNextRun: scheduled }) });

/** Workers get the number of unfinished hand-outs under this key. */
export const countKey = 'retryAfterCount';

/** Where a repeat counts from that the hand-out must not change. */
function originalNextRun(job: Job): string | null {
  const isOut = job.state === 'running' || isLate(job);
  return isOut && job.policy.repeat?.includes('SCHEDULED') ? formatTimestamp(job.scheduled ?? job.due) : null;
}

/** Appends the member, as SQLite does, so that the rest of the text stays unchanged. */
function withMembers(text: string, members: Readonly<Record<string, number | string>>): string {
  const object = parseExact(text);
  if (!isObject(object)) return text;
  if (Object.keys(members).some((key) => Object.hasOwn(object, key))) return exactText({ ...object, ...members });
  const rest = text.trimEnd().slice(0, -1);
  return `${rest}${Object.keys(object).length === 0 ? '' : ','}${JSON.stringify(members).slice(1)}`;
}
