/** Reads and writes the output of jobs: `output` and `outputBytes` of `port/reading.ts`. */
import type { OutputPosition, OutputSegment } from '../../../model/output.ts';
import type { Connection } from '../connection.ts';

/** Writes a segment, unless it is stored already. The caller has checked that the job is running under the fence. */
export function writeOutput(connection: Connection, job: number, { fence, upto, bytes, text }: OutputSegment): void {
  const sql = 'INSERT INTO output(job, fence, upto, bytes, text) VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
  connection.run(sql, job, fence, upto, bytes, text);
}

export const output = (connection: Connection, id: number, after: OutputPosition, limit: number): OutputSegment[] =>
  connection
    .all<OutputSegment>(
      `SELECT fence, upto, bytes, text FROM output WHERE job = ? AND (fence, upto) > (?, ?)
        ORDER BY fence, upto LIMIT ?`,
      id, after.fence, after.n, limit,
    )
    .map((segment) => ({ ...segment }));

export const outputBytes = (connection: Connection, id: number): number =>
  connection.get<{ bytes: number }>(
    'SELECT bytes FROM output WHERE job = ? ORDER BY fence DESC, upto DESC LIMIT 1', id,
  )?.bytes ?? 0;
