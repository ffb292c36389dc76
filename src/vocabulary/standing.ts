/**
 * `JobStanding`: the state or fate of a job, in the detail that the vocabularies need; finer than the `Standing` by
 * which lists filter and count. Each vocabulary except that of Bedrock maps every `JobStanding` to a word.
 */
import { evolve, blankJob } from '../model/evolve.ts';
import type { Event, EventKind } from '../model/event.ts';
import type { JobOrigin, Job } from '../model/job.ts';
import type { Fate, Hold } from '../model/state.ts';

export type JobStanding =
  /** Not stored yet: the job has no event. */
  | 'inserting'
  | 'pending'
  | 'paused'
  /** Waiting for its parent, or for the runs that it follows. */
  | 'behindParent'
  | 'preparing'
  /** Executing, waiting for its children, or due to gather their results. */
  | 'underWay'
  | Fate;

const standingOfHold: Readonly<Record<Hold, JobStanding>> = {
  pause: 'paused', parent: 'behindParent', children: 'underWay', runs: 'behindParent',
};

export function jobStandingOf(job: Job): JobStanding {
  if (job.version === 0) return 'inserting';
  if (job.state === 'ended') return job.fate;
  if (job.state === 'running') return job.phase === 'prepare' ? 'preparing' : 'underWay';
  if (job.phase === 'gather') return 'underWay';
  return job.state === 'pending' ? 'pending' : standingOfHold[job.hold];
}

export interface LifeStep {
  readonly event: Event;
  readonly before: Job;
  readonly after: Job;
  /** Which life of the job this is, counted from 1. A life begins when the job is created, reopened or repeated. */
  readonly life: number;
}

const beginnings: ReadonlySet<EventKind> = new Set<EventKind>(['created', 'reopened', 'repeated']);

/**
 * Returns each event with the job before and after it. The fields of the job's origin are left blank, since no standing
 * depends on them.
 */
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
  follows: null,
  typeVersion: 1,
};
