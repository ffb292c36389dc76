/** Derives the SQL that writes rows, and the values of its parameters, from the list of columns. */
import type { SQLInputValue } from 'node:sqlite';
import { leavesLease } from '../../../model/change.ts';
import type { EndedJob, Job, OpenJob } from '../../../model/job.ts';
import { bodyTextUpToGate } from '../../job-body.ts';
import { endedColumns, namesOf, openColumns, pendingColumns, type JobColumn } from '../../job-columns.ts';

/**
 * The column `lane`: 1 for a pending job that needs no admission, 2 for a pending job that waits at its gate, 0 for a
 * job that is not pending. Each claim index is a partial index for one value of `lane`.
 */
const lane: JobColumn = {
  name: 'lane',
  kind: 'number',
  table: 'job',
  update: 'set',
  of: (job) => (job.state !== 'pending' ? 0 : job.gate === null || job.admitted ? 1 : 2),
};

/** The only columns in which the new jobs of a bulk insert may differ. They come first in `openNames`. */
export const ownNames = ['id', 'input', 'gate'];
const sharedColumns = [...(openColumns as readonly JobColumn[]).filter(({ name }) => !ownNames.includes(name)), lane];

export const openNames = [...ownNames, ...namesOf(sharedColumns), 'history'].join(', ');
export const placeholders = Array(ownNames.length + sharedColumns.length + 1).fill('?').join(', ');

export const openValues = (job: OpenJob, line: string): SQLInputValue[] =>
  [job.id, job.input, job.gate, ...sharedValues(job, line)];

export function sharedValues(job: OpenJob, line: string): SQLInputValue[] {
  const values: SQLInputValue[] = sharedColumns.map(({ of }) => of(job));
  values.push(line);
  return values;
}

/**
 * The shared columns in which two pending jobs may differ, if both have a gate or none has. `lane` is not among them,
 * because it follows from the gate and `admitted`.
 */
const comparedColumns = (pendingColumns as readonly JobColumn[]).filter(({ name }) => !ownNames.includes(name));

export const comparedValues = (job: Job): SQLInputValue[] => comparedColumns.map(({ of }) => of(job));

/** Whether a pending job has these values, which `comparedValues` made from another pending job. */
export function hasValues(job: Job, values: readonly SQLInputValue[]): boolean {
  for (let at = 0; at < comparedColumns.length; at += 1) if (comparedColumns[at]!.of(job) !== values[at]) return false;
  return true;
}

const isWritten = ({ update }: JobColumn): boolean => update !== 'fixed';
const updatedColumns = [...(openColumns as readonly JobColumn[]).filter(isWritten), lane];
const amendedColumns = (endedColumns as readonly JobColumn[]).filter(isWritten);

/**
 * The SET lists for open and for ended rows. Their last two parameters are a flag that empties the history for a new
 * chunk, and the line that is appended to the history.
 */
export const updateSql = setSql(updatedColumns);
export const amendSql = setSql(amendedColumns);

/**
 * `updateValues` and `amendValues` return the parameters of `updateSql` and `amendSql`, followed by the version that
 * the row must have.
 */
export const updateValues = (before: OpenJob, after: OpenJob, line: string, startsChunk: boolean): SQLInputValue[] =>
  newValues(updatedColumns, before, after, startsChunk ? 1 : 0, line);

export const amendValues = (before: EndedJob, after: EndedJob, line: string, startsChunk: boolean): SQLInputValue[] =>
  newValues(amendedColumns, before, after, startsChunk ? 1 : 0, line);

/**
 * The body of an ended job contains its gate. The statement that ends jobs copies the gate from the column `gate`. So
 * its parameters do not contain the gate, and one bulk update can end jobs at different gates.
 */
const bodyAtEnd: JobColumn<EndedJob> =
  { name: 'body', kind: 'json', table: 'ended', update: 'set', of: bodyTextUpToGate };
const bodyAtEndSql = `? || iif(gate IS NULL, '}', ',"gate":' || json_quote(gate) || '}')`;
const columnsAtEnd =
  endedColumns.map((column) => (column.name === 'body' ? bodyAtEnd : column)) as readonly JobColumn[];

/**
 * The columns of table `ended`, and the select list that computes their values for a job that ends. It uses the open
 * row of the job and the parameters that `endValues` returns.
 */
export const endedNames = [...namesOf(endedColumns), 'history'].join(', ');
export const endedRowSql = [
  ...columnsAtEnd.map((column) => (column.name === 'body' ? bodyAtEndSql : newValueSql(column))),
  'history || char(10) || ?',
].join(', ');

const writtenAtEnd = columnsAtEnd.filter(isWritten);

export const endValues = (before: OpenJob, after: EndedJob, line: string): SQLInputValue[] =>
  newValues(writtenAtEnd, before, after, line);

function setSql(columns: readonly JobColumn[]): string {
  const sets = columns.map((column) => `${column.name} = ${newValueSql(column)}`);
  return [...sets, `history = iif(?, '', history || char(10)) || ?`].join(', ');
}

function newValueSql({ name, update }: JobColumn): string {
  switch (update) {
    case 'fixed':
      return name;
    case 'set':
      return '?';
    case 'sparse':
      return `coalesce(?, ${name})`;
    case 'lease':
      return `iif(?, ${name}, ?)`;
  }
}

function newValues(columns: readonly JobColumn[], before: Job, after: Job, ...more: SQLInputValue[]): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (const { update, of } of columns) {
    const value = of(after);
    if (update === 'lease') values.push(leavesLease(before, after) ? 1 : 0);
    values.push(update === 'sparse' && of(before) === value ? null : value);
  }
  values.push(...more, before.version);
  return values;
}
