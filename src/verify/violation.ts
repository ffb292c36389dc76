/** The violation: the code of an invariant that stored data breaks, the job, and a sentence. */

/**
 * The code of an invariant of docs/promises.md. The letter says when it must hold. S (safety): always. L (liveness):
 * after faults have stopped. T: an invariant of time computation, which always holds. P: a guarantee, as handlers
 * observe it.
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
