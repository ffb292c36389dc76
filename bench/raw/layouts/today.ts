/** The layout before version 10: a claim rewrites the wide row, an end moves it to the table of ended jobs. */
import {
  begin, claimedBody, claimedLine, createdBody, createdLine, endedBody, externalFeed, feedSql, feedTable, feedText,
  holder, numberArray, run, succeededLine, textArray, type, unpackTexts, type HeldJob, type Layout,
} from './layout.ts';
import { endedJobs, wideJobs } from './tables.ts';

export const today: Layout = {
  name: 'today',
  schema: [...wideJobs, ...endedJobs('all'), feedTable, externalFeed],

  async create(client, first, inputs) {
    const at = Date.now();
    const ids = inputs.map((_, index) => first + index);
    const text = feedText(createdLine(at), ids);
    await run(client, insert, [at, numberArray(ids), textArray(inputs), createdBody(at), createdLine(at), text, type]);
  },

  async claim(client, limit) {
    const at = Date.now();
    const begun = client.query(begin);
    const rows = await run<HeldJob & { row_ctid: string }>(client, lock, [at, limit, type]);
    await begun;
    const ids = rows.map(({ id }) => Number(id));
    const ctids = `{${rows.map(({ row_ctid: ctid }) => `"${ctid}"`).join(',')}}`;
    const line = claimedLine(at);
    const values = [at, numberArray(ids), ctids, holder, claimedBody(at), line, feedText(line, ids)];
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

const insert = `with written as (
    insert into job (id, version, created, priority, due, fence, admitted, cancel_asked, kind, type, state, phase,
      input, body, history)
    select id, 1, $1::bigint, 0, $1::bigint, 0, 0, 0, 'run', $7::text, 'pending', 'run', input, $4::text, $5::text
    from unnest($2::bigint[], ${unpackTexts('$3')}) as each (id, input) returning id
  ), ${feedSql('$1::bigint', '$6::text')} select count(*) from written`;

export const isWaiting = `kind = 'run' and type = $3 and priority = 0 and state = 'pending'
  and (gate is null or admitted = 1) and due <= $1::bigint`;

const lock = `select ctid as row_ctid, id, version, priority, due, fence, admitted, cancel_asked, type, phase, parent,
    created, kind, def, gate, input, body
  from job where ${isWaiting} order by due, id limit $2 for update skip locked`;

const take = `with written as (
    update job set version = 2, priority = 0, fence = 1, lease_until = null, admitted = 0, cancel_asked = 0,
      type = job.type, state = 'running', hold = null, phase = 'run', holder = $4::text, body = $5::text,
      history = job.history || E'\\n' || $6::text, xid = greatest(job.xid, pg_current_xact_id())
    from unnest($2::bigint[], $3::tid[]) as goal (id, row_ctid)
    where job.ctid = goal.row_ctid and job.version = 1 returning job.id
  ), ${feedSql('$1::bigint', '$7::text')} select count(*) from written`;

const end = `with written as (
    delete from job using unnest($2::bigint[]) as goal (id) cross join lateral (
      select ctid as row_ctid from job sought where sought.id = goal.id and sought.version = 2 limit 1) found
    where job.ctid = found.row_ctid and job.version = 2
    returning job.id, job.parent, job.created, job.kind, job.type, job.def, job.input,
      job.history || E'\\n' || $4::text as history
  ), inserted as (
    insert into ended (id, version, parent, created, ended_at, kind, type, def, fate, input, body, history)
    select id, 3, parent, created, $1::bigint, kind, type, def, 'succeeded', input, $3::text, history from written
  ), ${feedSql('$1::bigint', '$5::text')} select count(*) from written`;
