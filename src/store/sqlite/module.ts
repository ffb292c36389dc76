/** Loads the module node:sqlite when the first file is opened, so that runtimes without it can use the other stores. */
import type * as Sqlite from 'node:sqlite';
import { Refusal } from '../../refusal.ts';

export function sqliteModule(): typeof Sqlite {
  const found = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (found !== undefined) return found;
  const message = 'this runtime has no node:sqlite: use Node 24.15 or newer, or a database of PostgreSQL';
  throw new Refusal('unavailable.store', message, { reason: 'no node:sqlite' });
}
