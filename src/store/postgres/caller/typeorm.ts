/** TypeORM: the `EntityManager` of a transaction, or a `QueryRunner` with an active one. */
import { has, type Execute, type Library } from './library.ts';
import { executeOn } from './pg.ts';

interface QueryRunner {
  readonly isTransactionActive: boolean;
  /** Returns the connection of the transaction. */
  connect(): Promise<unknown>;
  query(text: string, values: readonly unknown[], useStructuredResult: true): Promise<{ readonly records?: object[] }>;
}

export const typeorm: Library = (value) => {
  if (classNameOf(value) === 'DataSource') return { what: 'a TypeORM DataSource', todo };
  const isManager = classNameOf(value) === 'EntityManager';
  const runner = isManager ? (value as { readonly queryRunner?: QueryRunner }).queryRunner : value;
  if (!isManager && !isQueryRunner(value)) return null;
  if (!runner || !isQueryRunner(runner) || !runner.isTransactionActive) {
    return { what: `a TypeORM ${named(isManager)} outside of a transaction`, todo };
  }
  return async (text, values, name) => {
    const plain: Execute = async () => (await runner.query(text, values, true)).records ?? [];
    return name === undefined ? plain(text, values) : executeOn(await runner.connect(), plain)(text, values, name);
  };
};

const todo = 'pass the manager that dataSource.transaction() gives';

const named = (isManager: boolean): string => (isManager ? 'EntityManager' : 'QueryRunner');

/** The name that each object of these classes has as a registered symbol. */
const classNameOf = (value: object): string | undefined => {
  const mark = (value as { readonly '@instanceof'?: unknown })['@instanceof'];
  return typeof mark === 'symbol' ? Symbol.keyFor(mark) : undefined;
};

const isQueryRunner = (value: object): value is QueryRunner =>
  has(value, 'query') && typeof (value as Partial<QueryRunner>).isTransactionActive === 'boolean';
