/** The violation: one promise that something stored does not keep, named by the number of its invariant. */

/** S: always. L: once faults have stopped. T: of time alone. P: a promise, as handlers saw it. See docs/promises.md. */
export type Invariant = `${'S' | 'L' | 'T' | 'P'}${number}`;

export interface Violation {
  readonly invariant: Invariant;
  /** Null: it is of no single job. */
  readonly job: number | null;
  readonly sentence: string;
}

export const violation = (invariant: Invariant, job: number | null, sentence: string): Violation =>
  ({ invariant, job, sentence });

export const violationText = ({ invariant, sentence }: Violation): string => `${invariant}: ${sentence}`;
