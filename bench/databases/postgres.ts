/** PostgreSQL: the server of a URL, or one that the bench starts with fsync on. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { TestPostgres } from '../../test/support/postgres.ts';
import type { Side } from '../target.ts';
import type { Database, RowCopies, ScratchDatabase } from '../database.ts';
import { cpuUsOfServer, postmasterOf } from '../server-cpu.ts';

/** Uses the server at the URL. Without a URL, starts a server. */
export async function openPostgres(url?: string): Promise<Database> {
  const own = url === undefined ? await TestPostgres.create({ fsync: true }) : undefined;
  try {
    return await PostgresDatabase.open(url ?? own!.url, () => own?.stop() ?? Promise.resolve());
  } catch (error) {
    await own?.stop();
    throw error;
  }
}

class PostgresDatabase implements Database {
  readonly name = 'postgres';
  readonly about: string;
  readonly #url: string;
  readonly #client: pg.Client;
  readonly #postmaster: number | null;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, client: pg.Client, server: Server, stop: () => Promise<void>) {
    this.#url = url;
    this.#client = client;
    this.#postmaster = postmasterOf(server.pid);
    this.#stop = stop;
    this.about = `PostgreSQL ${server.version}, fsync ${server.fsync}, synchronous_commit ${server.synchronous_commit}`;
  }

  static async open(url: string, stop: () => Promise<void>): Promise<Database> {
    const client = await connect(url);
    const { rows } = await client.query<Server>(aboutServer);
    return new PostgresDatabase(url, client, rows[0]!, stop);
  }

  async createScratch(side: Side, wakesOtherProcesses: boolean): Promise<ScratchDatabase> {
    const name = `stint_bench_${randomBytes(6).toString('hex')}`;
    await this.#client.query(`CREATE DATABASE ${name}`);
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    const idle: pg.Client[] = [];
    const connection = await connect(url.href);
    await connection.query('SET search_path TO stint, public');
    return {
      address: { database: 'postgres', side, location: url.href, wakesOtherProcesses },
      serverCpuUs: () => (this.#postmaster === null ? null : cpuUsOfServer(this.#postmaster)),
      copyRows: (copies) => copyRows(connection, copies),
      openIdleTransaction: async () => void idle.push(await connectIdle(url.href)),
      bytes: async () => {
        const { rows } = await connection.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
        return Number(rows[0]!.bytes);
      },
      compact: async () => void (await connection.query('VACUUM (FULL, ANALYZE)')),
      cleanUp: () => this.#cleanUp(connection),
      remove: async () => {
        await Promise.all([connection, ...idle].map((client) => client.end()));
        await this.#client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      },
    };
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.#stop();
  }

  async #cleanUp(connection: pg.Client): Promise<void> {
    await connection.query('VACUUM (ANALYZE)');
    // CHECKPOINT needs a superuser or the role pg_checkpoint. Without it the figures have more noise.
    await this.#client.query('CHECKPOINT').catch(() => {});
  }
}

interface Server {
  readonly version: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly pid: number;
}

const aboutServer = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous_commit, pg_backend_pid() AS pid`;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function connectIdle(url: string): Promise<pg.Client> {
  const client = await connect(url);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM pg_class');
  return client;
}

/** Stint has the input of a job in table `origin`, so that each copy needs a row there, too. */
async function copyRows(client: pg.Client, copies: RowCopies): Promise<void> {
  const { rows } = await client.query(`SELECT 1 FROM pg_tables WHERE schemaname = 'stint' AND tablename = 'origin'`);
  if (rows.length > 0) await copyTable(client, { ...copies, table: 'origin' });
  await copyTable(client, copies);
}

async function copyTable(client: pg.Client, { table, sample, count, first, types }: RowCopies): Promise<void> {
  const others = (await columnsOf(client, table)).filter((name) => name !== 'id' && name !== 'type');
  const values = others.map((name) => `sample.${name}`);
  const copy = `
    INSERT INTO ${table}(id, type, ${others.join(', ')})
    SELECT $2::bigint + n, ($4::text[])[1 + n % cardinality($4::text[])], ${values.join(', ')}
    FROM generate_series(0, $1::int - 1) n, (SELECT * FROM ${table} WHERE type = $3 LIMIT 1) sample`;
  await client.query(copy, [count, first, sample, types]);
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const sql = `SELECT attname AS name FROM pg_attribute
    WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`;
  const { rows } = await client.query<{ name: string }>(sql, [table]);
  return rows.map(({ name }) => name);
}
