/** PostgreSQL: a server of its own that waits for the disk, or a given one, and a database for each ground. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { TestPostgres } from '../../test/support/postgres.ts';
import type { Side } from '../contender.ts';
import type { Engine, Filling, Ground } from '../engine.ts';
import { cpuUsOfServer, postmasterOf } from '../server-cpu.ts';

/** Uses the server at the URL; without one, brings its own. */
export async function openPostgres(url?: string): Promise<Engine> {
  const own = url === undefined ? await TestPostgres.create({ fsync: true }) : undefined;
  try {
    return await PostgresEngine.open(url ?? own!.url, () => own?.stop() ?? Promise.resolve());
  } catch (error) {
    await own?.stop();
    throw error;
  }
}

class PostgresEngine implements Engine {
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

  static async open(url: string, stop: () => Promise<void>): Promise<Engine> {
    const client = await connect(url);
    const { rows } = await client.query<Server>(aboutServer);
    return new PostgresEngine(url, client, rows[0]!, stop);
  }

  async ground(side: Side, isHeard: boolean): Promise<Ground> {
    const name = `stint_bench_${randomBytes(6).toString('hex')}`;
    await this.#client.query(`CREATE DATABASE ${name}`);
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    const occupants: pg.Client[] = [];
    const hand = await connect(url.href);
    await hand.query('SET search_path TO stint, public');
    return {
      place: { engine: 'postgres', side, at: url.href, isHeard },
      serverCpuUs: () => (this.#postmaster === null ? null : cpuUsOfServer(this.#postmaster)),
      fill: (filling) => fill(hand, filling),
      occupy: async () => void occupants.push(await occupantAt(url.href)),
      rest: () => this.#rest(hand),
      remove: async () => {
        await Promise.all([hand, ...occupants].map((client) => client.end()));
        await this.#client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      },
    };
  }

  async close(): Promise<void> {
    await this.#client.end();
    await this.#stop();
  }

  async #rest(hand: pg.Client): Promise<void> {
    await hand.query('VACUUM (ANALYZE)');
    // Only a superuser or pg_checkpoint may; without it the run is a little noisier.
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

async function occupantAt(url: string): Promise<pg.Client> {
  const client = await connect(url);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM pg_class');
  return client;
}

async function fill(client: pg.Client, { table, sample, count, first, types }: Filling): Promise<void> {
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
