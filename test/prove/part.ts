// A part of the proof: something that is tried against Stint, and what came of it.

/** `npm run prove` has the middle one; `.ci/run` takes `--ci`, and `--long` is for the night. */
export type Size = 'ci' | 'full' | 'long';

export interface PartRequest {
  readonly size: Size;
  /** The first of the seeds that are not fixed. */
  readonly seed: number;
  /** Shows how far the part is, as a share between 0 and 1. */
  readonly progress: (share: number, text: string) => void;
  /** Prints a line of output. */
  readonly print: (line: string) => void;
}

export interface PartOutcome {
  /** What was done and how often; every number is of this run. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** What was found wrong, as sentences. None: the part holds. */
  readonly findings: readonly string[];
}

export interface Part {
  readonly name: string;
  /** What it computes, as seconds of one core: to say how long the rest takes, which leaves no core idle. */
  readonly cpuSeconds: number | Readonly<Record<Exclude<Size, 'long'>, number>>;
  /** Only in `--long`. */
  readonly isLongOnly?: true;
  /** No verdict of it depends on time: another such part can run beside it. */
  readonly runsBeside?: true;
  /**
   * Computes all the time in processes of low priority, and no verdict of it depends on time: it gets the time of the cores
   * that the parts beside it leave.
   */
  readonly runsBehind?: true;
  run(request: PartRequest): Promise<PartOutcome>;
}

/** A finding for each figure that is below what it must reach, or the part has proved too little. */
export const shortfalls = (reached: Readonly<Record<string, number>>, needed: Readonly<Record<string, number>>): string[] =>
  Object.entries(needed)
    .filter(([name, least]) => (reached[name] ?? 0) < least)
    .map(([name, least]) => `too little was tried: ${name} ${reached[name] ?? 0}, at least ${least} needed`);
