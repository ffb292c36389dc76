/** How many keys, names, types and requests the bars are measured with. */
export interface BarSizes {
  readonly keys: number;
  /** How many runs with a named limit are drained. */
  readonly limited: number;
  /** The numbers of waiting fairness keys that are compared, and how many runs of these are executed in a round. */
  readonly fewShares: number;
  readonly manyShares: number;
  readonly sharedRuns: number;
  readonly fewNames: number;
  readonly manyNames: number;
  readonly types: number;
  /**
   * How many runs sleep, how many others are claimed beside them, how long an idle instance is watched, and how much
   * longer than that the runs sleep.
   */
  readonly sleeping: number;
  readonly claimsBeside: number;
  readonly idleMs: number;
  readonly spareMs: number;
  /** How many jobs are verified, how many of them an engine has made, and how long other work is measured beside. */
  readonly verified: number;
  readonly verifiedMade: number;
  readonly besideMs: number;
  /** Requests of the inbox. */
  readonly inbox: number;
  readonly requests: number;
  readonly rounds: number;
}

export const barSizes: BarSizes = {
  keys: 6_000, limited: 20_000, fewShares: 10, manyShares: 1_000_000, sharedRuns: 1_000, fewNames: 100, manyNames: 20_000, types: 20_000,
  sleeping: 100_000, claimsBeside: 5_000, idleMs: 10_000, spareMs: 30_000, verified: 1_000_000, verifiedMade: 100_000, besideMs: 10_000,
  inbox: 100_000, requests: 40, rounds: 3,
};

export const tinyBarSizes: BarSizes = {
  keys: 20, limited: 50, fewShares: 5, manyShares: 600, sharedRuns: 20, fewNames: 5, manyNames: 20, types: 20,
  sleeping: 100, claimsBeside: 100, idleMs: 200, spareMs: 8_000, verified: 3_000, verifiedMade: 1_000, besideMs: 200,
  inbox: 1_000, requests: 3, rounds: 1,
};
