/** Reads rows of open jobs, without what only their histories are read for. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { OpenRow } from '../../row.ts';
import type { Connection } from '../connection.ts';

const columns = `id, version, kind, type, def, parent, created, state, hold, phase, priority, due, fence, holder,
  lease_until, gate, admitted, cancel_asked, input, body`;

/** The rest of the statement says which, and in what order. */
export const openRows = (connection: Connection, rest: string, ...values: SQLInputValue[]): OpenRow[] =>
  connection.arrays(`SELECT ${columns} FROM job ${rest}`, ...values).map(openRow);

const openRow = ([
  id, version, kind, type, def, parent, created, state, hold, phase, priority, due, fence, holder,
  lease_until, gate, admitted, cancel_asked, input, body,
]: SQLOutputValue[]): OpenRow => ({
  id, version, kind, type, def, parent, created, state, hold, phase, priority, due, fence, holder,
  lease_until, gate, admitted, cancel_asked, input, body,
} as OpenRow);
