/** Reading: jobs, their histories, progress, logs and output, and queries over jobs. */
import type { Event } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import type { Fate } from '../../model/state.ts';
import type { OutputPosition, OutputSegment } from '../../model/output.ts';
import type { Page, PageRequest, Query, Tally } from '../query.ts';

export interface Reading {
  /** Returns the jobs with these ids that exist, in any order. */
  load(ids: readonly number[]): Promise<readonly Job[]>;

  find(query: Query, page?: PageRequest): Promise<Page>;

  /**
   * Counts jobs by kind, type and standing. With `dueBy`, also counts how many of them are pending and due before that
   * time.
   */
  count(query: Query, dueBy?: number): Promise<readonly Tally[]>;

  /** Returns for each of these unique keys the id of the job that has it; free keys are left out. */
  jobsByKey(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Returns the ids and versions of the definitions that have not ended, after an id in the order of ids, at most `limit`.
   * With them, a caller reads only those definitions that have changed since it read them before.
   */
  definitionVersions(after: number, limit: number): Promise<readonly StoredVersion[]>;

  /**
   * Returns the run of each of these definitions that ended last; of runs that ended at the same time, the one with the
   * highest id. Definitions of which no run has ended are left out. The cost follows the number of names, not that of runs.
   */
  latestEnds(defs: readonly string[]): Promise<ReadonlyMap<string, LatestEnd>>;

  /**
   * Returns the ids of the open runs of each of these definitions that have been claimed before, or that were asked to
   * cancel: the `startedMax` newest, newest first. Definitions without such runs are left out. If a definition has more than
   * `openMax` open runs, some of those behind the oldest may be missing.
   */
  startedRuns(defs: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>>;

  /** Returns the events of a job from event number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]>;

  /** Returns all events of each of these jobs by its id; jobs that do not exist are left out. */
  histories(ids: readonly number[]): Promise<ReadonlyMap<number, readonly Event[]>>;

  /** Returns the progress tree of a job as JSON text; null: the job has reported no progress. */
  progress(id: number): Promise<string | null>;

  log(id: number, after?: number, limit?: number): Promise<readonly LogLine[]>;

  /** Returns up to `limit` segments of the output of a job whose last chunks are behind the position, in their order. */
  output(id: number, after: OutputPosition, limit: number): Promise<readonly OutputSegment[]>;

  /** Returns the size of the output of a job. */
  outputBytes(id: number): Promise<number>;

  /**
   * Registers a function to call when the job may have ended, whichever process ended it; returns a function that
   * removes it. A call may come early, late, repeatedly or not at all. A store without this method reports no ends:
   * the caller must read the job again.
   */
  onEnd?(id: number, call: () => void): () => void;

  /**
   * Executes a user's query in SQLite's SQL. The query can read only `jobs`, which has the columns of Bedrock's table.
   * A store that cannot enforce this restriction does not have this method. Refuses `malformed.query`,
   * `forbidden.query`, `costly.query`.
   */
  inspect?(sql: string, limits: InspectionLimits): Promise<Inspection>;
}

export interface StoredVersion {
  readonly id: number;
  readonly version: number;
}

export interface LatestEnd {
  /** The id of the run. */
  readonly id: number;
  readonly fate: Fate;
  readonly endedAt: number;
}

export const openMax = 1_000;
export const startedMax = 20;

export interface LogLine {
  readonly n: number;
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
  /**
   * The fence of the claim under which the line was written: it tells the lines of two attempts apart. The first claim
   * of a job has fence 1. Null: unknown, since a version before 0.2.0 wrote the line.
   */
  readonly fence: number | null;
}

/** A log line to be written: the store numbers it, and adds the fence of its note. */
export type NewLogLine = Omit<LogLine, 'n' | 'fence'>;

export interface InspectionLimits {
  readonly rowsMax: number;
  readonly timeMs: number;
}

/** The result of an SQL query. */
export interface Inspection {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | bigint | null;
