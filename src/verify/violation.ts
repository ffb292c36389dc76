/** The violation: the code of an invariant that stored data breaks, the job, and a sentence. */

/**
 * The code of an invariant of docs/promises.md. The letter is its kind. S (safety): holds always. L (liveness): holds
 * after faults have stopped. T: holds always, for the computation of times. P: a guarantee, as handlers observe it.
 */
export type Invariant = `${'S' | 'L' | 'T' | 'P'}${number}`;

export interface Violation {
  readonly invariant: Invariant;
  /** Null: the violation concerns no single job. */
  readonly job: number | null;
  readonly sentence: string;
}

export const violation = (invariant: Invariant, job: number | null, sentence: string): Violation =>
  ({ invariant, job, sentence });

export const violationText = ({ invariant, sentence }: Violation): string => `${invariant}: ${sentence}`;
