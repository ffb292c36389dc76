/** Writing: new ids, commits of decided changes, staged children, notes, and writes in the caller's own transaction. */
import type { Change } from '../../model/change.ts';
import type { Edge } from '../../model/following.ts';
import type { NewOutputSegment } from '../../model/output.ts';
import type { ForgottenSteps, WaitEnd } from '../../model/step.ts';
import type { Edges, FlowRuns } from './following.ts';
import type { Steps } from './steps.ts';
import type { Maintenance } from './maintenance.ts';
import type { NewLogLine, Reading } from './reading.ts';

export interface Writing {
  /**
   * Returns the time of the store in ms, without a request to the store. Until the clock of the store has been read,
   * returns the time of this process. Leases and due times are not compared with the returned time: the store compares
   * them with its own clock.
   */
  now(): number;

  /**
   * Reads the clock of the store, so that `now` returns store time. Returns undefined if `now` already does. Call it
   * before a decision that uses `now`, unless the store has already executed a statement for this process. A store
   * that uses the clock of this process does not have this method.
   */
  synchronize?(): Promise<void> | undefined;

  /**
   * Reserves `count` consecutive ids that no other call gets; returns the first. A later call returns larger ids; there
   * may be gaps.
   */
  reserveIds(count: number): Promise<number>;

  /**
   * Writes changes; returns for each whether it was written. A change of a stored job is written only if the job still
   * has the version `before.version`. A new job is written only if its id is unused, and a change that needs a unique
   * key (a new or reopened job) only if the key is free. A new job that is already running is written only if its type
   * is not paused. With `whole`, either all changes are written or none.
   */
  commit(batch: Batch): Promise<readonly boolean[]>;

  /** Stores children that no query finds until a commit names their parent and fence in `staged`. */
  stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void>;

  /**
   * Writes the progress, log lines and output of jobs that are running under the given fence; returns for each note
   * whether it was written. A segment of the output that is stored already is not written again.
   */
  writeNotes(notes: readonly Note[]): Promise<readonly boolean[]>;

  /**
   * Returns a writer that reads and writes inside the caller's transaction. Its `commit` need support only new jobs and
   * changes of open jobs, without `staged`. Refuses a value that is no open transaction on the data of this store.
   */
  within(transaction: unknown): Writer;

  /**
   * Runs `work` in a transaction that the store begins, and commits it; rolls back if `work` rejects. `within` accepts
   * the transaction. `work` is called at most once. If the connection is lost during the commit, rejects although the
   * transaction may have been committed. A store whose database users cannot write to does not have this method.
   */
  transact?<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T>;
}

/** A transaction on the database of the store, in which a handler writes to its own tables. */
export interface StoreTransaction {
  /** Executes a statement with the parameters $1, $2 and so on; on SQLite also with ?. */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: Row[] }>;
}

/**
 * The methods that are required to create, edit, end and cancel jobs. A writer has `writeNotes` if the transaction of
 * the caller keeps the store from writing notes until its end. `isReservingApart`: ids are reserved outside of the
 * transaction, so that ids that the store has reserved before will do.
 */
export type Writer =
  & { readonly isReservingApart?: true }
  & Pick<Writing, 'now' | 'synchronize' | 'reserveIds' | 'commit'>
  & Partial<Pick<Writing, 'writeNotes'>>
  & Pick<Reading, 'load' | 'find' | 'count' | 'jobsByKey'>
  & Pick<Maintenance, 'settleable'>
  & Pick<Edges, 'closeEdges' | 'proceedable' | 'tallyEdges' | 'edges' | 'edgesOfMany'>
  & Pick<Steps, 'steps'>;

export interface Batch {
  readonly changes: readonly Change[];
  readonly whole?: boolean;
  /** The children staged under this parent and fence become jobs in this commit. Requires `whole`. */
  readonly staged?: { readonly parent: number; readonly fence: number };
  /** Edges to write with the changes; an edge between the same runs is replaced. Requires `whole`. */
  readonly edges?: readonly Edge[];
  /** The flows to which new runs are added. Requires `whole`. */
  readonly flows?: readonly FlowRuns[];
  /** The steps that reopened jobs forget. Requires `whole`. */
  readonly forgottenSteps?: readonly ForgottenSteps[];
  /** The ends of waits that the changes record. Requires `whole`. */
  readonly waitEnds?: readonly WaitEnd[];
}

export interface Note {
  readonly id: number;
  readonly fence: number;
  /** JSON text of the whole progress tree. */
  readonly progress?: string;
  readonly log?: readonly NewLogLine[];
  readonly output?: readonly NewOutputSegment[];
}
