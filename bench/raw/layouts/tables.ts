/** Tables that several layouts share: the columns of open and of ended jobs. */
import { hot } from './layout.ts';

/** The columns that claims, leases and families need. */
const narrow = `id bigint not null, version bigint not null, parent bigint, created bigint not null,
  priority bigint not null, due bigint not null, fence bigint not null, lease_until bigint,
  xid xid8 not null default pg_current_xact_id(), admitted smallint not null, cancel_asked smallint not null,
  kind text collate "C" not null, type text collate "C" not null, def text collate "C",
  state text collate "C" not null, hold text collate "C", phase text collate "C" not null, holder text collate "C",
  gate text collate "C"`;

const indexes = [
  `create index job_lane on job (kind, type, priority desc, due, id)
    where state = 'pending' and (gate is null or admitted = 1)`,
  `create index job_gate on job (kind, type, gate, priority desc, due, id)
    where state = 'pending' and gate is not null and admitted = 0`,
  `create index job_gate_order on job (kind, type, priority desc, due, id, gate)
    where state = 'pending' and gate is not null and admitted = 0`,
  `create index job_order on job (kind, priority desc, due, id, type)
    where state = 'pending' and (gate is null or admitted = 1) and kind in ('bedrock', 'mock', 'def')`,
  `create index job_admitted on job (gate) where gate is not null and admitted = 1`,
  `create index job_running on job (lease_until) where state = 'running'`,
  `create index job_parent on job (parent, id) where parent is not null`,
  `create index job_waits_for_children on job (id) where hold = 'children'`,
  `create index job_def on job (def, id) where def is not null`,
  `create index job_definition on job (kind, id) where kind = 'def'`,
  `create index job_bedrock on job (type, id) where kind in ('bedrock', 'mock')`,
];

/** The open jobs with all that they have, as in the schema of the store before version 10. */
export const wideJobs = [
  `create table job (${narrow}, input text not null, body text not null, history text not null, primary key (id))
    with (fillfactor = 90, ${hot})`,
  ...indexes,
];

/** The open jobs; what a job has from its creation is in `origin`, until a change gives the row a body of its own. */
export const narrowJobs = (jobIndexes: 'all' | 'lane' = 'all'): string[] => [
  `create table job (${narrow}, input text, body text, history text, primary key (id)) with (fillfactor = 90, ${hot})`,
  ...(jobIndexes === 'all' ? indexes : indexes.slice(0, 1)),
  `create table origin (id bigint primary key, version bigint not null, created bigint not null, parent bigint,
    priority bigint not null, due bigint not null, kind text collate "C" not null, type text collate "C" not null,
    def text collate "C", gate text collate "C", phase text collate "C" not null,
    input text not null, body text not null, history text not null)`,
];

export type EndedIndexes = 'all' | 'merged' | 'few' | 'one' | 'main' | 'mainFew';

const partial = [
  `create index ended_parent on ended (parent, id) include (kind, type, fate) where parent is not null`,
  `create index ended_def on ended (def, id) where def is not null`,
  `create index ended_not_succeeded on ended (fate, id) where fate <> 'succeeded'`,
  `create index ended_not_succeeded_top on ended (fate, type, id) include (kind, def, created)
    where kind <> 'task' and fate <> 'succeeded'`,
  `create index ended_purge on ended (purge_at) where purge_at is not null`,
  `create index ended_at_own_retention on ended (ended_at)
    where kind <> 'task' and (parent is not null or purge_at is not null)`,
];
const byId = 'alter table ended add primary key (id)';
const byType = `create index ended_type on ended (type, id) where kind <> 'task'`;
const top = `create index ended_top on ended (id) where kind <> 'task'`;
const byTime = `create index ended_at_default_retention on ended (ended_at) where parent is null and purge_at is null`;
const merged = `create unique index ended_id on ended ((kind = 'task'), id)`;

const indexSets: Readonly<Record<EndedIndexes, readonly string[]>> = {
  all: [byId, byType, top, byTime, ...partial],
  merged: [merged, byType, byTime, ...partial],
  few: [byId, byType, ...partial],
  one: [byId],
  main: [byId, byType, top, byTime],
  mainFew: [byId, byType],
};

export const endedJobs = (indexSet: EndedIndexes): string[] => [
  `create table ended (id bigint not null, version bigint not null, parent bigint, created bigint not null,
    ended_at bigint not null, purge_at bigint, kind text collate "C" not null, type text collate "C" not null,
    def text collate "C", fate text collate "C" not null, input text, result text, body text, history text not null)
    with (vacuum_truncate = false)`,
  ...indexSets[indexSet],
];
