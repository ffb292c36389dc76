/** A target: what a workload measures. It is Stint, or the hand-written SQL that shows the raw limit. */

export type Side = 'ours' | 'limit';
export const sides: readonly Side[] = ['ours', 'limit'];

export type DatabaseName = 'sqlite' | 'postgres';

/** Which target to open, and where. Plain data: it is sent to child processes. */
export interface TargetAddress {
  readonly database: DatabaseName;
  readonly side: Side;
  /** The path of a SQLite file, or the URL of a PostgreSQL database. */
  readonly location: string;
  /** Whether a create wakes workers in other processes too. */
  readonly wakesOtherProcesses?: boolean;
}

export interface Draft {
  readonly type: string;
  /** Any JSON value; the target serializes it. */
  readonly input: unknown;
  /** Default: now. */
  readonly due?: number;
}

export type NameFilter = { readonly exact: readonly string[] } | { readonly glob: string };

/** A claimed job. Each target adds the fields that it needs to finish the job. */
export interface ClaimedJob {
  readonly id: number;
  readonly input: string;
}

export interface Target<Job extends ClaimedJob = ClaimedJob> {
  /** Creates all drafts in one call, and so in one batch. */
  create(drafts: readonly Draft[]): Promise<void>;
  claim(names: NameFilter, limit: number): Promise<readonly Job[]>;
  finish(jobs: readonly Job[]): Promise<void>;
  /** Calls `call` when a job may have become claimable, in any process. Returns the function that unsubscribes. */
  onWake(call: () => void): () => void;
  /** Reserves `count` consecutive ids for rows that the bench copies in SQL; returns the first. */
  reserve(count: number): Promise<number>;
  close(): Promise<void>;
}
