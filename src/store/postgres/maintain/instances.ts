/** Instances: their heartbeats, their leases, and which of them leads. Implements `port/instances.ts`. */
import { instanceOfRow, type InstanceRow } from '../../instance-row.ts';
import type { Beat, BeatReply, Instance, Leadership } from '../../store.ts';
import { takenInstance } from '../../taken-instance.ts';
import { numberArray } from '../sql/row-parameters.ts';
import type { Database, Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { claimedIdsSql, firstFence, idsParameter } from '../read/claimed.ts';

/**
 * Registers an instance or extends its lease. Throws `taken.instance` if another process has a valid lease under the
 * same name, unless `takeOver` is set. Calls `onSchema` with the version of the schema, because a newer Stint may have
 * migrated the schema after this store was opened.
 */
export async function beat(session: Session, beat: Beat, onSchema: (version: number) => void): Promise<BeatReply> {
  const { id, leaseMs, about, holds, takeOver = false } = beat;
  const { schema, time } = session;
  const isSameBoot = `coalesce(known.about::json ->> 'boot', $7::text) is not distinct from
    coalesce($7::text, known.about::json ->> 'boot')`;
  const text = `with clock as materialized (select ${nowSql} as now), beaten as (
      insert into ${schema}.instance as known (id, started, beat_at, lease_until, about)
        select $2, now, now, now + $3, $4 from clock
      on conflict (id) do update
        set started = case when ${isSameBoot} then known.started else excluded.started end,
          beat_at = excluded.beat_at, lease_until = excluded.lease_until, about = excluded.about
        where ${isSameBoot} or known.lease_until <= excluded.beat_at or $8::boolean
      returning id
    ), held as materialized (
      select * from unnest($5::bigint[], $6::bigint[]) as held (id, fence)
    ), claimed as materialized (
      ${claimedIdsSql(schema, { ids: idsParameter(5) })}
    ) select now, (select version from ${schema}.meta) as schema, exists (select from beaten) as is_beaten,
      changed.id, changed.cancel_asked from clock left join (
        select held.id, job.cancel_asked from held left join lateral (
          select fence, state, cancel_asked from ${schema}.job where job.id = held.id limit 1) job
          on job.fence = held.fence and job.state = 'running'
        where ${isNotInClaim} and job.cancel_asked is distinct from 0) changed on true`;
  const sorted = holds.toSorted((a, b) => a.id - b.id);
  const held = [numberArray(sorted.map((holding) => holding.id)), numberArray(sorted.map(({ fence }) => fence))];
  const values = [time.parameter(), id, leaseMs, JSON.stringify(about), ...held, about.boot ?? null, takeOver];
  const rows = await session.run<BeatRow>(text, values);
  onSchema(rows[0]!.schema);
  if (!rows[0]!.is_beaten) throw takenInstance(beat);
  const changed = rows.filter((row) => row.id !== null);
  time.observe(rows[0]!.now);
  return {
    now: rows[0]!.now,
    lost: changed.filter((row) => row.cancel_asked === null).map((row) => row.id!),
    cancelled: changed.filter((row) => row.cancel_asked === 1).map((row) => row.id!),
  };
}

/**
 * A job that runs in a claim has not been asked to cancel, since that gives it a row of its own. Of the other jobs the
 * rows are looked up, and only those that are lost or cancelled are returned.
 */
const isNotInClaim = `(held.fence = ${firstFence} and held.id in (select id from claimed)) is not true`;

interface BeatRow {
  readonly now: number;
  readonly schema: number;
  readonly is_beaten: boolean;
  readonly id: number | null;
  readonly cancel_asked: number | null;
}

export async function instances(session: Session): Promise<Instance[]> {
  const text = `select id, started, beat_at, lease_until, about from ${session.schema}.instance order by started, id`;
  return (await session.run<InstanceRow>(text)).map(instanceOfRow);
}

export async function leave(database: Database, instance: string): Promise<void> {
  const { schema, time } = database;
  await database.transaction(async (transaction) => {
    await transaction.run(`delete from ${schema}.instance where id = $1
      and not exists (select 1 from ${schema}.job where state = 'running' and holder = $1)
      and not exists (select 1 from ${schema}.claim where holder = $1)`, [instance]);
    const values = [time.parameter(), instance];
    await transaction.run(`update ${schema}.instance set lease_until = ${nowSql} where id = $2`, values);
    await transaction.run(`update ${schema}.leader set until = ${nowSql} where leader = $2`, values);
  });
}

export async function lead(session: Session, role: string, instance: string, leaseMs: number): Promise<Leadership> {
  const { schema, time } = session;
  const text = `with won as (
      insert into ${schema}.leader as known (role, leader, term, until) values ($2, $3, 1, ${nowSql} + $4)
      on conflict (role) do update set leader = excluded.leader, until = excluded.until,
        term = known.term + case when known.leader = $3 and known.until > ${nowSql} then 0 else 1 end
      where known.leader = $3 or known.until <= ${nowSql}
      returning leader, term, until
    ) select leader, term, until from won
    union all select leader, term, until from ${schema}.leader where role = $2 and not exists (select 1 from won)`;
  for (;;) {
    const [row] = await session.run<Leadership>(text, [time.parameter(), role, instance, leaseMs]);
    // No row: another instance became the first leader after this statement's snapshot. The next try sees its row.
    if (row) return row;
  }
}
