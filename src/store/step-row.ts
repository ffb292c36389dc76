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

/** Makes a step from the values of `stepColumns`. */
export const stepOfValues = (values: readonly unknown[]): StoredStep => ({
  job: values[0], name: values[1], kind: values[2], n: values[3], generation: values[4], fence: values[5],
  startedAt: values[6], endedAt: values[7], result: values[8], question: values[9],
} satisfies Record<keyof StoredStep, unknown> as StoredStep);

export const rowOfStep = ({ startedAt, endedAt, ...step }: NewStep): Omit<StepRow, 'generation'> =>
  ({ ...step, started_at: startedAt, ended_at: endedAt });

/** The number of steps that one read returns of a job, unless it says otherwise. */
export const stepsPage = 1000;
