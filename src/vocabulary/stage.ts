/** The stages of a job: create, queue, run, done; its fate, and the data of each stage. */
import type { Event, EventKind } from '../model/event.ts';
import { isOpen, type EndedJob, type Job } from '../model/job.ts';
import type { ErrorCode, Fate, TerminateCode } from '../model/state.ts';
import { jobStandingOf, stepsOf, type JobStanding } from './standing.ts';

export type Stage = 'create' | 'queue' | 'run' | 'done';
export const stages: readonly Stage[] = ['create', 'queue', 'run', 'done'];

export type StageFate = 'complete' | 'error' | 'terminate';

const words: Readonly<Record<JobStanding, Stage>> = {
  inserting: 'create',
  pending: 'queue',
  paused: 'queue',
  behindParent: 'queue',
  preparing: 'run',
  underWay: 'run',
  succeeded: 'done',
  failed: 'done',
  cancelled: 'done',
};

const wordsOfFates: Readonly<Record<Fate, StageFate>> = {
  succeeded: 'complete',
  failed: 'error',
  cancelled: 'terminate',
};

export const errorNumbers: Readonly<Record<ErrorCode, number>> = {
  'unknown': 0,
  'crashed': 1,
  'automation': 2,
  'timed out': 3,
  'missing output': 4,
  'not permitted': 5,
  'could not start': 6,
};

export const terminateNumbers: Readonly<Record<TerminateCode, number>> = {
  user: 0,
  admin: 1,
  automation: 2,
  parent: 3,
  server: 4,
};

/** Returns the current stage; `stageHistory` also returns the earlier ones. */
export const stageOf = (job: Job): Stage => words[jobStandingOf(job)];

/** Returns how the job ended; null: it is open. */
export const fateOf = (job: Job): StageFate | null => (isOpen(job) ? null : wordsOfFates[job.fate]);

export type StageEvent =
  | { readonly type: 'CREATE' | 'QUEUE' | 'RUN' | 'COMPLETE'; readonly at: number }
  | { readonly type: 'ERROR'; readonly at: number; readonly code: number; readonly message: string }
  | { readonly type: 'TERMINATE'; readonly at: number; readonly code: number };

const beginningAgain: ReadonlySet<EventKind> = new Set<EventKind>(['reopened', 'repeated']);

/**
 * Returns an entry for the creation, and one for each later stage that the job has reached. After the job was reopened
 * or repeated, only stages since then count. A return to the queue in between (retry, release, lapse) adds no entry.
 * `events` must contain all events of the job.
 */
export function stageHistory(events: readonly Event[]): readonly StageEvent[] {
  let history: StageEvent[] = [];
  for (const { event, before, after } of stepsOf(events)) {
    const { at, kind } = event;
    if (kind === 'created') history = [{ type: 'CREATE', at }, { type: 'QUEUE', at }];
    if (beginningAgain.has(kind)) history = [...history.slice(0, 1), { type: 'QUEUE', at }];
    if (stageOf(after) === 'run' && history.at(-1)?.type === 'QUEUE') history.push({ type: 'RUN', at });
    if (isOpen(before) && !isOpen(after)) history.push(endingOf(event));
  }
  return history;
}

function endingOf(event: Event): StageEvent {
  const { at } = event;
  switch (event.kind) {
    case 'failed':
      return { type: 'ERROR', at, code: errorNumbers[event.error.code], message: event.error.message };
    case 'cancelled':
      return { type: 'TERMINATE', at, code: terminateNumbers[event.code] };
    default:
      return { type: 'COMPLETE', at };
  }
}

/** The ten histories that this vocabulary allows. */
export const legalHistories: readonly (readonly StageEvent['type'][])[] = [
  ['CREATE'],
  ['CREATE', 'QUEUE'],
  ['CREATE', 'QUEUE', 'RUN'],
  ['CREATE', 'QUEUE', 'RUN', 'COMPLETE'],
  ['CREATE', 'ERROR'],
  ['CREATE', 'QUEUE', 'ERROR'],
  ['CREATE', 'QUEUE', 'RUN', 'ERROR'],
  ['CREATE', 'TERMINATE'],
  ['CREATE', 'QUEUE', 'TERMINATE'],
  ['CREATE', 'QUEUE', 'RUN', 'TERMINATE'],
];

const legal: ReadonlySet<string> = new Set(legalHistories.map((types) => types.join(' ')));

export const isLegalHistory = (history: readonly Pick<StageEvent, 'type'>[]): boolean =>
  legal.has(history.map(({ type }) => type).join(' '));

/** The current stage, and the data of every stage that the job has reached; null: it has not reached the stage. */
export interface StageInfo<Log> {
  readonly stage: Stage;
  readonly create: { readonly at: number };
  /** `position`: how many due jobs precede this job in claim order; null: the job is not in the queue now. */
  readonly queue: { readonly at: number; readonly position: number | null } | null;
  readonly run: { readonly at: number; readonly log: Log } | null;
  readonly done: ({ readonly at: number } & StageEnding) | null;
}

export type StageEnding =
  /** `result` is JSON text. */
  | { readonly fate: 'complete'; readonly result: string | null }
  | {
      readonly fate: 'error';
      readonly code: number;
      readonly reason: ErrorCode;
      readonly message: string;
      /** The `code` property of the error that was thrown, such as ENOENT. */
      readonly id?: string;
      readonly data: unknown;
    }
  | {
      readonly fate: 'terminate';
      readonly code: number;
      readonly reason: TerminateCode;
      readonly message: string | null;
      /** The actor who cancelled or stopped the job. */
      readonly by: string;
    };

/** Data that neither the job nor its events contain. */
export interface StageGiven<Log> {
  readonly position: number | null;
  readonly log: Log;
}

export function stageInfo<Log>(job: Job, events: readonly Event[], { position, log }: StageGiven<Log>): StageInfo<Log> {
  const history = stageHistory(events);
  const timeOf = (type: StageEvent['type']): number | undefined => history.find((event) => event.type === type)?.at;
  const stage = stageOf(job);
  const queued = timeOf('QUEUE');
  const ran = timeOf('RUN');
  return {
    stage,
    create: { at: timeOf('CREATE') ?? job.created },
    queue: queued === undefined ? null : { at: queued, position: stage === 'queue' ? position : null },
    run: ran === undefined ? null : { at: ran, log },
    done: isOpen(job) ? null : { at: job.endedAt, ...ending(job, events) },
  };
}

function ending(job: EndedJob, events: readonly Event[]): StageEnding {
  switch (job.fate) {
    case 'succeeded':
      return { fate: 'complete', result: job.result };
    case 'failed': {
      const { code, message, id, data = null } = job.error!;
      const own = id === undefined ? {} : { id };
      return { fate: 'error', code: errorNumbers[code], reason: code, message, ...own, data };
    }
    case 'cancelled':
      return termination(job, events);
  }
}

/**
 * Returns the ending of a cancelled job, with the code, actor and reason of the cancel request. If the final event has
 * another code, for example because the job was stopped, uses the code, actor and reason of that event.
 */
function termination({ cancel }: EndedJob, events: readonly Event[]): StageEnding {
  const last = events.findLast((event) => event.kind === 'cancelled');
  const isOther = last !== undefined && last.code !== cancel!.code;
  const { code, by, why } = isOther ? last : cancel!;
  return { fate: 'terminate', code: terminateNumbers[code], reason: code, message: why ?? null, by };
}
