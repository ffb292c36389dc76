/** Maintenance: the schema, jobs that need repair, retention, and the health of the store. */
import type { Job } from '../../model/job.ts';

export interface Maintenance {
  /**
   * Migrates the schema to the version that this Stint requires; with `dryRun` only returns the plan. Several instances
   * may call it at the same time. Refuses `newer.schema` if a newer Stint has migrated the schema.
   */
  migrate(options?: { readonly dryRun?: boolean }): Promise<Migration>;

  /**
   * Returns running jobs whose lease has lapsed. A lease that has an end of its own lapses at that end; any other lease
   * lapses with the lease of the instance that holds the job.
   */
  lapsed(limit: number): Promise<readonly Job[]>;

  /**
   * Returns running jobs that the instance holds and whose leases have no end of their own: these leases lapse with the
   * lease of the instance.
   */
  heldUnderLeaseOf(instance: string, limit: number): Promise<readonly Job[]>;

  /** Returns the ids of parents that have ended or been deleted but still have an open child. */
  orphaned(limit: number): Promise<readonly number[]>;

  /** Returns jobs that wait for their children but have no open child; with `parents`, only jobs with these ids. */
  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]>;

  /**
   * Deletes ended jobs whose retention is over, with their histories, notes and ended children. Also deletes feed
   * entries older than `feedKeptMs`, expired keys, children staged under a fence that is no longer current,
   * instances that hold no job and whose lease lapsed `instanceKeptMs` ago or earlier, and requests that were refused in
   * the inbox, and pauses that ended, `retentionMs` ago or earlier. Returns the number of deleted
   * jobs, not counting their children and pauses.
   */
  purge(options: PurgeOptions): Promise<number>;

  /**
   * Returns figures about the database. A figure is null if the store does not have it or the database user may not see
   * it.
   */
  health(): Promise<StoreHealth>;

  /** Reads the whole database and returns the errors in its structure; absent: other tools check the database. */
  damage?(): Promise<readonly string[]>;

  /**
   * Returns contradictions between the tables, such as a job that is both open and ended; absent: the store writes each
   * job to one table only. Other processes may write meanwhile.
   */
  contradictions?(): Promise<readonly Contradiction[]>;

  /**
   * Copies the database into a new file while other processes may write; absent: the database has its own tools for
   * backups.
   */
  backUp?(path: string): Promise<void>;

  /** Closes the store. Later calls are refused with `unavailable.store`. */
  close(): Promise<void>;
}

export interface Migration {
  readonly from: number;
  readonly to: number;
  /** The statements that were executed; with `dryRun`, those that a migration would execute. */
  readonly statements: readonly string[];
}

export interface Contradiction {
  readonly job: number;
  readonly sentence: string;
}

export interface PurgeOptions {
  /** The maximum number of jobs to delete, not counting their children. */
  readonly limit: number;
  readonly feedKeptMs: number;
  /** The retention of jobs that have none of their own, and of refused requests; null: these are not deleted. */
  readonly retentionMs: number | null;
}

export interface StoreHealth {
  /** The time of the store, read from the store by this call. */
  readonly time: number;
  readonly bytes: number | null;
  /** Live and dead rows per table; for SQLite, used and free pages of the file. */
  readonly bloat: readonly Bloat[];
  /** The size of SQLite's write-ahead log file; null: the database is not SQLite. */
  readonly logBytes: number | null;
  /** The age of the oldest open transaction; null: there is none, or the store cannot see it. */
  readonly oldestTransactionMs: number | null;
  /** The connections of this process. */
  readonly pool: Pool | null;
  /** The connections of all processes to the database server, and the maximum that the server allows. */
  readonly connections: { readonly open: number; readonly max: number } | null;
}

export interface Bloat {
  readonly part: string;
  readonly live: number;
  readonly dead: number;
}

export interface Pool {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}
