/** The row of a step, as the SQL stores have it. */
import type { NewStep, StoredStep } from '../model/step.ts';

export interface StepRow {
  readonly job: number;
  readonly name: string;
  readonly kind: StoredStep['kind'];
  readonly n: number;
  readonly generation: number;
  readonly fence: number;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly result: string | null;
  readonly question: string | null;
}

export const stepColumns = 'job, name, kind, n, generation, fence, started_at, ended_at, result, question';

export const stepOfRow = ({ started_at: startedAt, ended_at: endedAt, ...row }: StepRow): StoredStep =>
  ({ ...row, startedAt, endedAt });

export const rowOfStep = ({ startedAt, endedAt, ...step }: NewStep): Omit<StepRow, 'generation'> =>
  ({ ...step, started_at: startedAt, ended_at: endedAt });

/** The number of steps that one read returns of a job, unless it says otherwise. */
export const stepsPage = 1000;
