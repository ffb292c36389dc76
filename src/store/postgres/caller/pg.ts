/** `pg`: a `Client` or `PoolClient` on which a transaction was begun, or any object with the same `query`. */
import { has, rowsOf, type Library } from './library.ts';

interface PgClient {
  query(text: string, values: readonly unknown[]): Promise<unknown>;
}

const isClient = (value: object): value is PgClient => has(value, 'query');

export const pg: Library = (value) => {
  if (!isClient(value)) return null;
  if ('totalCount' in value) {
    return { what: 'a pg Pool', todo: 'begin one on the client that pool.connect() gives, and pass that client' };
  }
  return async (text, values) => rowsOf(await value.query(text, [...values]));
};
