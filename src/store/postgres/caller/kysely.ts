/** Kysely: a `Transaction` or `ControlledTransaction`. */
import { has, rowsOf, type Library } from './library.ts';

interface Kysely {
  readonly isTransaction: boolean;
  /** Plugins could rename the columns of the rows. */
  withoutPlugins(): Kysely;
  executeQuery(query: object): Promise<unknown>;
}

const isKysely = (value: object): value is Kysely =>
  has(value, 'withoutPlugins') && has(value, 'executeQuery') && 'isTransaction' in value;

export const kysely: Library = (value) => {
  if (!isKysely(value)) return null;
  const todo = 'pass the trx that transaction().execute() gives';
  if (!value.isTransaction) return { what: 'a Kysely instance', todo };
  const trx = value.withoutPlugins();
  return async (sql, parameters) => rowsOf(await trx.executeQuery({ ...raw(sql), parameters }));
};

/** A compiled query, as `CompiledQuery.raw` of Kysely makes it. */
const raw = (sql: string): object =>
  ({ sql, query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] }, queryId: { queryId: 'stint' } });
