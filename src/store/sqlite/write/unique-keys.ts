/** Takes and releases the unique keys of jobs. */
import type { Change } from '../../../model/change.ts';
import { keyUntil, neededKey, releasedKey } from '../../../model/unique-key.ts';
import type { Connection } from '../connection.ts';

type JobChange = Pick<Change, 'before' | 'after'>;

/**
 * Takes the unique key that a new or reopened job needs. True: the key was free, or the job needs none. False: another
 * job has the key.
 */
export function takeKey(connection: Connection, change: JobChange, now: number): boolean {
  const key = neededKey(change);
  return key === null || connection.run(takeKeySql, key, change.after!.id, keyUntil(change.after!), now) === 1;
}

/** Deletes the unique key of a job that ends or is deleted. A key that has a period stays taken. */
export function releaseKey(connection: Connection, change: JobChange): void {
  const key = releasedKey(change);
  if (key !== null) connection.run('DELETE FROM unique_key WHERE key = ? AND job = ?', key, change.before!.id);
}

const takeKeySql = `INSERT INTO unique_key(key, job, until) VALUES(?1, ?2, ?3)
  ON CONFLICT(key) DO UPDATE SET job = ?2, until = ?3 WHERE unique_key.until <= ?4`;
