/** Knex: the `trx` of a transaction. Its statements go to the connection: `raw` knows no numbered parameters. */
import { has, rowsOf, type Library } from './library.ts';
import { executeOn } from './pg.ts';

interface Knex {
  readonly client: { acquireConnection(): Promise<KnexConnection> };
  readonly isTransaction?: boolean;
}

interface KnexConnection {
  query(text: string, values: readonly unknown[]): Promise<unknown>;
}

const isKnex = (value: object): value is Knex =>
  typeof value === 'function' && has(value, 'raw') && 'client' in value &&
  has(Object(value.client) as object, 'acquireConnection');

export const knex: Library = (value) => {
  if (!isKnex(value)) return null;
  if (value.isTransaction !== true) return { what: 'a Knex instance', todo: 'pass the trx that transaction() gives' };
  return async (text, values, name) => {
    const connection = await value.client.acquireConnection();
    return executeOn(connection, async () => rowsOf(await connection.query(text, values)))(text, values, name);
  };
};
