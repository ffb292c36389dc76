/** Maintenance: the schema, jobs that need repair, retention, and the health of the store. */
import type { Job } from '../../model/job.ts';

export interface Maintenance {
  /** Brings the schema to this version; safe if several instances start at once. Refuses a newer schema. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<Migration>;

  /** Running jobs whose lease has lapsed: its end has passed, or the lease of its holder's instance has. */
  lapsed(limit: number): Promise<readonly Job[]>;

  /** Jobs whose lease is that of the instance. */
  heldBy(instance: string, limit: number): Promise<readonly Job[]>;

  /** The ids of parents that have ended or been deleted while a child of theirs is open. */
  orphaned(limit: number): Promise<readonly number[]>;

  /** Jobs that wait for children of which none is open; of the given parents, or of any. */
  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]>;

  /** Deletes ended jobs past their retention with everything that belongs to them, and feed entries past theirs. */
  purge(options: PurgeOptions): Promise<number>;

  /** Null for a figure that the store does not have or that this user may not see. */
  health(): Promise<StoreHealth>;

  /** Errors in the structure of the database, found by reading all of it; absent: other tools check it. */
  damage?(): Promise<readonly string[]>;

  /** Copies the database into a new file, while others write; absent: the database has tools for this. */
  backUp?(path: string): Promise<void>;

  close(): Promise<void>;
}

export interface Migration {
  readonly from: number;
  readonly to: number;
  /** The statements that were executed, or would be. */
  readonly statements: readonly string[];
}

export interface PurgeOptions {
  /** Jobs to delete at most. */
  readonly limit: number;
  readonly feedKeptMs: number;
  /** Of jobs without a retention of their own; null: they stay. */
  readonly retentionMs: number | null;
}

export interface StoreHealth {
  /** Store time, read from the store by this call. */
  readonly time: number;
  readonly bytes: number | null;
  /** Live and dead rows per table. */
  readonly bloat: readonly Bloat[];
  /** The size of the write-ahead log that has yet to be copied into the file. */
  readonly logBytes: number | null;
  /** The age of the oldest open transaction; null: there is none, or it is not visible. */
  readonly oldestTransactionMs: number | null;
  /** The connections of this process. */
  readonly pool: Pool | null;
  /** The connections of all processes. */
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
