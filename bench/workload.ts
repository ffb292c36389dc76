/** A workload: cases that are measured one after the other on the same two stands. */
import type { Sizes } from './sizes.ts';
import type { Stand } from './stand.ts';
import type { Sample } from './stopwatch.ts';

export interface Workload {
  readonly name: string;
  /** Whether processes other than the creating one are to be woken. */
  readonly isHeard?: boolean;
  /** Whether nothing by hand does the same. */
  readonly isOursOnly?: boolean;
  /** Whether a quick look leaves it out unless it is asked for. */
  readonly isLong?: boolean;
  cases(sizes: Sizes): readonly Case[];
}

export interface Case {
  readonly title: string;
  /** What a plot would have on its axes. */
  readonly params: Readonly<Record<string, number>>;
  /** The case that later ones of this workload are compared with. */
  readonly isBase?: boolean;
  /** Whether what the last measurement left to be done is just what this one is about. */
  readonly isRestless?: boolean;
  /** Once for each side, before all rounds. */
  prepare?(stand: Stand): Promise<void>;
  /** Once for each side and round. */
  measure(stand: Stand): Promise<Sample>;
}
