/** A named limit: how many jobs may start per period, and how many may be running, across all types that list it. */
export interface Rate {
  readonly count: number;
  /** The period, in milliseconds. */
  readonly per: number;
  /** How many jobs may start at once after a quiet time. */
  readonly burst: number;
}

export interface LimitValues {
  readonly rate: Rate | null;
  readonly concurrency: number | null;
}

/** What a job takes of a named limit when it is claimed. `key`: null if the limit has no keys. */
export interface LimitUse {
  readonly name: string;
  readonly key: string | null;
  readonly cost: number;
}
