/**
 * Purges ended jobs past their retention, old feed entries, expired keys, children staged under a fence that is no
 * longer current, instances whose lease lapsed long ago, old refused requests of the inbox, pauses that ended long ago, and
 * rates that are no longer in use. Dissolves claims of which few jobs still run. Implements `purge` of `port/maintenance.ts`.
 */
import { numberArray } from '../sql/row-parameters.ts';
import type { Session, Database } from '../sql/database.ts';
import { instanceKeptMs, type PurgeOptions } from '../../store.ts';
import { nowSql } from '../sql/server-clock.ts';
import { claimedIdsSql } from '../read/claimed.ts';
import { keepOutcomesSql } from './following.ts';
import { dissolveClaims } from './dissolve-claims.ts';
import { excludeFromClaims } from './leave-claim.ts';

const feedPortion = 1000;

export async function purge(database: Database, options: PurgeOptions): Promise<number> {
  const { limit, feedKeptMs, retentionMs } = options;
  const gone = await database.transaction(async (transaction) => {
    const own = await purgeOldest(transaction, 'purge_at', 'purge_at is not null', limit, 0);
    if (retentionMs === null || own === limit) return own;
    const isByDefault = 'parent is null and purge_at is null';
    return own + (await purgeOldest(transaction, 'ended_at', isByDefault, limit - own, retentionMs));
  });
  await purgeFeed(database, feedKeptMs);
  await purgeLeftovers(database);
  await dissolveClaims(database);
  if (retentionMs !== null) await purgeInbox(database, retentionMs);
  if (retentionMs !== null) await database.transaction((transaction) => purgePauses(transaction, limit, retentionMs));
  return gone;
}

/**
 * Deletes up to `limit` ended jobs past their retention, the oldest first; returns how many. Rows that other
 * transactions have locked are left for the next purge.
 */
async function purgeOldest(
  session: Session,
  from: 'purge_at' | 'ended_at',
  predicate: string,
  limit: number,
  retentionMs: number,
): Promise<number> {
  const { schema, time } = session;
  // The ids are an array. For a plain subquery with `limit $2`, the planner would expect that it returns a tenth of the
  // table, and would choose a sequential scan.
  const text = `with gone as (delete from ${schema}.ended where id = any(array(
      select id from ${schema}.ended where ${predicate} and ${from} <= ${nowSql} - $3::bigint
      order by ${from} limit $2 for update skip locked
    )) returning id, fate, result
    ), kept as (${keepOutcomesSql(schema)}) select id from gone`;
  const rows = await session.run<{ id: number }>(text, [time.parameter(), limit, retentionMs]);
  await deleteBelongings(session, rows.map(({ id }) => id));
  return rows.length;
}

/**
 * Deletes old feed entries in portions, from the oldest on, so that transactions are short and at most one portion of
 * newer entries is read.
 */
async function purgeFeed(session: Session, retentionMs: number): Promise<void> {
  const { schema, time } = session;
  const text = `with gone as (
      delete from ${schema}.feed where ctid = any(array(select row_ctid from (
        select ctid as row_ctid, at from ${schema}.feed order by xid, seq limit ${feedPortion}) old
      where at <= ${nowSql} - $2)) returning 1
    ) select count(*) as count from gone`;
  for (;;) {
    const [row] = await session.run<{ count: number }>(text, [time.parameter(), retentionMs]);
    if (row!.count < feedPortion) return;
  }
}

async function purgeLeftovers(session: Session): Promise<void> {
  const { schema, time } = session;
  const held = `select 1 from ${schema}.job where state = 'running'`;
  await session.run(`delete from ${schema}.unique_key where until <= ${nowSql}`, [time.parameter()]);
  await session.run(`delete from ${schema}.rate where tat <= ${nowSql}
    and (closed_until is null or closed_until <= ${nowSql})`, [time.parameter()]);
  await session.run(`delete from ${schema}.staged
    where not exists (${held} and job.id = staged.parent and job.fence = staged.fence)
      and not exists (select 1 from (${claimedIdsSql(schema)}) claimed where claimed.id = staged.parent)`);
  await session.run(`delete from ${schema}.instance where lease_until <= ${nowSql} - ${instanceKeptMs}
    and not exists (${held} and job.holder = instance.id)
    and not exists (select 1 from ${schema}.claim where claim.holder = instance.id)`, [time.parameter()]);
}

async function purgeInbox(session: Session, retentionMs: number): Promise<void> {
  const { schema, time } = session;
  const text = `delete from ${schema}.inbox where refused_at <= ${nowSql} - $2::bigint`;
  await session.run(text, [time.parameter(), retentionMs]);
}

async function purgePauses(session: Session, limit: number, retentionMs: number): Promise<void> {
  const { schema, time } = session;
  const text = `delete from ${schema}.job where id = any(array(
      select id from ${schema}.job where kind = 'pause' and state = 'pending' and due <= ${nowSql} - $3::bigint
      order by due limit $2 for update skip locked)) returning id`;
  const rows = await session.run<{ id: number }>(text, [time.parameter(), limit, retentionMs]);
  await deleteBelongings(session, rows.map(({ id }) => id));
}

/**
 * Deletes the origins, edges, history chunks, progress, log, output and steps of deleted jobs. Also deletes the ended
 * children of these jobs, with theirs.
 */
export async function deleteBelongings(session: Session, ids: readonly number[]): Promise<void> {
  const { schema } = session;
  for (let gone = ids; gone.length > 0; ) {
    const list = [numberArray(gone)];
    const remove = (table: string, column = 'job'): Promise<object[]> =>
      session.run(`delete from ${schema}.${table} where ${column} = any($1::bigint[])`, list);
    const children = `with gone as (
        delete from ${schema}.ended where parent = any($1::bigint[]) returning id, fate, result
      ), kept as (${keepOutcomesSql(schema)}) select id from gone`;
    const [found] = await Promise.all([
      session.run<{ id: number }>(children, list),
      excludeFromClaims(session, gone),
      remove('edge', 'follower'),
      remove('flow_run', 'run'),
      remove('origin', 'id'),
      remove('history_chunk'),
      remove('progress'),
      remove('log'),
      remove('output'),
      remove('step'),
    ]);
    gone = found.map(({ id }) => Number(id));
  }
}
