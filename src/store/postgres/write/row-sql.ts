/** SQL expressions of the rows that statements write: column lists, and the new value of each column. */
import { endedColumns, namesOf, openColumns, originColumns, type JobColumn } from '../../job-columns.ts';
import type { ColumnSql } from '../sql/row-parameters.ts';
import { feedXid } from './feed-sql.ts';

export const openNames = [...namesOf(openColumns), 'history'].join(', ');
/** The columns of a new row of table `job`: what is in table `origin` is not repeated. */
export const newJobNames = namesOf(openColumns).filter((name) => name !== 'input' && name !== 'body').join(', ');
export const originNames = [...namesOf(originColumns), 'history'].join(', ');
export const endedNames = [...namesOf(endedColumns), 'history'].join(', ');

/** The columns whose values do not change when an ended job is reopened. `id` is left out. */
export const keptNames = namesOf(openColumns.filter(isKept));

function isKept({ name, table, update }: Pick<JobColumn, 'name' | 'table' | 'update'>): boolean {
  return table === 'both' && update === 'fixed' && name !== 'id';
}

/** The SET list of an open job, without its history. */
export const updateSql = (column: ColumnSql): string => `${setSql(openColumns, 'job', column)}, xid = ${feedXid}`;

/** The SET list of an ended job, without its history. */
export const amendSql = (column: ColumnSql): string => setSql(endedColumns, 'ended', column);

const setSql = (columns: readonly Pick<JobColumn, 'name' | 'update'>[], table: RowTable, column: ColumnSql): string =>
  columns
    .filter(({ update }) => update !== 'fixed')
    .map((each) => `${each.name} = ${newValueSql(each, table, column)}`)
    .join(', ');

/** The RETURNING list that makes a job's row of table `ended` from its row of table `job` and its new values. */
export const endedRowSql = (column: ColumnSql): string => [
  ...endedColumns.map((each) => `${newValueSql(each, 'job', column)} as ${each.name}`),
  `${appendLineSql(column)} as history`,
].join(', ');

type RowTable = 'job' | 'ended';

function newValueSql({ name, update }: Pick<JobColumn, 'name' | 'update'>, table: RowTable, column: ColumnSql): string {
  switch (update) {
    case 'fixed':
      return `${table}.${name}`;
    case 'set':
      return column(name);
    case 'sparse':
      return `coalesce(${column(name)}, ${table}.${name})`;
    case 'lease':
      return `case when ${column('keeps_lease')} = 1 then ${table}.${name} else ${column(name)} end`;
  }
}

/** The history with another line. It is null if the row has only the line of the creation, which is in `origin`. */
export const appendLineSql = (column: ColumnSql, table: RowTable = 'job'): string =>
  `coalesce(${table}.history || E'\\n', '') || ${column('line')}`;
