/** A workload: cases that are measured one after the other on the same two fixtures, one for each side. */
import type { Sizes } from './sizes.ts';
import type { Fixture } from './fixture.ts';
import type { Sample } from './stopwatch.ts';

export interface Workload {
  readonly name: string;
  /** Whether a create must wake workers in other processes too. */
  readonly wakesOtherProcesses?: boolean;
  /** Whether there is no hand-written equivalent. */
  readonly isOursOnly?: boolean;
  /** Whether `--quick` skips it unless `--only` selects it. */
  readonly isLong?: boolean;
  cases(sizes: Sizes): readonly Case[];
}

export interface Case {
  readonly title: string;
  /** The values of the x-axes of the charts. */
  readonly params: Readonly<Record<string, number>>;
  /** Later cases of the workload are compared with this one. */
  readonly isBase?: boolean;
  /** Whether the dead rows of the previous case are what this case measures. */
  readonly skipsCleanUp?: boolean;
  /** Called once for each side, before the rounds. */
  prepare?(fixture: Fixture): Promise<void>;
  /** Called once for each side and round. */
  measure(fixture: Fixture): Promise<Sample>;
}
