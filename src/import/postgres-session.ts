/** A session on the PostgreSQL of another job system. It reads one snapshot, in a transaction that cannot write. */
import pg from 'pg';
import { Refusal } from '../refusal.ts';

export type Row = Readonly<Record<string, unknown>>;

/** The tables of another job system. */
export interface ForeignTables {
  readonly system: string;
  readonly schema: string;
  readonly tables: readonly string[];
}

const pageSize = 500;

export class PostgresSession {
  readonly #client: pg.Client;
  /** The identity of the database: the cluster, where it may be read, and the name. */
  readonly database: string;

  private constructor(client: pg.Client, database: string) {
    this.#client = client;
    this.database = database;
  }

  /** Refuses a database in which one of the tables is missing. */
  static async open(url: string, wanted: ForeignTables): Promise<PostgresSession> {
    const client = new pg.Client({ connectionString: url, application_name: 'stint import' });
    client.on('error', () => {}); // The next statement reports the loss.
    try {
      await client.connect();
    } catch (error) {
      throw new Refusal('unavailable.store', `cannot connect to the database of --from: ${messageOf(error)}`, {});
    }
    try {
      const session = new PostgresSession(client, await identityOf(client));
      await client.query('begin isolation level repeatable read read only');
      await session.#requireTables(wanted);
      return session;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  async #requireTables({ system, schema, tables }: ForeignTables): Promise<void> {
    const found = await this.query(
      'select table_name from information_schema.tables where table_schema = $1 and table_name = any($2)',
      [schema, tables],
    );
    const names = new Set(found.map(({ table_name: name }) => name));
    const missing = tables.find((table) => !names.has(table));
    if (missing === undefined) return;
    const message = `the schema ${schema} has no table ${missing} of ${system}: check --from and --schema`;
    throw new Refusal('malformed.option', message, { schema, table: missing });
  }

  async query(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows;
  }

  /** Reads the rows of a query page by page, so that memory does not grow with their number. */
  async *pages(text: string, values: readonly unknown[]): AsyncGenerator<readonly Row[]> {
    await this.#client.query(`declare import_rows no scroll cursor for ${text}`, [...values]);
    try {
      for (;;) {
        const { rows } = await this.#client.query<Row>(`fetch ${pageSize} from import_rows`);
        if (rows.length > 0) yield rows;
        if (rows.length < pageSize) return;
      }
    } finally {
      await this.#client.query('close import_rows');
    }
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

/** A role may be forbidden to read the identity of the cluster. */
async function identityOf(client: pg.Client): Promise<string> {
  const { rows: [row] } = await client.query<{ readonly name: string; readonly allowed: boolean }>(
    `select current_database() as name, has_function_privilege('pg_control_system()', 'execute') as allowed`,
  );
  if (!row!.allowed) return row!.name;
  const { rows: [cluster] } = await client.query<{ readonly id: string }>(
    'select system_identifier::text as id from pg_control_system()',
  );
  return `${cluster!.id} ${row!.name}`;
}

/** An identifier of SQL, quoted. */
export const quoted = (name: string): string => pg.escapeIdentifier(name);

/** The milliseconds of a time. An infinite time, which is no Date, is passed on: it is refused like others out of bounds. */
export const timeOf = (value: unknown): number => (value instanceof Date ? value.getTime() : Number(value));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
