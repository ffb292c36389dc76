/** The grounds on which entrants stand: a fresh database, file or Redis for each measurement. */
import pg from 'pg';
import type { Engine, Ground } from '../engine.ts';
import { openPostgres } from '../engines/postgres.ts';
import { SqliteEngine } from '../engines/sqlite.ts';
import type { GroundName } from './entrant.ts';
import type { Host, PeerGround } from './host.ts';
import { openRedis } from './redis.ts';

export class Grounds {
  readonly #hosts: ReadonlyMap<GroundName, Host>;

  private constructor(hosts: ReadonlyMap<GroundName, Host>) {
    this.#hosts = hosts;
  }

  /** Those that are wanted and can be had here; without a URL, PostgreSQL is its own. */
  static async open(wanted: ReadonlySet<GroundName>, url?: string): Promise<Grounds> {
    const hosts = new Map<GroundName, Host>();
    if (wanted.has('sqlite')) hosts.set('sqlite', hostOf(new SqliteEngine()));
    if (wanted.has('postgres')) hosts.set('postgres', hostOf(await openPostgres(url)));
    const redis = wanted.has('redis') ? await openRedis() : null;
    if (redis) hosts.set('redis', redis);
    return new Grounds(hosts);
  }

  /** What it is, for the report; null: this machine has none. */
  about(name: GroundName): string | null {
    return this.#hosts.get(name)?.about ?? null;
  }

  fresh(name: GroundName): Promise<PeerGround> {
    return this.#hosts.get(name)!.ground();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosts.values()].map((host) => host.close()));
  }
}

const hostOf = (engine: Engine): Host => ({
  about: engine.about,
  ground: async () => peerGroundOf(await engine.ground('ours', false)),
  close: () => engine.close(),
});

/** The ground of one side of the other bench, as entrants see it. */
export function peerGroundOf(ground: Ground): PeerGround {
  const { at, engine } = ground.place;
  const transactions = engine === 'postgres' ? new Transactions(at) : null;
  return {
    at,
    serverCpuUs: () => ground.serverCpuUs(),
    transactions: async () => transactions?.count() ?? null,
    remove: async () => {
      await transactions?.close();
      await ground.remove();
    },
  };
}

/**
 * Counts the transactions of a database, on one connection: to open one takes several itself. The server sweeps a fresh
 * database in dozens of them, which nobody here has asked for: it is swept before.
 */
class Transactions {
  readonly #client: pg.Client;
  #connected: Promise<void> | undefined;

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
  }

  async count(): Promise<number> {
    this.#connected ??= this.#sweep();
    await this.#connected;
    const sql = 'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()';
    return Number((await this.#client.query<{ count: string }>(sql)).rows[0]!.count);
  }

  async #sweep(): Promise<void> {
    await this.#client.connect();
    await this.#client.query('VACUUM (ANALYZE)');
    await this.#client.query('SELECT pg_stat_force_next_flush()');
  }

  async close(): Promise<void> {
    if (this.#connected) await this.#client.end();
  }
}
