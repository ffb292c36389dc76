/** What each event makes of a job. Rows are written from here and histories replay through here: one meaning, one place. */
import type { Event, EventKind, Happening, Stamp } from './event.ts';
import { facts, type Birth, type CancelNote, type EndedJob, type Job, type JobFacts, type PendingJob } from './job.ts';

type Effect<K extends EventKind> = (job: Job, event: Stamp & Extract<Happening, { kind: K }>) => Job;

const effects: { readonly [K in EventKind]: Effect<K> } = {
  created: (job, e) => {
    const born = { ...facts(job), due: e.due, priority: e.priority, phase: e.phase ?? 'run', plan: e.plan ?? null };
    return e.hold ? { ...born, state: 'held', hold: e.hold } : { ...born, state: 'pending' };
  },
  claimed: (job, e) => ({
    ...facts(job),
    state: 'running',
    lease: { holder: e.holder, until: e.until ?? null },
    fence: job.fence + 1,
    attempt: job.attempt + 1,
    admitted: job.gate !== null,
    startedAt: e.at,
  }),
  released: (job, e) => uncounted(job, e.due),
  lapsed: (job, e) => ({ ...uncounted(job, e.due), crashes: job.crashes + 1 }),
  retried: (job, e) => ({ ...outside(job), error: e.error, due: e.due }),
  handedOff: (job, e) => ({ ...facts(job), state: 'running', lease: { holder: e.holder, until: e.until ?? null } }),
  planned: (job, e) => {
    const fresh = { phase: afterPlanning(job), attempt: 0, crashes: 0, error: null, hasChildrenWaiting: false };
    const planned = { ...facts(job), ...fresh, details: e.details ?? job.details };
    return e.tasks > 0 ? { ...planned, state: 'held', hold: 'children' } : { ...planned, state: 'pending', due: e.at };
  },
  adopted: (job) => (job.state === 'running' ? { ...job, hasChildrenWaiting: true } : job),
  settled: (job, e) => ({ ...facts(job), state: 'pending', due: e.due }),
  freed: (job) => ({ ...facts(job), state: 'pending' }),
  paused: (job) => ({ ...facts(job), state: 'held', hold: 'pause' }),
  resumed: (job, e) => {
    const hadChildren = job.state === 'held' && job.hold === 'children';
    return { ...facts(job), state: 'pending', due: e.due, hasChildrenWaiting: job.hasChildrenWaiting || hadChildren };
  },
  cancelAsked: (job, e) => ({ ...job, cancel: e.note }),
  succeeded: (job, e) => ({ ...ended(job, e.at), fate: 'succeeded', error: null }),
  failed: (job, e) => ({ ...ended(job, e.at), fate: 'failed', error: e.error }),
  cancelled: (job, e) => ({ ...ended(job, e.at), fate: 'cancelled', cancel: job.cancel ?? noteOf(e) }),
  repeated: (job, e) => ({ ...outside(job), due: e.due, attempt: 0, crashes: 0, error: null }),
  reopened: (job, e) => {
    const fresh = { attempt: 0, crashes: 0, cancel: null, error: null, result: null, hasChildrenWaiting: false };
    // Whatever it waits for now, it takes its place behind the gate when it passes it again: others may have it.
    const open = { ...facts(job), ...fresh, generation: job.generation + 1, phase: e.phase, due: e.due, admitted: false };
    return e.hold ? { ...open, state: 'held', hold: e.hold } : { ...open, state: 'pending' };
  },
  edited: (job, e) => ({ ...job, ...e.edit }),
  ticked: (job, e) => ({ ...job, plan: e.plan, due: e.due }),
};

/** One event on. */
export function evolve(job: Job, event: Event): Job {
  const effect = effects[event.kind] as Effect<EventKind>;
  return { ...effect(job, event), version: event.n, changed: event.at };
}

/** The job as its events tell it. Its input, when never edited, and its result are kept beside the history, not in it. */
export function replay(birth: Birth, events: readonly Event[]): Job {
  return events.reduce(evolve, unborn(birth));
}

/** A job before its first event. */
export function unborn(birth: Birth): Job {
  return {
    ...birth,
    state: 'pending',
    version: 0,
    changed: birth.created,
    phase: 'run',
    priority: 0,
    due: birth.created,
    fence: 0,
    generation: 1,
    attempt: 0,
    crashes: 0,
    admitted: false,
    startedAt: null,
    hasChildrenWaiting: false,
    cancel: null,
    error: null,
    result: null,
    details: null,
    plan: null,
  };
}

/** Pending again; a run that gathers keeps its place behind the gate. */
const outside = (job: Job): PendingJob => ({
  ...facts(job),
  state: 'pending',
  admitted: job.admitted && job.phase === 'gather',
});

const uncounted = (job: Job, due: number): PendingJob => ({ ...outside(job), due, attempt: job.attempt - 1 });

const afterPlanning = (job: Job): JobFacts['phase'] => (job.phase === 'prepare' ? 'gather' : job.phase);

const ended = (job: Job, at: number): Omit<EndedJob, 'fate'> => ({
  ...facts(job),
  state: 'ended',
  endedAt: at,
  admitted: false,
});

const noteOf = (event: Stamp & Extract<Happening, { kind: 'cancelled' }>): CancelNote => ({
  by: event.by,
  at: event.at,
  code: event.code,
  why: event.why ?? null,
  fate: 'cancelled',
  stopAt: null,
});
