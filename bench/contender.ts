/** A contender: what a workload drives, be it Stint or the hand-written SQL that shows where the limit is. */

export type Side = 'ours' | 'limit';
export const sides: readonly Side[] = ['ours', 'limit'];

export type EngineName = 'sqlite' | 'postgres';

/** Where a contender keeps its jobs. Plain data: child processes are told it. */
export interface Place {
  readonly engine: EngineName;
  readonly side: Side;
  /** The path of a file, or the URL of a database. */
  readonly at: string;
  /** Whether processes other than the creating one are to be woken. */
  readonly isHeard?: boolean;
}

export interface Draft {
  readonly type: string;
  /** Becomes JSON text on the way in. */
  readonly input: unknown;
  /** Left out: due at once. */
  readonly due?: number;
}

export type Names = { readonly exact: readonly string[] } | { readonly glob: string };

/** A claimed job; what else it is, only its contender knows. */
export interface Taken {
  readonly id: number;
  readonly input: string;
}

export interface Contender<Job extends Taken = Taken> {
  /** In one call, and so in one batch. */
  create(drafts: readonly Draft[]): Promise<void>;
  claim(names: Names, limit: number): Promise<readonly Job[]>;
  finish(jobs: readonly Job[]): Promise<void>;
  /** Calls when something may have become claimable, whichever process made it so. */
  onWake(call: () => void): () => void;
  /** The first of so many ids that nobody else gets: for rows that are filled in beside it. */
  reserve(count: number): Promise<number>;
  close(): Promise<void>;
}
