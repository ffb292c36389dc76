/** The effect of each event on a job. Rows are written and histories are replayed through these functions. */
import type { Event, EventKind, EventBody, Stamp } from './event.ts';
import {
  facts, type JobOrigin, type CancelNote, type EndedJob, type Job, type JobError, type JobFacts, type PendingJob,
  type RunningJob,
} from './job.ts';
import type { Fate } from './state.ts';
import type { Writable } from './writable.ts';

/**
 * A job that is being made from the facts of the job before. Claims and ends, which every job has, set the fields that
 * differ: a literal with the facts in it would copy all of them once more, which takes twice the time and the memory.
 */
type Unfinished<J extends Job> = Writable<J>;

type Effect<K extends EventKind> = (job: Job, event: Stamp & Extract<EventBody, { kind: K }>) => Job;

const effects: { readonly [K in EventKind]: Effect<K> } = {
  created: (job, e) => {
    const created = {
      ...moved(job, e), due: e.due, priority: e.priority, phase: e.phase ?? 'run', plan: e.plan ?? null,
      isFollowed: e.isFollowed ?? false,
    };
    return e.hold ? { ...created, state: 'held', hold: e.hold } : { ...created, state: 'pending' };
  },
  claimed: (job, e) => {
    const claimed = moved(job, e) as Unfinished<RunningJob>;
    claimed.state = 'running';
    claimed.lease = { holder: e.holder, until: e.until ?? null };
    claimed.fence += 1;
    claimed.attempt += 1;
    claimed.admitted = job.gate !== null;
    claimed.startedAt = e.at;
    return claimed;
  },
  released: (job, e) => ({ ...uncounted(job, e), scheduled: null, crashes: e.crashes ?? job.crashes }),
  slept: (job, e) => ({ ...outside(job, e), due: e.due, scheduled: null, attempt: 0, crashes: 0, error: null }),
  answered: (job, e) => ({ ...job, ...stampOf(e), due: e.due ?? job.due }),
  unanswered: (job, e) => ({ ...job, ...stampOf(e) }),
  lapsed: (job, e) => ({
    ...uncounted(job, e),
    scheduled: e.scheduled ?? job.scheduled,
    crashes: job.crashes + 1,
  }),
  retried: (job, e) => ({ ...outside(job, e), error: e.error, due: e.due }),
  handedOff: (job, e) => ({
    ...moved(job, e),
    state: 'running',
    lease: { holder: e.holder, until: e.until ?? null },
    // A job that is reclaimed after its lease has lapsed occupies its gate again.
    admitted: job.gate !== null,
  }),
  planned: (job, e) => {
    const fresh = { phase: afterPlanning(job), attempt: 0, crashes: 0, error: null, hasChildrenWaiting: false };
    const times = { due: e.due ?? job.due, scheduled: e.scheduled ?? job.scheduled };
    const planned = { ...moved(job, e), ...fresh, ...times, details: e.details ?? job.details };
    return e.tasks > 0 ? { ...planned, state: 'held', hold: 'children' } : { ...planned, state: 'pending', due: e.at };
  },
  adopted: (job, e) => ({ ...job, ...stampOf(e), hasChildrenWaiting: job.hasChildrenWaiting || job.state !== 'held' }),
  settled: (job, e) => ({ ...moved(job, e), state: 'pending', due: e.due }),
  freed: (job, e) => ({ ...moved(job, e), state: 'pending' }),
  followed: (job, e) => ({ ...job, ...stampOf(e), isFollowed: true }),
  proceeded: (job, e) => ({
    ...moved(job, e),
    state: 'pending',
    due: e.due,
    policy: e.startBy === undefined ? job.policy : { ...job.policy, startBy: e.startBy },
    input: e.input ?? job.input,
  }),
  awaited: (job, e) => ({ ...job, ...stampOf(e) }),
  paused: (job, e) => ({ ...moved(job, e), state: 'held', hold: 'pause' }),
  resumed: (job, e) => {
    const hadChildren = job.state === 'held' && job.hold === 'children';
    const isPaused = job.state === 'held' && job.hold === 'pause';
    return {
      ...moved(job, e),
      state: 'pending',
      due: e.due,
      scheduled: isPaused ? job.scheduled : null,
      crashes: e.crashes ?? job.crashes,
      hasChildrenWaiting: job.hasChildrenWaiting || hadChildren,
    };
  },
  cancelAsked: (job, e) => ({ ...job, ...stampOf(e), cancel: e.note }),
  succeeded: (job, e) => ended(job, e, 'succeeded', null),
  failed: (job, e) => ended(job, e, 'failed', e.error),
  cancelled: (job, e) => ({ ...ended(job, e, 'cancelled', job.error), cancel: job.cancel ?? noteOf(e) }),
  repeated: (job, e) => ({ ...outside(job, e), due: e.due, scheduled: null, attempt: 0, crashes: 0, error: null }),
  reopened: (job, e) => {
    const fresh = { attempt: 0, crashes: 0, cancel: null, error: null, result: null, hasChildrenWaiting: false };
    // A reopened job must pass its gate again, because other jobs may have been admitted meanwhile.
    const again = { generation: job.generation + 1, phase: e.phase, due: e.due, scheduled: null, admitted: false };
    const open = { ...moved(job, e), ...fresh, ...again, details: e.replans ? null : job.details };
    return e.hold ? { ...open, state: 'held', hold: e.hold } : { ...open, state: 'pending' };
  },
  edited: (job, e) => {
    const scheduled = job.scheduled === null ? null : (e.edit.due ?? job.scheduled);
    return { ...job, ...stampOf(e), ...e.edit, scheduled };
  },
  ticked: (job, e) => ({ ...job, ...stampOf(e), plan: e.plan, due: e.due }),
};

