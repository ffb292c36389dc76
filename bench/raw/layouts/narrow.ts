/** What the layouts with a table of origins share: the insert, and the lock of a claim. */
import type pg from 'pg';
import {
  createdBody, createdLine, feedSql, feedText, numberArray, run, textArray, type, unpackTexts, type HeldJob,
} from './layout.ts';
import { isWaiting } from './today.ts';

export async function insertNarrow(client: pg.Client, first: number, inputs: readonly string[]): Promise<void> {
  const at = Date.now();
  const ids = inputs.map((_, index) => first + index);
  const text = feedText(createdLine(at), ids);
  await run(client, insert, [at, numberArray(ids), textArray(inputs), createdBody(at), createdLine(at), text, type]);
}

const insert = `with fresh as materialized (
    select id, input from unnest($2::bigint[], ${unpackTexts('$3')}) as each (id, input)
  ), stored as (
    insert into origin (id, version, created, priority, due, kind, type, phase, input, body, history)
    select id, 1, $1::bigint, 0, $1::bigint, 'run', $7::text, 'run', input, $4::text, $5::text from fresh
  ), written as (
    insert into job (id, version, created, priority, due, fence, admitted, cancel_asked, kind, type, state, phase)
    select id, 1, $1::bigint, 0, $1::bigint, 0, 0, 0, 'run', $7::text, 'pending', 'run' from fresh returning id
  ), ${feedSql('$1::bigint', '$6::text')} select count(*) from written`;

export interface LockedRow extends HeldJob {
  readonly row_ctid: string;
}

export const lockNarrow = (client: pg.Client, at: number, limit: number): Promise<LockedRow[]> =>
  run<LockedRow>(client, lock, [at, limit, type]);

const lock = `with best as materialized (
    select ctid as row_ctid, id, version, priority, due, fence, admitted, cancel_asked, type, phase, parent, created,
      kind, def, gate, input, body
    from job where ${isWaiting} order by due, id limit $2 for update skip locked
  ) select best.*, found.origin_input, found.origin_body from best left join lateral (
    select input as origin_input, body as origin_body from origin where origin.id = best.id and best.input is null
    limit 1) found on true`;

export const ctidArray = (rows: readonly LockedRow[]): string => `{${rows.map((row) => `"${row.row_ctid}"`).join(',')}}`;
