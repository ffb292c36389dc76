/** What keeps the store in order: leases that are over, parents that wait for nobody, the past that may go. */
import type { Job } from '../../model/job.ts';
import { jobOfOpen, type OpenRow } from '../row.ts';
import type { Holding, Store } from '../store.ts';
import { numberArray } from './columns.ts';
import type { Connection, Session } from './connection.ts';
import { forget } from './forget.ts';
import { nowText } from './store-time.ts';

const openNames =
  'id, version, kind, type, def, parent, created, input, body, state, hold, phase, priority, due, fence, holder, ' +
  'lease_until, gate, admitted, cancel_asked';

/**
 * The clock is read once the rows are locked, and `lapsed` passes over what is locked: a lease that was found over can
 * no longer be extended, and one whose extension is under way is not found over.
 */
export async function extend(session: Session, holdings: readonly Holding[], until: number): Promise<boolean[]> {
  if (holdings.length === 0) return [];
  const { schema, time } = session;
  // Locked first, each by itself; what is written then is found anew, since a lock that was waited for brings a newer row.
  const text = `with held as materialized (
      select locked.id from unnest($2::bigint[], $3::bigint[]) as held (id, fence) cross join lateral (
        select id, fence, state from ${schema}.job where job.id = held.id limit 1 for update) locked
      where locked.fence = held.fence and locked.state = 'running'
    ), clock as materialized (select ${nowText} as now from (select count(*) from held) locked), kept as (
      update ${schema}.job set lease_until = greatest(lease_until, $4) from clock
      where job.id = any(array(select id from held)) and lease_until > clock.now
      returning job.id, job.fence
    ) select id, fence from kept`;
  const sorted = holdings.toSorted((a, b) => a.id - b.id);
  const [ids, fences] = [sorted.map(({ id }) => id), sorted.map(({ fence }) => fence)];
  const rows = await session.run<Holding>(text, [time.given(), numberArray(ids), numberArray(fences), until]);
  const kept = new Set(rows.map(({ id, fence }) => `${id}/${fence}`));
  return holdings.map(({ id, fence }) => kept.has(`${id}/${fence}`));
}

export async function lapsed(session: Session, limit: number): Promise<Job[]> {
  const { schema, time } = session;
  const text = `select * from (
      select * from (
        select ${openNames} from ${schema}.job where state = 'running' and lease_until <= ${nowText}
        order by lease_until limit $2 for share skip locked) late
      union all
      select ${openNames} from ${schema}.job where state = 'running' and lease_until is null
        and holder in (select id from ${schema}.instance where lease_until <= ${nowText})
    ) over order by id limit $2`;
  return (await session.run<OpenRow>(text, [time.given(), limit])).map(jobOfOpen);
}

export async function heldBy(session: Session, instance: string, limit: number): Promise<Job[]> {
  const text = `select ${openNames} from ${session.schema}.job
    where state = 'running' and holder = $1 and lease_until is null order by id limit $2`;
  return (await session.run<OpenRow>(text, [instance, limit])).map(jobOfOpen);
}

/** Each parent is found by one step into the index, however many children it has, and looked up by another. */
export async function orphaned(session: Session, limit: number): Promise<number[]> {
  const { schema } = session;
  const text = `with recursive family(parent) as (
      (select parent from ${schema}.job where parent is not null order by parent limit 1)
      union all
      select next.parent from family cross join lateral (
        select parent from ${schema}.job where job.parent > family.parent order by parent limit 1) next
    ) select parent from family left join lateral (
      select id as open from ${schema}.job where job.id = family.parent limit 1) found on true
    where open is null limit $1`;
  return (await session.run<{ parent: number }>(text, [limit])).map(({ parent }) => parent);
}

/** Whether a child is open is asked from the newest on: the oldest end first, and leave dead rows to step over. */
export async function settleable(session: Session, limit: number, parents?: readonly number[]): Promise<Job[]> {
  const { schema } = session;
  const given = parents ? 'and parent.id = any($2::bigint[])' : '';
  const text = `select ${openNames} from ${schema}.job parent left join lateral (
      select id as open from ${schema}.job child where child.parent = parent.id order by id desc limit 1) child on true
    where hold = 'children' and open is null ${given} order by id limit $1`;
  return (await session.run<OpenRow>(text, parents ? [limit, numberArray(parents)] : [limit])).map(jobOfOpen);
}

/** Instances that are gone stay visible for a while. */
const instanceKeptMs = 3_600_000;
const feedPortion = 1000;

export async function purge(connection: Connection, options: Parameters<Store['purge']>[0]): Promise<number> {
  const { limit, feedKeptMs, retentionMs } = options;
  const gone = await connection.transaction(async (transaction) => {
    const own = await purgeOldest(transaction, 'purge_at', 'purge_at is not null', limit, 0);
    if (retentionMs === null || own === limit) return own;
    const isByDefault = 'parent is null and purge_at is null';
    return own + (await purgeOldest(transaction, 'ended_at', isByDefault, limit - own, retentionMs));
  });
  await purgeFeed(connection, feedKeptMs);
  await purgeAside(connection);
  return gone;
}

/** What someone is changing at this moment is left for the next time. */
async function purgeOldest(
  session: Session,
  from: 'purge_at' | 'ended_at',
  isMeant: string,
  limit: number,
  keptMs: number,
): Promise<number> {
  const { schema, time } = session;
  // As an array: of a table the planner would expect a tenth of all, and read the whole.
  const text = `delete from ${schema}.ended where id = any(array(
      select id from ${schema}.ended where ${isMeant} and ${from} <= ${nowText} - $3::bigint
      order by ${from} limit $2 for update skip locked
    )) returning id`;
  const rows = await session.run<{ id: number }>(text, [time.given(), limit, keptMs]);
  await forget(session, rows.map(({ id }) => id));
  return rows.length;
}

/** From the oldest on, in portions: no transaction is long, and the newer entries are not looked at. */
async function purgeFeed(session: Session, keptMs: number): Promise<void> {
  const { schema, time } = session;
  const text = `with gone as (
      delete from ${schema}.feed where ctid = any(array(select place from (
        select ctid as place, at from ${schema}.feed order by told, seq limit ${feedPortion}) old
      where at <= ${nowText} - $2)) returning 1
    ) select count(*) as count from gone`;
  for (;;) {
    const [row] = await session.run<{ count: number }>(text, [time.given(), keptMs]);
    if (row!.count < feedPortion) return;
  }
}

/** Keys whose window is over, children kept aside by whoever lost its lease, instances that are long gone. */
async function purgeAside(session: Session): Promise<void> {
  const { schema, time } = session;
  const held = `select 1 from ${schema}.job where state = 'running'`;
  await session.run(`delete from ${schema}.taken where until <= ${nowText}`, [time.given()]);
  await session.run(`delete from ${schema}.staged
    where not exists (${held} and job.id = staged.parent and job.fence = staged.fence)`);
  await session.run(`delete from ${schema}.instance where lease_until <= ${nowText} - ${instanceKeptMs}
    and not exists (${held} and job.holder = instance.id)`, [time.given()]);
}
