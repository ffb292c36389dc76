/**
 * Memos: small named texts that belong to no job, such as alerts and how far they have read the feed. A memo has no
 * history, so that it can change every few seconds and can contain a secret.
 */
import type { Change } from '../../model/change.ts';

export interface Memos {
  /** Returns the memos whose names begin with `prefix`, in the order of their names. */
  memos(prefix: string): Promise<readonly Memo[]>;

  /**
   * Writes memos and changes in one commit, all or none; returns whether that was done. It is not done if a stored memo
   * has another version than the one that was read, or if `commit` would not write one of the changes.
   */
  writeMemos(writes: readonly MemoWrite[], changes?: readonly Change[]): Promise<boolean>;
}

export interface Memo {
  readonly name: string;
  /** Rises by 1 with every write. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
}

export interface MemoWrite {
  readonly name: string;
  /** The version that was read; 0: there was no memo of this name. */
  readonly version: number;
  /** The new value as JSON text; null: the memo is deleted. */
  readonly value: string | null;
}