export const evolve = (job: Job, event: Event): Job => (effects[event.kind] as Effect<EventKind>)(job, event);

/**
 * Returns the job after its events. The job has no result, because results are stored beside the history. Its input is
 * that of `origin` unless an event edited it.
 */
export function replay(origin: JobOrigin, events: readonly Event[]): Job {
  return events.reduce(evolve, blankJob(origin));
}

/** Returns a job before its first event. */
export function blankJob(origin: JobOrigin): Job {
  return {
    ...origin,
    state: 'pending',
    version: 0,
    changed: origin.created,
    phase: 'run',
    priority: 0,
    due: origin.created,
    scheduled: null,
    fence: 0,
    generation: 1,
    attempt: 0,
    crashes: 0,
    admitted: false,
    startedAt: null,
    hasChildrenWaiting: false,
    isFollowed: false,
    cancel: null,
    error: null,
    result: null,
    details: null,
    plan: null,
  };
}

const stampOf = ({ n, at }: Stamp) => ({ version: n, changed: at });

/** Returns the job without the fields of the state that it leaves, and with the number and time of the event. */
const moved = (job: Job, { n, at }: Stamp): JobFacts => facts(job, n, at);

/**
 * Returns the job as pending. It no longer counts toward its gate, unless it is a run that has planned tasks or children.
 */
const outside = (job: Job, event: Stamp): PendingJob => ({
  ...moved(job, event),
  state: 'pending',
  admitted: job.admitted && (job.phase === 'gather' || job.details !== null),
});

const uncounted = (job: Job, event: Stamp & { readonly due: number }): PendingJob => ({
  ...outside(job, event),
  due: event.due,
  attempt: job.attempt - 1,
});

const afterPlanning = (job: Job): JobFacts['phase'] => (job.phase === 'prepare' ? 'gather' : job.phase);

function ended(job: Job, event: Stamp, fate: Fate, error: JobError | null): EndedJob {
  const ended = moved(job, event) as Unfinished<EndedJob>;
  ended.state = 'ended';
  ended.fate = fate;
  ended.error = error;
  ended.endedAt = event.at;
  ended.admitted = false;
  return ended;
}

const noteOf = (event: Stamp & Extract<EventBody, { kind: 'cancelled' }>): CancelNote => ({
  by: event.by,
  at: event.at,
  code: event.code,
  why: event.why ?? null,
  fate: 'cancelled',
  stopAt: null,
});
