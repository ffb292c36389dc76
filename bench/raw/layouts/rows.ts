/** The layout with a narrow row per open job, which a claim updates and an end deletes; the wide row stays. */
import {
  begin, claimedBody, claimedLine, endedBody, externalFeed, feedSql, feedTable, feedText, holder, numberArray, run,
  succeededLine, type Layout,
} from './layout.ts';
import { ctidArray, insertNarrow, lockNarrow } from './narrow.ts';
import { endedJobs, narrowJobs } from './tables.ts';

export const rows: Layout = {
  name: 'rows',
  schema: [...narrowJobs(), ...endedJobs('all'), feedTable, externalFeed],
  create: insertNarrow,

  async claim(client, limit) {
    const at = Date.now();
    const begun = client.query(begin);
    const locked = await lockNarrow(client, at, limit);
    await begun;
    const ids = locked.map(({ id }) => Number(id));
    const line = claimedLine(at);
    const values = [at, numberArray(ids), ctidArray(locked), holder, claimedBody(at), line, feedText(line, ids)];
    const [, committed] = [ids.length === 0 ? null : run(client, take, values), client.query('commit')];
    await committed;
    return ids.map((id) => ({ id, claim: 0 }));
  },

  async end(client, jobs) {
    const at = Date.now();
    const ids = jobs.map(({ id }) => id);
    const line = succeededLine(at);
    await run(client, end, [at, numberArray(ids), endedBody(at), line, feedText(line, ids)]);
  },
};

const take = `with written as (
    update job set version = 2, priority = 0, fence = 1, lease_until = null, admitted = 0, cancel_asked = 0,
      type = job.type, state = 'running', hold = null, phase = 'run', holder = $4::text, body = $5::text,
      history = coalesce(job.history || E'\\n', '') || $6::text, xid = greatest(job.xid, pg_current_xact_id())
    from unnest($2::bigint[], $3::tid[]) as goal (id, row_ctid)
    where job.ctid = goal.row_ctid and job.version = 1 returning job.id
  ), ${feedSql('$1::bigint', '$7::text')} select count(*) from written`;

const end = `with written as (
    delete from job using unnest($2::bigint[]) as goal (id) cross join lateral (
      select ctid as row_ctid from job sought where sought.id = goal.id and sought.version = 2 limit 1) found
    where job.ctid = found.row_ctid and job.version = 2
    returning job.id, job.parent, job.created, job.kind, job.type, job.def, job.input,
      coalesce(job.history || E'\\n', '') || $4::text as history
  ), inserted as (
    insert into ended (id, version, parent, created, ended_at, kind, type, def, fate, input, body, history)
    select id, 3, parent, created, $1::bigint, kind, type, def, 'succeeded', input, $3::text, history from written
  ), ${feedSql('$1::bigint', '$5::text')} select count(*) from written`;
