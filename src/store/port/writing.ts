/** Writing: new ids, commits of decided changes, staged children, notes, and writes in the caller's own transaction. */
import type { Change } from '../../model/change.ts';
import type { LogLine, Reading } from './reading.ts';

export interface Writing {
  /** Store time in ms, as far as it is known without a request. The store itself decides about leases and due times. */
  now(): number;

  /**
   * Resolves when `now` returns store time; undefined: it does already. Call it before a decision that no statement
   * precedes. A store with the clock of this process has no such method.
   */
  synchronize?(): Promise<void> | undefined;

  /** Returns the first of `count` ids that no other caller gets. Ids rise; gaps are possible. */
  reserve(count: number): Promise<number>;

  /**
   * Writes changes and answers which were written. A change of a stored job is written only if the job still has the
   * version `before.version`; a new job only if no job has its id and its unique key is free. `whole`: all or none.
   */
  commit(batch: Batch): Promise<readonly boolean[]>;

  /** Stores children that no query finds until a commit names their parent and fence with `staged`. */
  stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void>;

  /** Writes progress and log of jobs that are running under the given fence; answers for which. */
  writeNotes(notes: readonly Note[]): Promise<readonly boolean[]>;

  /** A writer inside the caller's transaction. Its `commit` must support new jobs and edits of open ones. */
  within(transaction: unknown): Writer;
}

/** What creating jobs requires. */
export type Writer = Pick<Writing, 'now' | 'synchronize' | 'reserve' | 'commit'> & Pick<Reading, 'load' | 'holders'>;

export interface Batch {
  readonly changes: readonly Change[];
  readonly whole?: boolean;
  /** Staged children that become jobs in this commit. Requires `whole`. */
  readonly staged?: { readonly parent: number; readonly fence: number };
}

export interface Note {
  readonly id: number;
  readonly fence: number;
  /** JSON text of the whole progress tree. */
  readonly progress?: string;
  readonly log?: readonly Omit<LogLine, 'n'>[];
}
