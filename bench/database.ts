/** A database of the bench: SQLite or PostgreSQL. It creates a scratch database for each side of each workload. */
import type { DatabaseName, Side, TargetAddress } from './target.ts';

export interface Database {
  readonly name: DatabaseName;
  /** Version and durability settings, for the report. */
  readonly about: string;
  createScratch(side: Side, wakesOtherProcesses: boolean): Promise<ScratchDatabase>;
  /** Stops the server if the bench started it, and removes all files. */
  close(): Promise<void>;
}

/** An empty database or file that only one target uses. */
export interface ScratchDatabase {
  readonly address: TargetAddress;
  /** CPU time of the server so far; null if there is no server, or its processes are not visible. */
  serverCpuUs(): number | null;
  copyRows(copies: RowCopies): Promise<void>;
  /** Opens a transaction that reads once and stays open until the scratch database is removed. */
  openIdleTransaction(): Promise<void>;
  /** The size of the database, with its dead rows. */
  bytes(): Promise<number>;
  /** Removes dead rows and the space that they took. */
  compact(): Promise<void>;
  /** VACUUM and CHECKPOINT, or a WAL checkpoint: keeps work of one measurement out of the next. */
  cleanUp(): Promise<void>;
  remove(): Promise<void>;
}

/** Copies of one row, inserted by the database itself. */
export interface RowCopies {
  readonly table: string;
  /** The type of the row to copy. */
  readonly sample: string;
  readonly count: number;
  /** The id of the first copy; the ids are consecutive. */
  readonly first: number;
  /** The types of the copies, in rotation. */
  readonly types: readonly string[];
}
