/** A transaction that the store begins for a handler, on a connection of its own. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { StoreTransaction } from '../store.ts';
import { errorOf, requireTransaction } from './errors.ts';

export class SqliteTransaction implements StoreTransaction {
  readonly database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<{ readonly rows: Row[] }> {
    requireTransaction(this.database);
    try {
      return { rows: this.database.prepare(text).all(...bound(text, values)) as Row[] };
    } catch (error) {
      throw errorOf(error);
    }
  }
}

/** Binds $1 and $2, which are names for SQLite, by their numbers, so that both stores accept the same statement. */
function bound(text: string, values: readonly unknown[]): SQLInputValue[] {
  const given = values as readonly SQLInputValue[];
  if (!/\$\d/.test(text)) return [...given];
  return [Object.fromEntries(given.map((value, index) => [`$${index + 1}`, value])) as unknown as SQLInputValue];
}
