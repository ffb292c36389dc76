/** `pg`: a `Client` or `PoolClient` on which a transaction was begun, or any object with the same `query`. */
import { has, rowsOf, type Execute, type Library } from './library.ts';

interface PgClient {
  query(text: string, values: readonly unknown[]): Promise<unknown>;
}

interface PreparingClient {
  query(named: { readonly name: string; readonly text: string; readonly values: readonly unknown[] }): Promise<unknown>;
}

const isClient = (value: object): value is PgClient => has(value, 'query');

interface Preparing {
  readonly connection?: { readonly parsedStatements?: unknown } | null;
}

/** Whether it is a client of pg, not only an object with its `query`: it knows which statements it has prepared. */
export const canPrepare = (client: unknown): client is PreparingClient =>
  typeof (client as Preparing | null | undefined)?.connection?.parsedStatements === 'object';

/** Executes statements with a name on the client, if it can prepare them, and the others by `execute`. */
export const executeOn = (client: unknown, execute: Execute): Execute => async (text, values, name) =>
  name !== undefined && canPrepare(client) ? rowsOf(await client.query({ name, text, values })) : execute(text, values);

export const pg: Library = (value) => {
  if (!isClient(value)) return null;
  if ('totalCount' in value) {
    return { what: 'a pg Pool', todo: 'begin one on the client that pool.connect() gives, and pass that client' };
  }
  return executeOn(value, async (text, values) => rowsOf(await value.query(text, [...values])));
};
