/** Steps: the stored parts of handlers, with their results. */
import type { NewStep, StoredStep } from '../../model/step.ts';

export interface Steps {
  /**
   * Writes the ends of steps of jobs that are running under the given fences; returns for each whether it is stored. An
   * end is not written if the step has ended already; it then counts as stored if it was written under the same fence.
   */
  writeSteps(steps: readonly NewStep[]): Promise<readonly boolean[]>;

  /**
   * Returns of each of these jobs up to `limit` steps with numbers above `after`, also forgotten ones, ordered by job
   * and number.
   */
  steps(jobs: readonly number[], after?: number, limit?: number): Promise<readonly StoredStep[]>;
}
