/** bun:sqlite: a `Database`. */
import type { Handle, Statement } from '../connection.ts';
import type { Driver } from './driver.ts';

interface BunDatabase {
  readonly filename: string;
  readonly inTransaction: boolean;
  prepare(sql: string): BunStatement;
  exec(sql: string): unknown;
  close(): void;
}

interface BunStatement {
  safeIntegers?(isEnabled: boolean): unknown;
  all(...values: unknown[]): unknown[];
  /** The rows as arrays. */
  values(...values: unknown[]): unknown[];
  get(...values: unknown[]): unknown;
  run(...values: unknown[]): { readonly changes: number };
}

const isDatabase = (value: object): value is BunDatabase => {
  const { filename, inTransaction, prepare } = value as Partial<BunDatabase>;
  return typeof filename === 'string' && typeof inTransaction === 'boolean' && typeof prepare === 'function';
};

export const bunSqlite: Driver = (value) => (isDatabase(value) ? handleOf(value) : null);

const handleOf = (db: BunDatabase): Handle => ({
  isOpen: true, // bun:sqlite does not tell: each of its methods throws once the database is closed
  get isTransaction() {
    return db.inTransaction;
  },
  exec: (sql) => void db.exec(sql),
  close: () => db.close(),
  prepare: (sql) => statementOf(db.prepare(sql)),
});

function statementOf(statement: BunStatement): Statement {
  let returnsArrays = false;
  statement.safeIntegers?.(false); // the caller may have set it for all statements of the connection
  return {
    setReturnArrays: (isEnabled) => (returnsArrays = isEnabled),
    all: (...values) => (returnsArrays ? statement.values(...values) : statement.all(...values)),
    get: (...values) => statement.get(...values) ?? undefined,
    run: (...values) => statement.run(...values),
  };
}
