/**
 * Staging: children are stored as packed rows, which no query finds. The commit that names their parent and fence
 * inserts them as jobs. The children of one call of `stageChildren` are a piece, one row of table `staged`. The row
 * also records which columns vary and how the children must be inserted.
 *
 * Saves (bench/LEDGER.md, "columns in which tasks agree are packed once"): planning a run 85 → 32 µs a task. Implements
 * `stageChildren` of `port/writing.ts`.
 */
import type { Change } from '../../../model/change.ts';
import { neededKey } from '../../../model/unique-key.ts';
import { textArray, packRows, unpackedRowsSql } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { newFields } from './fields.ts';
import { nowSql } from '../sql/server-clock.ts';
import { idOf } from './id-of.ts';
import { checkedInsertSql, newKeyedFields, type InsertMode } from './statements.ts';
import { newJobNames, originNames } from './row-sql.ts';
import { feedEntryText } from './feed-sql.ts';

/** The fields of a piece. If a child has a unique key, there are two more: the key, and the end of its period. */
const stagedFields: Readonly<Record<InsertMode, typeof newFields>> = { fast: newFields, checked: newKeyedFields };

export async function stageChildren(
  session: Session,
  parent: number,
  fence: number,
  children: readonly Change[],
): Promise<void> {
  if (children.length === 0) return;
  const mode = children.some((change) => neededKey(change) !== null) ? 'checked' : 'fast';
  const { varyingColumns, texts } = packRows(stagedFields[mode], children);
  // `do nothing`: after a lost connection the piece may already be stored.
  const text = `insert into ${session.schema}.staged
      (parent, fence, first, count, insert_mode, varying_columns, packed, events)
    values ($1, $2, $3, $4, $5, $6, $7::text[], $8) on conflict do nothing`;
  const piece = [idOf(children[0]!), children.length, mode, varyingColumns, textArray(texts), feedEntryText(children)];
  await session.run(text, [parent, fence, ...piece]);
}

interface StagedGroup {
  readonly insert_mode: InsertMode;
  readonly varying_columns: string;
}

/** Inserts the staged children of a parent as jobs; returns whether all were inserted. */
export async function unstage(session: Session, parent: number, fence: number): Promise<boolean> {
  const text = `select distinct insert_mode, varying_columns from ${session.schema}.staged
    where parent = $1 and fence = $2`;
  const groups = await session.run<StagedGroup>(text, [parent, fence]);
  const answers = await Promise.all(groups.map((group) => unstageGroup(session, parent, fence, group)));
  return !answers.includes(false);
}

/**
 * Inserts the pieces with these varying columns and this insert mode; returns whether all their children were inserted.
 */
export async function unstageGroup(
  session: Session,
  parent: number,
  fence: number,
  { insert_mode: mode, varying_columns: varyingColumns }: StagedGroup,
): Promise<boolean> {
  const { schema, time } = session;
  const fresh = unpackedRowsSql(
    stagedFields[mode], varyingColumns, '(select * from piece order by first) piece', 'piece.packed',
  );
  const insertChecked = `fresh as materialized (${fresh}), ${checkedInsertSql(schema)}`;
  const text = `with piece as materialized (
      delete from ${schema}.staged where parent = $2 and fence = $3 and insert_mode = $4 and varying_columns = $5
      returning first, count, packed, events
    ), ${mode === 'fast' ? insertStaged(schema, fresh) : insertChecked},
    feed as (
      insert into ${schema}.feed (xid, at, count, events)
        select pg_current_xact_id(), ${nowSql}, count, events from piece order by first
    ) select coalesce((select sum(count) from piece), 0)::bigint as wanted, 
      least((select count(*) from opened), (select count(*) from written)) as written`;
  const values = [time.parameter(), parent, fence, mode, varyingColumns];
  const [row] = await session.run<{ wanted: number; written: number }>(text, values);
  return row!.written === row!.wanted;
}

/**
 * Inserts children without unique keys. Each id is looked up in `ended` only if `ended` has an id that is equal to the
 * first staged id or higher.
 */
const insertStaged = (schema: string, fresh: string): string => `fresh as materialized (
    select * from (${fresh}) fresh
      where (select id from ${schema}.ended where ended.id >= (select min(first) from piece) order by id limit 1) is null
        or (select true from ${schema}.ended where ended.id = fresh.id limit 1) is not true
  ), opened as (
    insert into ${schema}.job (${newJobNames}) select ${newJobNames} from fresh on conflict (id) do nothing
      returning 1
  ), written as (
    insert into ${schema}.origin (${originNames}) select ${originNames} from fresh on conflict (id) do nothing returning 1
  )`;
