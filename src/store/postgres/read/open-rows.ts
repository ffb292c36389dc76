/**
 * Rows of `job` and `ended` together with what is in `origin`. The input and the body of a job are null in its row as
 * long as they are those of its creation.
 */
import type { Job } from '../../../model/job.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { Session } from '../sql/database.ts';

/** Returns the job of a row of `job`, and records that it has a row of its own. */
export function jobOfRow({ claims }: Pick<Session, 'claims'>, row: OpenRow): Job {
  const job = jobOfOpen(row);
  claims.record(job, 0);
  return job;
}

/**
 * The join that provides `origin_input` and `origin_body` for rows of a table, or of a CTE with such rows. Each origin
 * is looked up by its id.
 */
export const joinOriginSql = (schema: string, table: 'job' | 'ended' | 'best'): string => `left join lateral (
  select origin.input as origin_input, origin.body as origin_body from ${schema}.origin
  where origin.id = ${table}.id and ${table}.input is null limit 1) origin on true`;

/** The columns that may be in `origin`, as expressions over that join. */
export const storedSql: Readonly<Record<'input' | 'body', string>> = {
  input: 'coalesce(input, origin_input)',
  body: 'coalesce(body, origin_body)',
};

/** Returns a select list with these columns, for a query with that join. */
export const storedNamesSql = (names: readonly string[]): string =>
  names.map((name) => (name === 'input' || name === 'body' ? `${storedSql[name]} as ${name}` : name)).join(', ');
