/** node:sqlite: a `DatabaseSync`. */
import type { DatabaseSync } from 'node:sqlite';
import type { Handle } from '../connection.ts';
import type { Driver } from './driver.ts';

const isDatabaseSync = (value: object): value is DatabaseSync =>
  typeof (value as Partial<DatabaseSync>).prepare === 'function' &&
  typeof (value as Partial<DatabaseSync>).isTransaction === 'boolean';

export const nodeSqlite: Driver = (value) => (isDatabaseSync(value) ? handleOf(value) : null);

const handleOf = (db: DatabaseSync): Handle => ({
  get isOpen() {
    return db.isOpen;
  },
  get isTransaction() {
    return db.isTransaction;
  },
  exec: (sql) => db.exec(sql),
  close: () => db.close(),
  prepare: (sql) => {
    const statement = db.prepare(sql);
    statement.setReadBigInts(false); // the caller may have set it for all statements of the connection
    return statement;
  },
});
