/** A source: another job system, as an import reads it. Nothing in it is changed. */
import type { ScheduleEntry } from '../time/schedule-entry.ts';
import type { MisfireSettings } from '../engine/declare/job-def.ts';

/** A waiting job of another system, in Stint's terms. */
export interface ForeignJob {
  /** Unique in its queue. */
  readonly id: string;
  /** Where an id can be used again after its job has ended: tells the jobs apart. */
  readonly addedAt?: number;
  /** The queue or task. The job type has this name unless the user names another. */
  readonly queue: string;
  /** The name of the job in its queue, where a queue has jobs of several names. */
  readonly name?: string;
  readonly payload: unknown;
  readonly due: number;
  /** The highest goes first. */
  readonly priority: number;
  readonly attemptsLeft: number;
  /** The key by which the other system prevents a second job. */
  readonly key?: string;
}

/** A job that is not imported, and why. */
export interface LeftOut {
  readonly queue: string;
  readonly leftOut: LeftOutReason;
}

export type LeftOutReason = keyof typeof leftOutReasons;

export const leftOutReasons = {
  active: 'a worker executes it: stop the workers, or import it too with --include-active',
  schedule: 'the next run of a schedule: the definition creates it',
  flow: 'part of a flow: let the old workers finish it',
  internal: 'internal to the other system',
  unreadable: 'its data or its options are not JSON',
} as const;

/** A schedule of another system. */
export interface ForeignSchedule {
  /** The name of the definition. */
  readonly name: string;
  readonly queue: string;
  /** As of a job. */
  readonly jobName?: string;
  /** A text: why it has no counterpart. */
  readonly schedule: ScheduleEntry | string;
  readonly payload?: unknown;
  readonly priority?: number;
  readonly attempts?: number;
  readonly misfire?: MisfireSettings;
}

export interface ImportSource {
  readonly system: 'pg-boss' | 'graphile-worker' | 'bullmq';
  /** Names the database and the place in it. With the queue and the id of a job, it names the job. */
  readonly place: string;
  /** Waiting jobs in the order in which they would start, in pages. */
  jobs(filter: JobFilter): AsyncIterable<readonly (ForeignJob | LeftOut)[]>;
  schedules(): Promise<readonly ForeignSchedule[]>;
  close(): Promise<void>;
}

export interface JobFilter {
  /** Null: all queues. */
  readonly queues: readonly string[] | null;
  /** Whether jobs that a worker executes are imported, too. */
  readonly includesActive: boolean;
}

export const isLeftOut = (found: ForeignJob | LeftOut): found is LeftOut => 'leftOut' in found;
