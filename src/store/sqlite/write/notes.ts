/**
 * Reads the progress and log of jobs, and writes them and output for jobs that are running under the given fence.
 * Implements `writeNotes` of `port/writing.ts`, and `progress` and `log` of `port/reading.ts`.
 */
import type { LogLine, Note } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { writeOutput } from './output.ts';

export const writeNotes = (connection: Connection, notes: readonly Note[]): boolean[] =>
  notes.map((one) => isHeld(connection, one) && write(connection, one));

export const progress = (connection: Connection, id: number): string | null =>
  connection.get<{ tree: string }>('SELECT tree FROM progress WHERE job = ?', id)?.tree ?? null;

export const log = (connection: Connection, id: number, after = 0, limit = 1000): LogLine[] =>
  connection
    .all<LogLine>('SELECT n, at, level, text, fence FROM log WHERE job = ? AND n > ? ORDER BY n LIMIT ?', id, after, limit)
    .map((line) => ({ ...line }));

const isHeld = (connection: Connection, { id, fence }: Note): boolean =>
  connection.get(`SELECT 1 FROM job WHERE id = ? AND fence = ? AND state = 'running'`, id, fence) !== undefined;

function write(connection: Connection, { id, fence, progress: tree, log: lines = [], output = [] }: Note): true {
  if (tree !== undefined) {
    connection.run('INSERT INTO progress(job, tree) VALUES(?1, ?2) ON CONFLICT(job) DO UPDATE SET tree = ?2', id, tree);
  }
  const sql = `INSERT INTO log(job, n, at, level, text, fence)
    VALUES(?1, (SELECT coalesce(max(n), 0) + 1 FROM log WHERE job = ?1), ?2, ?3, ?4, ?5)`;
  for (const { at, level, text } of lines) connection.run(sql, id, at, level, text, fence);
  for (const segment of output) writeOutput(connection, id, { ...segment, fence });
  return true;
}
