/**
 * A layout: tables of jobs on PostgreSQL, and the least SQL that creates, claims and ends jobs in them, with a full
 * history and an entry in the feed for each batch. All layouts take the same steps as the store: a claim locks and
 * reads, then writes, in one transaction of two round trips; an end is one statement.
 */
import type pg from 'pg';

export interface Layout {
  readonly name: string;
  readonly schema: readonly string[];
  /** Opens connections of its own to the database; returns the function that closes them. */
  open?(url: string): Promise<() => Promise<void>>;
  create(client: pg.Client, first: number, inputs: readonly string[]): Promise<void>;
  /** Claims up to `limit` jobs; an empty list: none is left. */
  claim(client: pg.Client, limit: number): Promise<readonly HeldJob[]>;
  /** Ends jobs, which may come from several claims. */
  end(client: pg.Client, jobs: readonly HeldJob[]): Promise<void>;
}

export interface HeldJob {
  readonly id: number;
  /** The number of the claim, in a layout that stores claims. */
  readonly claim: number;
}

export const holder = 'bench-instance';
export const type = 'mail.send';

/** The history lines and bodies, as long as those of the store. */
const stamp = (n: number, at: number): string => `"n":${n},"at":${at},"by":"${holder}"`;
export const createdLine = (at: number): string => `[{${stamp(1, at)},"kind":"created","due":${at},"priority":0}]`;
export const claimedLine = (at: number): string => `[{${stamp(2, at)},"kind":"claimed","holder":"${holder}"}]`;
export const succeededLine = (at: number): string => `[{${stamp(3, at)},"kind":"succeeded"}]`;
export const createdBody = (at: number): string => `{"changed":${at},"policy":{"attemptsMax":3}}`;
export const claimedBody = (at: number): string =>
  `{"changed":${at},"attempt":1,"startedAt":${at},"policy":{"attemptsMax":3}}`;
export const endedBody = (at: number): string =>
  `{"changed":${at},"attempt":1,"startedAt":${at},"policy":{"attemptsMax":3},"fence":1}`;

export const feedTable = `create table feed (xid xid8 not null, seq bigint generated always as identity,
  at bigint not null, count integer not null, events text not null, primary key (xid, seq))`;
export const externalFeed = 'alter table feed alter events set storage external';

export const feedText = (line: string, ids: readonly number[]): string =>
  `[{"kind":"run","type":"${type}","parent":null,"jobs":[${ids.join(',')}],"events":${line}}]`;

/** The CTE that inserts the feed entry of the rows of `written`. */
export const feedSql = (at: string, text: string): string => `feed as (
  insert into feed (xid, at, count, events)
  select pg_current_xact_id(), ${at}, count(*), ${text} from written having count(*) > 0)`;

export const hot = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 1, vacuum_truncate = false`;

export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;
export const textArray = (texts: readonly string[]): string => texts.join('\x1e');
export const unpackTexts = (parameter: string): string => String.raw`string_to_array(${parameter}::text, E'\x1e')`;

export const begin = `begin isolation level read committed; set local plan_cache_mode = 'force_generic_plan';
  set local jit = 'off'; set local enable_bitmapscan = 'off'`;

let names = 0;
const nameOf = new Map<string, string>();

/** Executes a prepared statement. */
export async function run<Row extends pg.QueryResultRow>(
  client: pg.Client, text: string, values: readonly unknown[],
): Promise<Row[]> {
  let name = nameOf.get(text);
  if (name === undefined) nameOf.set(text, name = `layout_${names += 1}`);
  return (await client.query<Row>({ name, text, values: values as unknown[] })).rows;
}
