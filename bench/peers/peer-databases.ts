/** The databases of the comparison, opened once and closed at its end. */
import pg from 'pg';
import type { Database, ScratchDatabase } from '../database.ts';
import { openPostgres } from '../databases/postgres.ts';
import { SqliteDatabase } from '../databases/sqlite.ts';
import type { PeerDatabaseName } from './peer.ts';
import type { PeerDatabase, PeerScratch } from './peer-database.ts';
import { openRedis } from './redis.ts';

export class PeerDatabases {
  readonly #databases: ReadonlyMap<PeerDatabaseName, PeerDatabase>;

  private constructor(databases: ReadonlyMap<PeerDatabaseName, PeerDatabase>) {
    this.#databases = databases;
  }

  /** Opens those of the wanted databases that this machine has. Without a URL, starts a PostgreSQL server. */
  static async open(wanted: ReadonlySet<PeerDatabaseName>, url?: string): Promise<PeerDatabases> {
    const databases = new Map<PeerDatabaseName, PeerDatabase>();
    if (wanted.has('sqlite')) databases.set('sqlite', peerDatabaseOf(new SqliteDatabase()));
    if (wanted.has('postgres')) databases.set('postgres', peerDatabaseOf(await openPostgres(url)));
    const redis = wanted.has('redis') ? await openRedis() : null;
    if (redis) databases.set('redis', redis);
    return new PeerDatabases(databases);
  }

  /** Version and settings, for the report; null if this machine does not have the database. */
  about(name: PeerDatabaseName): string | null {
    return this.#databases.get(name)?.about ?? null;
  }

  createScratch(name: PeerDatabaseName): Promise<PeerScratch> {
    return this.#databases.get(name)!.createScratch();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#databases.values()].map((database) => database.close()));
  }
}

const peerDatabaseOf = (database: Database): PeerDatabase => ({
  about: database.about,
  createScratch: async () => peerScratchOf(await database.createScratch('ours', false)),
  close: () => database.close(),
});

/** Adapts a scratch database of the main bench. */
export function peerScratchOf(scratch: ScratchDatabase): PeerScratch {
  const { location, database } = scratch.address;
  const transactions = database === 'postgres' ? new TransactionCounter(location) : null;
  return {
    location,
    serverCpuUs: () => scratch.serverCpuUs(),
    transactions: async () => transactions?.count() ?? null,
    remove: async () => {
      await transactions?.close();
      await scratch.remove();
    },
  };
}

/**
 * Counts the transactions of a database on one connection, since opening a connection takes several transactions.
 * Autovacuum of a new database takes dozens more: VACUUM runs before the first count.
 */
class TransactionCounter {
  readonly #client: pg.Client;
  #connected: Promise<void> | undefined;

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
  }

  async count(): Promise<number> {
    this.#connected ??= this.#connect();
    await this.#connected;
    const sql = 'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()';
    return Number((await this.#client.query<{ count: string }>(sql)).rows[0]!.count);
  }

  async #connect(): Promise<void> {
    await this.#client.connect();
    await this.#client.query('VACUUM (ANALYZE)');
    await this.#client.query('SELECT pg_stat_force_next_flush()');
  }

  async close(): Promise<void> {
    if (this.#connected) await this.#client.end();
  }
}
