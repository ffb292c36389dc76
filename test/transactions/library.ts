// A library with which a caller opens transactions on the database of a store.
import { bySize } from '../support/size.ts';

export interface Library {
  readonly name: string;
  connect(address: string): Promise<Connected>;
}

export interface Connected {
  /** Runs `work` in a transaction; rolls back and rejects if `work` rejects. */
  transaction(work: (tx: Tx) => Promise<void>): Promise<void>;
  /** What is no transaction, and what its refusal says that it is. */
  readonly wrong: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface Tx {
  /** What the caller passes to `engine.in`. */
  readonly handle: unknown;
  /** Writes to the caller's own table. */
  write(text: string): Promise<void>;
  /** Runs `work` in a savepoint; rolls back to it and rejects if `work` rejects. */
  nested(work: (tx: Tx) => Promise<void>): Promise<void>;
}

/** In npm test two drivers of each database, in the proof all libraries. */
export const librariesOfRun = (all: readonly Library[]): readonly Library[] =>
  bySize({ small: all.slice(0, 2), ci: all });
