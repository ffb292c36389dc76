/** Converts rows of the SQL stores to jobs, and histories to and from text with one line of JSON per commit. */
import type { Event } from '../model/event.ts';
import { facts, type Job, type JobFacts, type JobOrigin, type PendingJob } from '../model/job.ts';
import type { Hold } from '../model/state.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import type { Writable } from '../model/writable.ts';
import { parseBody } from './job-body.ts';
import { factsOf, type EndedRow, type OpenRow } from './job-columns.ts';
import { cachedStringify } from './text-cache.ts';

export type { EndedRow, OpenRow } from './job-columns.ts';

/** A row of a pending job: without the columns that depend on the state. */
export type PendingRow = Omit<OpenRow, 'state' | 'hold' | 'holder' | 'lease_until'>;

export function jobOfPending(row: PendingRow): Job {
  // A literal with the facts in it would copy all of them once more, for every claimed job.
  const job = openFacts(row) as Writable<PendingJob>;
  job.state = 'pending';
  return job;
}

const openFacts = (row: PendingRow): JobFacts => factsOf(row, parseBody(row.body), row, row.admitted === 1, null);

export function jobOfOpen(row: OpenRow): Job {
  const job = openFacts(row);
  switch (row.state) {
    case 'pending':
      return { ...job, state: 'pending' };
    case 'held':
      return { ...job, state: 'held', hold: row.hold as Hold };
    case 'running':
      return { ...job, state: 'running', lease: { holder: row.holder ?? '', until: row.lease_until } };
  }
}

export function jobOfEnded(row: EndedRow): Job {
  const body = parseBody(row.body);
  const { phase = 'run', priority = 0, due = row.created, fence = 0, gate = null } = body;
  const { typeVersion: type_version = firstTypeVersion } = body;
  const job = factsOf(row, body, { phase, priority, due, fence, gate, type_version }, false, row.result);
  return { ...job, state: 'ended', fate: row.fate, endedAt: row.ended_at };
}

/** Returns the events of one commit as one line of a history. */
export const lineOf = (events: readonly Event[]): string =>
  events.length === 1 ? lineOfOne(events[0]!) : JSON.stringify(events);

const lineOfOne = cachedStringify<Event>((event) => `[${JSON.stringify(event)}]`);

export const eventsOfHistory = (history: string): Event[] =>
  history === '' ? [] : history.split('\n').flatMap((line) => JSON.parse(line) as Event[]);

/**
 * Limits the history in the row of a job. If an update brings the number of events to or past a multiple of this limit,
 * the events stored before the update are moved to table `history_chunk`.
 */
export const historyTailMax = 32;

export const startsHistoryChunk = (versionBefore: number, versionAfter: number): boolean =>
  Math.floor(versionBefore / historyTailMax) !== Math.floor(versionAfter / historyTailMax) && versionBefore > 0;

/** Returns the fields of a job from which a replay of its history starts. */
export function originOf(job: Job): JobOrigin {
  const { id, kind, type, def, parent, key, created, gate, unique, policy, tags, input, tick, follows, typeVersion } = facts(job);
  return { id, kind, type, def, parent, key, created, gate, unique, policy, tags, input, tick, follows, typeVersion };
}
