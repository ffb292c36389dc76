/**
 * The layout in which a claim deletes the narrow rows and stores one row for the whole batch; an end inserts the ended
 * rows, guarded by the lock of the claim's row. The wide row is written once.
 */
import {
  begin, claimedLine, endedBody, externalFeed, feedSql, feedTable, feedText, holder, hot, numberArray, run,
  succeededLine, type Layout,
} from './layout.ts';
import { ctidArray, insertNarrow, lockNarrow } from './narrow.ts';
import { endedJobs, narrowJobs, type EndedIndexes } from './tables.ts';

export interface OnceOptions {
  readonly name?: string;
  /**
   * How a claim's row knows what is left. `counter`: a number, the ids stay. `array`: the ids that are left. `whole`:
   * not at all, the claim must end in one statement, which deletes it.
   */
  readonly left?: 'counter' | 'array' | 'whole';
  readonly storage?: 'external' | 'main' | 'extended';
  readonly jobIndexes?: 'all' | 'lane';
  readonly endedIndexes?: EndedIndexes;
  /** Whether ended rows have a body; otherwise readers apply the events to the body of the origin. */
  readonly hasBody?: boolean;
}

export function once(options: OnceOptions = {}): Layout {
  const { name = 'once', left = 'counter', storage = 'external', endedIndexes = 'all', hasBody = true } = options;
  const end = endSql(left);
  return {
    name,
    schema: [
      ...narrowJobs(options.jobIndexes), ...endedJobs(endedIndexes), feedTable, externalFeed,
      `create table claim (id bigint generated always as identity primary key, at bigint not null,
        remaining integer not null, first bigint not null, last bigint not null, lease_until bigint, xid xid8 not null default pg_current_xact_id(),
        holder text not null, line text not null, moved bigint[], ids bigint[] not null)
        with (fillfactor = 50, ${hot})`,
      `alter table claim alter ids set storage ${storage}`,
    ],
    create: insertNarrow,

    async claim(client, limit) {
      const at = Date.now();
      const begun = client.query(begin);
      const locked = await lockNarrow(client, at, limit);
      await begun;
      const ids = locked.map(({ id }) => Number(id));
      const line = claimedLine(at);
      const values = [at, numberArray(ids), ctidArray(locked), holder, line, feedText(line, ids)];
      const taking = ids.length === 0 ? null : run<{ claim: number }>(client, take, values);
      await client.query('commit');
      const claim = Number((await taking)?.[0]?.claim ?? 0);
      return ids.map((id) => ({ id, claim }));
    },

    async end(client, jobs) {
      const at = Date.now();
      const ids = jobs.map(({ id }) => id);
      const line = succeededLine(at);
      const claims = [...new Set(jobs.map(({ claim }) => claim))];
      const owner = claims.length === 1 ? claims[0] : null;
      const owners = claims.length === 1 ? null : numberArray(jobs.map(({ claim }) => claim));
      const body = hasBody ? endedBody(at) : null;
      const rows = await run<{ count: number }>(client, end,
        [at, numberArray(ids), body, line, feedText(line, ids), numberArray(claims), owner, owners]);
      if (Number(rows[0]!.count) !== jobs.length) throw new Error(`${rows[0]!.count} of ${jobs.length} jobs ended`);
    },
  };
}

const take = `with written as (
    delete from job using unnest($2::bigint[], $3::tid[]) as goal (id, row_ctid)
    where job.ctid = goal.row_ctid and job.version = 1
    returning job.id, greatest(job.xid, pg_current_xact_id()) as xid
  ), ${feedSql('$1::bigint', '$6::text')}, batch as (
    insert into claim (at, remaining, first, last, xid, holder, line, ids)
    select $1::bigint, count(*), min(id), max(id), max(xid::text::bigint)::text::xid8, $4::text, $5::text,
      array_agg(id order by id) from written
    returning id
  ) select id as claim from batch`;

/** What becomes of the rows of `held`, of which `done` has the number of jobs that have ended. */
const keepSql: Readonly<Record<NonNullable<OnceOptions['left']>, string>> = {
  counter: `kept as (
      update claim set remaining = claim.remaining - done.count from held join done using (claim)
      where claim.ctid = held.row_ctid and held.remaining > done.count
    ), gone as (
      delete from claim using held join done using (claim)
      where claim.ctid = held.row_ctid and held.remaining <= done.count)`,
  array: `kept as (
      update claim set remaining = claim.remaining - done.count,
        ids = array(select unnest(claim.ids) except select unnest($2::bigint[]))
      from held join done using (claim) where claim.ctid = held.row_ctid and held.remaining > done.count
    ), gone as (
      delete from claim using held join done using (claim)
      where claim.ctid = held.row_ctid and held.remaining <= done.count)`,
  whole: `gone as (delete from claim using held where claim.ctid = held.row_ctid)`,
};

const goal = 'unnest($2::bigint[], $8::bigint[]) as goal (id, claim)';

const endSql = (left: NonNullable<OnceOptions['left']>): string => `with held as materialized (
    select locked.* from unnest($6::bigint[]) as wanted (id) cross join lateral (
      select ctid as row_ctid, id as claim, remaining, line, moved from claim
      where claim.id = wanted.id for update) locked
  ), written as (
    insert into ended (id, version, created, ended_at, kind, type, fate, body, history)
    select goal.id, 3, $1::bigint, $1::bigint, 'run', 'mail.send', 'succeeded', $3::text,
      held.line || E'\\n' || $4::text
    from ${goal} join held on held.claim = coalesce(goal.claim, $7::bigint)
    where held.moved is null or goal.id <> all (held.moved)
    on conflict do nothing returning id
  ), done as materialized (
    select $7::bigint as claim, count(*) as count from written where $7::bigint is not null having count(*) > 0
    union all select claim, count(*) from ${goal} join written using (id) where $7::bigint is null group by claim
  ), ${feedSql('$1::bigint', '$5::text')}, ${keepSql[left]} select count(*) as count from written`;
