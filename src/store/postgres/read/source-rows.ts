/**
 * The rows of jobs from several sources in one statement: the tables `job` and `ended`, and the jobs that run in claims.
 * The rows of each source have the same columns.
 */
import type { Job } from '../../../model/job.ts';
import { allColumns, isOfOrigin, namesOf, projectionOf, type JobColumn } from '../../job-columns.ts';
import { jobOfEnded, type EndedRow, type OpenRow } from '../../row.ts';
import type { Session } from '../sql/database.ts';
import { claimedSql, jobOfClaimed, type ClaimedRow, type ClaimedSource } from './claimed.ts';
import type { JobSource, Table } from './index-choice.ts';
import { joinOriginSql, jobOfRow, storedSql } from './open-rows.ts';

export type SourceRow =
  | (OpenRow & { readonly fate: null; readonly line: null })
  | (ClaimedRow & { readonly fate: null })
  | (EndedRow & { readonly fate: string; readonly line: null });

/** Returns the job of a row of any source, and records where an open job is. */
export function jobOfSourceRow(session: Session, row: SourceRow): Job {
  if (row.fate !== null) return jobOfEnded(row);
  if (row.line !== null) return jobOfClaimed(session, row);
  return jobOfRow(session, row);
}

const typeOf = { number: 'bigint', flag: 'smallint', name: 'text', json: 'text' } as const;
const absent = ({ name, kind }: JobColumn): string => `null::${typeOf[kind]} as ${name}`;
const stored = ({ name }: JobColumn): string =>
  name === 'input' || name === 'body' ? `${storedSql[name]} as ${name}` : name;
const inClaim = (column: JobColumn): string => (isOfOrigin(column) ? column.name : absent(column));
const projections: Readonly<Record<JobSource, string>> = {
  job: `${projectionOf('job', stored, absent)}, null::bigint as claim, null::text as line`,
  ended: `${projectionOf('ended', stored, absent)}, null::bigint as claim, null::text as line`,
  claim: `${projectionOf('job', inClaim, absent)}, claim, line`,
};

/** The columns of a row after `id`, which is the first, of a row that is looked up by its id. */
export const rowNames = [...namesOf(allColumns).slice(1), 'claim', 'line'].map((name) => `row.${name}`).join(', ');

/** A query for the rows of a table, to which conditions can be appended. */
export const selectFrom = (schema: string, table: Table): string =>
  `select ${projections[table]} from ${schema}.${table} ${joinOriginSql(schema, table)}`;

/** A query for the rows of jobs that run in claims, to which conditions can be appended. */
export const selectClaimed = (schema: string, source: ClaimedSource): string =>
  `select ${projections.claim} from (${claimedSql(schema, source)}) claimed`;
