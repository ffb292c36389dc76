/**
 * Reads the health of the database. The transactions and connections of other database users are included only if
 * Stint's database user has the right to see them.
 * Implements `health` of `port/maintenance.ts`.
 */
import type { Bloat, StoreHealth } from '../../store.ts';
import type { Database } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';

interface HealthRow {
  readonly time: number;
  readonly bytes: number | null;
  readonly oldest: number | null;
  readonly open: number;
  readonly max: number;
}

const healthSql = `select ${nowSql} as time,
  (select sum(pg_total_relation_size(c.oid))::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = (parse_ident($2))[1] and c.relkind = 'r') as bytes,
  (select max(extract(epoch from clock_timestamp() - xact_start) * 1000)::bigint from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()) as oldest,
  (select count(*) from pg_stat_activity where backend_type = 'client backend') as open,
  current_setting('max_connections')::bigint as max`;

const bloatSql = `select relname as part, n_live_tup as live, n_dead_tup as dead from pg_stat_user_tables
  where schemaname = (parse_ident($1))[1] order by n_dead_tup desc, relname`;

export async function health(database: Database): Promise<StoreHealth> {
  const { schema, time } = database;
  const [row] = await database.runUnprepared<HealthRow>(healthSql, [time.parameter(), schema]);
  const bloat = await database.runUnprepared<Bloat>(bloatSql, [schema]);
  return {
    time: row!.time,
    bytes: row!.bytes,
    bloat,
    logBytes: null,
    oldestTransactionMs: row!.oldest,
    pool: database.pool,
    connections: { open: row!.open, max: row!.max },
  };
}
