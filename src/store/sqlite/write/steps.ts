/**
 * Reads the steps of jobs, writes the ends of steps of jobs that are running under the given fence, and makes reopened
 * jobs forget steps. Implements `port/steps.ts`, and `forgottenSteps` of a batch.
 */
import type { ForgottenSteps, NewStep, StoredStep } from '../../../model/step.ts';
import { rowOfStep, stepColumns, stepOfRow, stepsPage, type StepRow } from '../../step-row.ts';
import type { Connection } from '../connection.ts';

export const writeSteps = (connection: Connection, steps: readonly NewStep[]): boolean[] =>
  steps.map((step) => isHeld(connection, step) && (write(connection, step) || isWritten(connection, step)));

export function steps(connection: Connection, jobs: readonly number[], after = 0, limit = stepsPage): StoredStep[] {
  const sql = `SELECT ${stepColumns} FROM step WHERE job = ? AND n > ? ORDER BY n LIMIT ?`;
  return [...new Set(jobs)].sort((a, b) => a - b)
    .flatMap((job) => connection.all<StepRow>(sql, job, after, limit).map(stepOfRow));
}

export function forgetSteps(connection: Connection, forgotten: readonly ForgottenSteps[]): void {
  const sql = `UPDATE step SET generation = ?, ended_at = NULL, result = NULL
    WHERE job = ? AND n >= ? AND ended_at IS NOT NULL`;
  for (const { job, from, generation } of forgotten) connection.run(sql, generation, job, from);
}

const isHeld = (connection: Connection, { job, fence }: NewStep): boolean =>
  connection.get(`SELECT 1 FROM job WHERE id = ? AND fence = ? AND state = 'running'`, job, fence) !== undefined;

/** Writes the end of a step unless it has ended. */
function write(connection: Connection, step: NewStep): boolean {
  const { job, name, kind, n, fence, started_at: startedAt, ended_at: endedAt, result } = rowOfStep(step);
  const sql = `INSERT INTO step(${stepColumns}) VALUES(?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8)
    ON CONFLICT(job, name) DO UPDATE SET kind = ?3, n = ?4, fence = ?5, started_at = ?6, ended_at = ?7, result = ?8
    WHERE ended_at IS NULL`;
  return connection.run(sql, job, name, kind, n, fence, startedAt, endedAt, result) === 1;
}

const isWritten = (connection: Connection, { job, name, fence }: NewStep): boolean =>
  connection.get('SELECT 1 FROM step WHERE job = ? AND name = ? AND fence = ?', job, name, fence) !== undefined;
