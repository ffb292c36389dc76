/** Reads rows of open jobs without their histories. */
import type { SQLInputValue } from 'node:sqlite';
import { namesOf, openColumns, openRowOf, type OpenRow } from '../../job-columns.ts';
import type { Connection } from '../connection.ts';

const columns = namesOf(openColumns).join(', ');

/** Returns rows of table `job`. `rest` is the part of the SELECT statement after its FROM clause. */
export const openRows = (connection: Connection, rest: string, ...values: SQLInputValue[]): OpenRow[] =>
  connection.arrays(`SELECT ${columns} FROM job ${rest}`, ...values).map(openRowOf);
