/**
 * Copies the database into a new file as one consistent snapshot, while other processes may write. Implements `backUp`
 * of `port/maintenance.ts`.
 */
import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from '../../../refusal.ts';
import type { Connection } from '../connection.ts';

export function backUp(connection: Connection, path: string): void {
  if (existsSync(path)) throw new Refusal('malformed.option', `${path} exists: give a new file for the backup`, {});
  if (path === '' || !existsSync(dirname(path))) {
    const message = `cannot write the backup to "${path}": give a file in a folder that exists`;
    throw new Refusal('malformed.option', message, {});
  }
  connection.run('VACUUM INTO ?', path);
  chmodSync(path, 0o600); // inputs and results of jobs may be secret
}
