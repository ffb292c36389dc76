/** SQL expressions of the rows that statements write: column lists, and what each column becomes. */
import type { ColumnSql } from '../sql/row-parameters.ts';
import { newFields, mutableNames } from './fields.ts';
import { lastXid } from './feed-sql.ts';

export const openNames = newFields.map(([name]) => name).join(', ');
export const endedNames =
  'id, version, parent, created, ended_at, purge_at, kind, type, def, fate, input, result, body, history';

/** How an open job goes on; the stored lease stays if the change leaves it. */
export const updateSql = (column: ColumnSql): string => `${mutableNames.map((name) => `${name} = ${column(name)}`).join(', ')},
  lease_until = case when ${column('keeps_lease')} = 1 then job.lease_until else ${column('lease_until')} end,
  told = ${lastXid}, input = coalesce(${column('input')}, job.input)`;

/** The row of a job that has ended, out of that of the open one. */
export const endedRowSql = (column: ColumnSql): string => `job.id, ${column('version')} as version, job.parent, job.created,
  ${column('ended_at')} as ended_at, ${column('purge_at')} as purge_at, job.kind, ${column('type')} as type, job.def,
  ${column('fate')} as fate, coalesce(${column('input')}, job.input) as input, ${column('result')} as result,
  ${column('body')} as body, ${appendLineSql(column)} as history`;

export const appendLineSql = (column: ColumnSql, table: 'job' | 'ended' = 'job'): string =>
  `${table}.history || E'\\n' || ${column('line')}`;
