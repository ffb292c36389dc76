/** postgres.js: the `sql` of `begin` or `savepoint`, or a reserved connection on which a transaction was begun. */
import { has, rowsOf, type Library } from './library.ts';

interface Sql {
  unsafe(text: string, values: readonly unknown[], options?: { readonly prepare: boolean }): Promise<unknown>;
}

const isSql = (value: object): value is Sql => typeof value === 'function' && has(value, 'unsafe');

export const postgresJs: Library = (value) => {
  if (!isSql(value)) return null;
  if (!has(value, 'savepoint') && !has(value, 'release')) {
    return { what: 'the sql of postgres.js', todo: 'pass the sql that sql.begin(async (sql) => …) gives' };
  }
  return async (text, values, name) =>
    rowsOf(await (name === undefined ? value.unsafe(text, values) : value.unsafe(text, values, { prepare: true })));
};
