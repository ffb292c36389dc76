/** Memos: small named texts, written under the version that was read. Implements `port/memos.ts`. */
import type { Change } from '../../../model/change.ts';
import type { Memo, MemoWrite } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { writeBatch } from './commit.ts';

export const memos = (connection: Connection, prefix: string): Memo[] =>
  connection.all<Memo>(selectSql, prefix, prefix);

/** Writes memos and changes inside the caller's transaction, all or none; returns whether that was done. */
export function writeMemos(
  connection: Connection,
  writes: readonly MemoWrite[],
  changes: readonly Change[],
  now: number,
): boolean {
  return connection.allOrNothing(() =>
    writes.every((write) => writeOne(connection, write)) &&
    !writeBatch(connection, { changes, whole: true }, now).includes(false));
}

function writeOne(connection: Connection, { name, version, value }: MemoWrite): boolean {
  if (value === null) return connection.run('DELETE FROM memo WHERE name = ? AND version = ?', name, version) === 1;
  if (version > 0) return connection.run(updateSql, value, name, version) === 1;
  return connection.run('INSERT INTO memo(name, version, value) VALUES(?, 1, ?) ON CONFLICT DO NOTHING', name, value) === 1;
}

const selectSql = 'SELECT name, version, value FROM memo WHERE substr(name, 1, length(?)) = ? ORDER BY name';
const updateSql = 'UPDATE memo SET value = ?, version = version + 1 WHERE name = ? AND version = ?';
