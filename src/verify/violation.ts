/** The violation: an invariant, by its number, that stored data breaks. */

/**
 * S: always. L: once faults have stopped. T: about time only. P: a guarantee, as handlers observe it. See
 * docs/promises.md.
 */
export type Invariant = `${'S' | 'L' | 'T' | 'P'}${number}`;

export interface Violation {
  readonly invariant: Invariant;
  /** Null: it concerns no single job. */
  readonly job: number | null;
  readonly sentence: string;
}

export const violation = (invariant: Invariant, job: number | null, sentence: string): Violation =>
  ({ invariant, job, sentence });

export const violationText = ({ invariant, sentence }: Violation): string => `${invariant}: ${sentence}`;
