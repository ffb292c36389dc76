/** Named limits: how much of each is used, and changes that are not part of a claim. */

export interface LimitStates {
  /** Returns the use of a limit: of these keys, or of up to `count` keys with the most admitted jobs and the latest start. */
  limitUse(name: string, keys: { readonly keys: readonly (string | null)[] } | { readonly count: number }): Promise<readonly LimitInUseNow[]>;
  /** Closes a limit for a key (null: the limit has no keys, or all keys) until `until`, unless it is already closed for longer. */
  closeLimit(name: string, key: string | null, until: number): Promise<void>;
  /**
   * Forgets the closing of a limit for a key (null: the limit has no keys, or all keys), and what is used of its rate.
   * Wakes the listeners of `onWake`.
   */
  reopenLimit(name: string, key: string | null): Promise<void>;
  /** Takes `cost` more from the rate of a limit, even if nothing is left of it. */
  spendLimit(name: string, key: string | null, cost: number): Promise<void>;
}

export interface LimitInUseNow {
  readonly key: string | null;
  /** How many jobs that use the limit are admitted. */
  readonly admitted: number;
  /** Store time from which a job of cost 1 may start, as far as rate and closing are concerned; at most now: at once. */
  readonly opensAt: number;
  /** Until when the limit is closed by `closeLimit`; null: it is not closed. */
  readonly closedUntil: number | null;
}
