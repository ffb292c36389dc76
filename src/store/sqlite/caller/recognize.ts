/** Recognizes the caller's transaction: of which driver its connection is, and whether it is on the store's file. */
import { statSync } from 'node:fs';
import { Refusal } from '../../../refusal.ts';
import { kindOfValue, notATransaction } from '../../not-a-transaction.ts';
import { Connection, type Handle } from '../connection.ts';
import { isBetterSqlite3, ownCopyOfSqlite } from './better-sqlite3.ts';
import { bunSqlite } from './bun-sqlite.ts';
import type { Driver } from './driver.ts';
import { SqliteTransaction } from '../store-transaction.ts';
import { nodeSqlite } from './node-sqlite.ts';

const drivers: readonly Driver[] = [nodeSqlite, bunSqlite];

/** Returns a connection that writes in the caller's transaction. Refuses what is none, or is on another file. */
export function connectionIn(transaction: unknown, path: string): Connection {
  const given = transaction instanceof SqliteTransaction ? transaction.database : transaction;
  const handle = typeof given === 'object' && given !== null ? handleOf(given) : null;
  if (handle === null) throw notATransaction(kindOfValue(transaction), todo);
  if (!handle.isOpen) throw notATransaction('a closed connection', todo);
  if (!handle.isTransaction) throw notATransaction('a connection without one', 'run BEGIN IMMEDIATE on it first');
  const connection = new Connection(handle);
  requireSameFile(connection, path);
  return connection;
}

const todo = 'pass the DatabaseSync (node:sqlite) or Database (bun:sqlite) on which you ran BEGIN IMMEDIATE';

function handleOf(transaction: object): Handle | null {
  if (isBetterSqlite3(transaction)) throw notATransaction(ownCopyOfSqlite.what, ownCopyOfSqlite.todo);
  for (const driver of drivers) {
    const handle = driver(transaction);
    if (handle !== null) return handle;
  }
  return null;
}

/** The main database of the caller's connection must be the file of the store, under whatever path. */
function requireSameFile(connection: Connection, path: string): void {
  const file = connection.arrays('PRAGMA database_list').find(([, name]) => name === 'main')?.[2];
  if (typeof file === 'string' && file !== '' && path !== ':memory:' && isSameFile(file, path)) return;
  const found = typeof file === 'string' && file !== '' ? file : 'a database in memory';
  throw new Refusal('malformed.store', `the transaction is on ${found}, but the jobs are in ${path}: open that file`);
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
