/** Takes and releases the unique keys of jobs. */
import type { Job } from '../../../model/job.ts';
import type { Connection } from '../connection.ts';

export function takeKey(connection: Connection, { id, unique, created }: Job, now: number): boolean {
  const until = unique!.forMs === null ? null : created + unique!.forMs;
  return connection.run(takeKeySql, unique!.key, id, until, now) === 1;
}

export function releaseKey(connection: Connection, { id, unique }: Pick<Job, 'id' | 'unique'>): void {
  connection.run('DELETE FROM taken WHERE key = ? AND job = ?', unique!.key, id);
}

const takeKeySql = `INSERT INTO taken(key, job, until) VALUES(?1, ?2, ?3)
  ON CONFLICT(key) DO UPDATE SET job = ?2, until = ?3 WHERE taken.until <= ?4`;
