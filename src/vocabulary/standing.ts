/** The standing of a job, as finely as the vocabularies need it. Each vocabulary maps every standing to a word. */
import { evolve, blankJob } from '../model/evolve.ts';
import type { Event, EventKind } from '../model/event.ts';
import type { JobOrigin, Job } from '../model/job.ts';
import type { Fate, Hold } from '../model/state.ts';

export type JobStanding =
  /** Made but not stored: it has no event yet. */
  | 'inserting'
  | 'pending'
  | 'paused'
  | 'behindParent'
  | 'preparing'
  /** Worked on, waiting for its children, or with nothing left to do but gather what they did. */
  | 'underWay'
  | Fate;

const standingOfHold: Readonly<Record<Hold, JobStanding>> = { pause: 'paused', parent: 'behindParent', children: 'underWay' };

export function jobStandingOf(job: Job): JobStanding {
  if (job.version === 0) return 'inserting';
  if (job.state === 'ended') return job.fate;
  if (job.state === 'running') return job.phase === 'prepare' ? 'preparing' : 'underWay';
  if (job.phase === 'gather') return 'underWay';
  return job.state === 'pending' ? 'pending' : standingOfHold[job.hold];
}

/** One event, and what it made of the job. */
export interface LifeStep {
  readonly event: Event;
  readonly before: Job;
  readonly after: Job;
  /** A life begins when the job is created, opened again or repeated; 1 is the first. */
  readonly life: number;
}

const beginnings: ReadonlySet<EventKind> = new Set<EventKind>(['created', 'reopened', 'repeated']);

/** The steps of a job through all its events. Its identity plays no part: what is fixed at creation is left blank. */
export function stepsOf(events: readonly Event[]): readonly LifeStep[] {
  let after = blankJob(blankOrigin);
  let life = 0;
  return events.map((event) => {
    const before = after;
    after = evolve(before, event);
    if (beginnings.has(event.kind)) life += 1;
    return { event, before, after, life };
  });
}

const blankOrigin: JobOrigin = {
  id: 0,
  kind: 'run',
  type: '',
  def: null,
  parent: null,
  key: null,
  created: 0,
  gate: null,
  unique: null,
  policy: {},
  tags: null,
  input: 'null',
  tick: null,
};
