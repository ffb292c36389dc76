/**
 * Reads figures about the database file, and finds damage in it. Implements `health` and `damage` of
 * `port/maintenance.ts`.
 */
import { statSync } from 'node:fs';
import type { StoreHealth } from '../../store.ts';
import type { Connection } from '../connection.ts';

export function health(connection: Connection, path: string, now: number): StoreHealth {
  const pragma = (name: string): number => Object.values(connection.get<Record<string, number>>(`PRAGMA ${name}`)!)[0]!;
  const [pages, free, pageBytes] = [pragma('page_count'), pragma('freelist_count'), pragma('page_size')];
  return {
    time: now,
    bytes: pages * pageBytes,
    bloat: [{ part: 'pages of the file', live: pages - free, dead: free }],
    logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    oldestTransactionMs: null,
    pool: null,
    connections: null,
  };
}

/** SQLite stops the check after this number of errors. */
const damageMax = 20;

/** Checks the whole file; returns the errors that SQLite finds in its structure. */
export function damage(connection: Connection): readonly string[] {
  const rows = connection.all<Record<string, string>>(`PRAGMA quick_check(${damageMax})`);
  const lines = rows.flatMap((row) => Object.values(row)).flatMap((text) => text.split('\n'));
  return lines.filter((line) => line !== 'ok');
}
