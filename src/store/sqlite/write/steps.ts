/**
 * Reads the steps of jobs, writes the ends of steps of jobs that are running under the given fence, and makes reopened
 * jobs forget steps. Implements `port/steps.ts`, and `forgottenSteps` and `waitEnds` of a batch.
 */
import {
  beforeSteps, type ForgottenSteps, type NewStep, type OpenWait, type StoredStep, type WaitEnd,
} from '../../../model/step.ts';
import { rowOfStep, stepColumns, stepOfRow, stepOfValues, stepsPage, type StepRow } from '../../step-row.ts';
import type { WaitCursor, WaitTally } from '../../store.ts';
import type { Connection } from '../connection.ts';

export const writeSteps = (connection: Connection, steps: readonly NewStep[]): boolean[] =>
  steps.map((step) => isHeld(connection, step) && (write(connection, step) || isWritten(connection, step)));

export function steps(connection: Connection, jobs: readonly number[], after = beforeSteps, limit = stepsPage): StoredStep[] {
  const sql = `SELECT ${stepColumns} FROM step WHERE job = ? AND n > ? ORDER BY n, name LIMIT ?`;
  return [...new Set(jobs)].sort((a, b) => a - b)
    .flatMap((job) => connection.arrays(sql, job, after, limit).map(stepOfValues));
}

export function stepNamed(connection: Connection, job: number, name: string): StoredStep | undefined {
  const row = connection.get<StepRow>(`SELECT ${stepColumns} FROM step WHERE job = ? AND name = ?`, job, name);
  return row && stepOfRow(row);
}

export function forgetSteps(connection: Connection, forgotten: readonly ForgottenSteps[]): void {
  const sql = `UPDATE step SET generation = ?, ended_at = NULL, result = NULL, question = NULL
    WHERE job = ? AND n >= ? AND (ended_at IS NOT NULL OR question IS NOT NULL)`;
  for (const { job, from, generation } of forgotten) connection.run(sql, generation, job, from);
}

export function endWaits(connection: Connection, ends: readonly WaitEnd[]): void {
  const sql = `INSERT INTO step(${stepColumns}) VALUES(?1, ?2, 'wait', 0, 1, 0, ?3, ?4, ?5, NULL)
    ON CONFLICT(job, name) DO UPDATE SET kind = 'wait', ended_at = ?4, result = ?5,
      n = iif(ended_at IS NULL AND question IS NULL, 0, n), fence = iif(ended_at IS NULL AND question IS NULL, 0, fence)`;
  for (const { job, name, at, result } of ends) connection.run(sql, job, name, at, result === null ? null : at, result);
}

export function openWaits(connection: Connection, after: WaitCursor | null, limit: number): OpenWait[] {
  const sql = `SELECT ${stepColumns} FROM step WHERE ended_at IS NULL AND question IS NOT NULL AND (job, name) > (?, ?)
      AND NOT EXISTS (SELECT 1 FROM ended WHERE ended.id = step.job)
    ORDER BY job, name LIMIT ?`;
  return connection.all<StepRow>(sql, after?.job ?? 0, after?.name ?? '', limit).map((row) => stepOfRow(row) as OpenWait);
}

export function tallyOpenWaits(connection: Connection): WaitTally {
  const sql = `SELECT count(*) AS count, min(started_at) AS oldest FROM step
    WHERE ended_at IS NULL AND question IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ended WHERE ended.id = step.job)`;
  return { ...connection.get<WaitTally>(sql)! };
}

const isHeld = (connection: Connection, { job, fence }: NewStep): boolean =>
  connection.get(`SELECT 1 FROM job WHERE id = ? AND fence = ? AND state = 'running'`, job, fence) !== undefined;

/** Writes the end or the question of a step unless it has ended. An end replaces an answer that came early. */
function write(connection: Connection, step: NewStep): boolean {
  const { job, name, kind, n, fence, started_at: startedAt, ended_at: endedAt, result, question } = rowOfStep(step);
  const sql = `INSERT INTO step(${stepColumns}) VALUES(?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT(job, name) DO UPDATE SET kind = ?3, n = ?4, fence = ?5, started_at = ?6, ended_at = ?7, result = ?8,
      question = ?9
    WHERE ended_at IS NULL OR (n = 0 AND ?7 IS NOT NULL)`;
  return connection.run(sql, job, name, kind, n, fence, startedAt, endedAt, result, question) === 1;
}

const isWritten = (connection: Connection, { job, name, fence }: NewStep): boolean =>
  connection.get('SELECT 1 FROM step WHERE job = ? AND name = ? AND fence = ?', job, name, fence) !== undefined;
