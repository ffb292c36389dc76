/** The grounds on which entrants stand: a fresh database, file or Redis for each measurement. */
import pg from 'pg';
import type { Engine, Ground } from '../engine.ts';
import { openPostgres } from '../engines/postgres.ts';
import { SqliteEngine } from '../engines/sqlite.ts';
import type { GroundName } from './entrant.ts';
import { openRedis, type Redis } from './redis.ts';

/** Where one entrant works, alone. */
export interface PeerGround {
  readonly at: string;
  /** What the server has used of the CPU so far; null: there is none, or it cannot be seen. */
  serverCpuUs(): number | null;
  /** How many transactions it has seen; null: nobody counts them. */
  transactions(): Promise<number | null>;
  remove(): Promise<void>;
}

export class Grounds {
  readonly #engines: Readonly<Record<'sqlite' | 'postgres', Engine>>;
  readonly #redis: Redis | null;

  private constructor(engines: Readonly<Record<'sqlite' | 'postgres', Engine>>, redis: Redis | null) {
    this.#engines = engines;
    this.#redis = redis;
  }

  /** Without a URL, PostgreSQL is its own. */
  static async open(url?: string): Promise<Grounds> {
    return new Grounds({ sqlite: new SqliteEngine(), postgres: await openPostgres(url) }, await openRedis());
  }

  /** What there is, for the report; without Redis, null. */
  about(name: GroundName): string | null {
    return name === 'redis' ? (this.#redis?.about ?? null) : this.#engines[name].about;
  }

  async fresh(name: GroundName): Promise<PeerGround> {
    if (name === 'redis') return this.#redis!.ground();
    return peerGroundOf(await this.#engines[name].ground('ours', false));
  }

  async close(): Promise<void> {
    await Promise.all([this.#engines.sqlite.close(), this.#engines.postgres.close(), this.#redis?.close()]);
  }
}

/** The ground of one side of the other bench, as entrants see it. */
export function peerGroundOf(ground: Ground): PeerGround {
  const { at, engine } = ground.place;
  return {
    at,
    serverCpuUs: () => ground.serverCpuUs(),
    transactions: async () => (engine === 'postgres' ? transactionsAt(at) : null),
    remove: () => ground.remove(),
  };
}

async function transactionsAt(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const sql = 'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()';
    return Number((await client.query<{ count: string }>(sql)).rows[0]!.count);
  } finally {
    await client.end();
  }
}
