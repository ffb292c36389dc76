/** The versions of definitions, from the index of definitions. Implements `definitionVersions` of `port/reading.ts`. */
import type { StoredVersion } from '../../store.ts';
import type { Connection } from '../connection.ts';

const sql = `SELECT id, version FROM job INDEXED BY job_spec WHERE kind = 'def' AND id > ? ORDER BY id LIMIT ?`;

export const definitionVersions = (connection: Connection, after: number, limit: number): StoredVersion[] =>
  connection.arrays(sql, after, limit).map(([id, version]) => ({ id: id as number, version: version as number }));
