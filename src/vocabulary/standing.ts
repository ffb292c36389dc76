/** The rows: where a job stands, as finely as the vocabularies ask. Each of them is one column of the same table. */
import { evolve, unborn } from '../model/evolve.ts';
import type { Event, EventKind } from '../model/event.ts';
import type { JobOrigin, Job } from '../model/job.ts';
import type { Fate, Hold } from '../model/state.ts';

export type Row =
  /** Made but not stored: it has no event yet. */
  | 'inserting'
  | 'pending'
  | 'paused'
  | 'behindParent'
  | 'preparing'
  /** Worked on, waiting for its children, or with nothing left to do but gather what they did. */
  | 'underWay'
  | Fate;

const rowsOfHolds: Readonly<Record<Hold, Row>> = { pause: 'paused', parent: 'behindParent', children: 'underWay' };

export function rowOf(job: Job): Row {
  if (job.version === 0) return 'inserting';
  if (job.state === 'ended') return job.fate;
  if (job.state === 'running') return job.phase === 'prepare' ? 'preparing' : 'underWay';
  if (job.phase === 'gather') return 'underWay';
  return job.state === 'pending' ? 'pending' : rowsOfHolds[job.hold];
}

/** One event, and what it made of the job. */
export interface Step {
  readonly event: Event;
  readonly before: Job;
  readonly after: Job;
  /** A life begins when the job is created, opened again or repeated; 1 is the first. */
  readonly life: number;
}

const beginnings: ReadonlySet<EventKind> = new Set<EventKind>(['created', 'reopened', 'repeated']);

/** A job's way through all its events. Who it is plays no part: what was fixed at its birth is left blank. */
export function wayOf(events: readonly Event[]): readonly Step[] {
  let after = unborn(anybody);
  let life = 0;
  return events.map((event) => {
    const before = after;
    after = evolve(before, event);
    if (beginnings.has(event.kind)) life += 1;
    return { event, before, after, life };
  });
}

const anybody: JobOrigin = {
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
