/** Steps: the stored parts of handlers, with their results. */
import type { NewStep, OpenWait, StoredStep } from '../../model/step.ts';

export interface Steps {
  /**
   * Writes the ends of steps, and the questions of waits, of jobs that are running under the given fences; returns for
   * each whether it is stored. It is not written if the step has ended already; it then counts as stored if it was
   * written under the same fence. A question is replaced by a later one. An end, but not a question, also replaces an
   * answer that came before its question (number 0).
   */
  writeSteps(steps: readonly NewStep[]): Promise<readonly boolean[]>;

  /**
   * Returns of each of these jobs up to `limit` steps with numbers above `after` (default: all), also forgotten ones and
   * open waits, ordered by job and number.
   */
  steps(jobs: readonly number[], after?: number, limit?: number): Promise<readonly StoredStep[]>;

  /** Returns the step of a job with this name, also a forgotten one or an open wait. */
  stepNamed(job: number, name: string): Promise<StoredStep | undefined>;

  /** Returns up to `limit` open waits of jobs that have not ended, ordered by job and name, after the given one. */
  openWaits(after: WaitCursor | null, limit: number): Promise<readonly OpenWait[]>;
}

export type WaitCursor = Pick<StoredStep, 'job' | 'name'>;
