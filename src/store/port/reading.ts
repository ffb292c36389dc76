/** Reading: jobs, their histories, progress and logs, and queries over them. */
import type { Event } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import type { Page, PageRequest, Query, Tally } from '../query.ts';

export interface Reading {
  /** The existing jobs with these ids, in any order. */
  load(ids: readonly number[]): Promise<readonly Job[]>;

  find(query: Query, page?: PageRequest): Promise<Page>;

  count(query: Query): Promise<readonly Tally[]>;

  /** The holder of each of these unique keys that is taken: key → job id. */
  holders(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /** The events of a job from number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]>;

  /** JSON text of the progress tree. */
  progress(id: number): Promise<string | null>;

  log(id: number, after?: number, limit?: number): Promise<readonly LogLine[]>;

  /**
   * Executes a query in SQLite's SQL over `jobs`, which has the columns of Bedrock's table, and over nothing else. A
   * store that cannot enforce this has no such method. Refuses `malformed.query`, `forbidden.query`, `costly.query`.
   */
  inspect?(sql: string, limits: InspectionLimits): Promise<Inspection>;
}

export interface LogLine {
  readonly n: number;
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
}

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
