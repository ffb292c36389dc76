/**
 * The statements that write changes, one for each way a job can go: into the open table, on within it, to the ended
 * one, back, or on within that. Each writes only rows that are as they were seen, and one entry of the feed for those.
 *
 * A queue's table may be empty when it is vacuumed and hold a million rows a second later, with the planner still
 * thinking of one. So no statement leaves it a choice: each row is looked up by itself, through the index of its id
 * (`find`), and then written where it lies.
 */
import type { Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import { nameArray, numberArray, packed, rowsText, shapedText, type Said } from '../sql/row-parameters.ts';
import type { Session } from '../sql/connection.ts';
import {
  asideField, endFields, freedKey, keyFields, movesAside, newFields, placeField, reopenFields, updateFields, wantedKey,
  type Places,
} from './fields.ts';
import { nowText } from '../sql/server-clock.ts';
import { kept } from '../sql/statement-cache.ts';
import { lastTold, tell, toldOf } from './feed-sql.ts';
import { openNames, endedNames, movedText, endedText, addedLine } from './row-sql.ts';
import { updateLone, endLone, sendLone, type Written } from './single-row.ts';

export type Way = 'insert' | 'update' | 'end' | 'reopen' | 'amend' | 'delete';

export function wayOf({ before, after }: Change): Way {
  if (after === null) return 'delete';
  if (before === null) return 'insert';
  if (isOpen(before)) return isOpen(after) ? 'update' : 'end';
  return isOpen(after) ? 'reopen' : 'amend';
}

/** New jobs, with the keys that they take. */
export const keyedFields = [...newFields, ...keyFields];

/** Careful: ids may be taken already, and each is looked for. The usual new job need not pay for that. */
export type Care = 'quick' | 'careful';

type Writer = (session: Session, changes: readonly Change[], care: Care, places?: Places) => Promise<Written>;

/** Changes that all go the same way. Rows are locked in the order of their ids, by all: none wait in a circle. */
export function write(
  session: Session,
  care: Care,
  way: Exclude<Way, 'delete'>,
  changes: readonly Change[],
  places?: Places,
): Promise<Written> {
  return writers[way](session, changes.toSorted((a, b) => idOf(a) - idOf(b)), care, places);
}

export const idOf = ({ before, after }: Change): number => (before ?? after)!.id;

const writers: Readonly<Record<Exclude<Way, 'delete'>, Writer>> = { insert, update, end, reopen, amend };

async function insert(session: Session, changes: readonly Change[], care: Care): Promise<Written> {
  const isQuick = care === 'quick' && changes.every((change) => wantedKey(change) === null);
  if (isQuick && (await insertQuickly(session, changes))) return 'all';
  const values = [session.time.given()];
  const fresh = rowsText(keyedFields, changes, values);
  const text = `with fresh as materialized (${fresh}), ${insertCarefully(session.schema)}`;
  return send(session, text, values, changes);
}

/**
 * All of them, or none where an id near theirs is that of an ended job; one that an open job has is an error. It is the
 * statement of a lone new job, so it has few parts, and its text is kept. Changes go by id.
 */
async function insertQuickly(session: Session, changes: readonly Change[]): Promise<boolean> {
  const { shape, texts } = packed(newFields, changes);
  const range = [idOf(changes[0]!), idOf(changes.at(-1)!)];
  const values = [session.time.given(), ...range, changes.length, toldOf(changes), ...texts];
  const [row] = await session.run<{ now: number; written: boolean }>(quickText(session.schema, shape), values);
  session.time.learn(row!.now);
  return row!.written;
}

const quickText = kept((schema: string, shape: string) => `with written as (
    insert into ${schema}.job (${openNames}) select * from (${shapedText(newFields, shape, 6)}) fresh
    where not coalesce((select id from ${schema}.ended where id >= $2 order by id limit 1) <= $3, false) returning id
  ), feed as (
    insert into ${schema}.feed (told, at, count, events)
    select pg_current_xact_id(), ${nowText}, $4::bigint, $5::text where exists (select 1 from written)
  ) select ${nowText} as now, exists (select 1 from written) as written`);

/** New jobs whose id is nobody's and whose key, if they have one, is free. Keys are taken in one order by everybody. */
export const insertCarefully = (schema: string): string => `newcomer as materialized (
    select fresh.* from fresh
      left join lateral (select id from ${schema}.job where job.id = fresh.id limit 1) open on true
      left join lateral (select id from ${schema}.ended where ended.id = fresh.id limit 1) ended on true
    where open.id is null and ended.id is null
  ), won as (${takeKeys(schema, 'newcomer')}), written as (
    insert into ${schema}.job (${openNames})
      select ${openNames} from newcomer where key is null or exists (select 1 from won where won.job = newcomer.id)
      on conflict (id) do nothing returning id, kind, type, parent, history as line, told
  )`;

const takeKeys = (schema: string, source: string): string => `insert into ${schema}.taken as held (key, job, until)
  select distinct on (key) key, id, key_until from ${source} where key is not null order by key, id
  on conflict (key) do update set job = excluded.job, until = excluded.until where held.until <= ${nowText}
  returning job`;

function update(session: Session, changes: readonly Change[], _care: Care, places?: Places): Promise<Written> {
  const isAside = changes.some(movesAside);
  if (changes.length === 1 && !isAside) return sendLone(session, updateLone, updateFields, changes[0]!);
  const { schema } = session;
  const values = [session.time.given()];
  const more = isAside ? asideField : places ? placeField(places) : [];
  const goal = rowsText([...updateFields, ...more], changes, values);
  const found = places && !isAside ? findAt(schema) : find(schema, 'job');
  const written = `update ${schema}.job set ${movedText(ofGoal)}, history = ${historyText('job', isAside)}
    from (${goal}) goal ${found} where ${isFound('job')}
    returning job.id, job.kind, job.type, job.parent, goal.line, job.told`;
  const aside = isAside ? `aside as (${moveAside(schema, 'job', goal)}), ` : '';
  return send(session, `with ${aside}written as (${written})`, values, changes);
}

function end(session: Session, changes: readonly Change[]): Promise<Written> {
  if (changes.length === 1 && freedKey(changes[0]!) === null) return sendLone(session, endLone, endFields, changes[0]!);
  const { schema } = session;
  const values = [session.time.given()];
  const goal = rowsText(endFields, changes, values);
  const freed = freeKeys(schema, changes, values);
  const text = `with written as (
      delete from ${schema}.job using (${goal}) goal ${find(schema, 'job')}
      where ${isFound('job')} returning ${endedText(ofGoal)}, goal.line, ${lastTold} as told
    ), kept as (insert into ${schema}.ended (${endedNames}) select ${endedNames} from written)${freed}`;
  return send(session, text, values, changes);
}

function reopen(session: Session, changes: readonly Change[]): Promise<Written> {
  const { schema } = session;
  const values = [session.time.given()];
  const goal = rowsText(reopenFields, changes, values);
  const text = `with seen as materialized (
      select goal.*, found.place from (${goal}) goal ${find(schema, 'ended')}
    ), won as (${takeKeys(schema, 'seen')}), gone as (
      delete from ${schema}.ended using seen
      where ended.ctid = seen.place and ended.version = seen.seen
        and (seen.key is null or exists (select 1 from won where won.job = seen.id))
      returning seen.*, ended.parent, ended.created, ended.kind, ended.def,
        ended.history || E'\\n' || seen.line as history
    ), kept as (insert into ${schema}.job (${openNames}) select ${openNames} from gone),
    written as (select id, kind, type, parent, line, pg_current_xact_id() as told from gone)`;
  return send(session, text, values, changes);
}

function amend(session: Session, changes: readonly Change[]): Promise<Written> {
  const { schema } = session;
  const values = [session.time.given()];
  const isAside = changes.some(movesAside);
  const goal = rowsText(isAside ? [...endFields, ...asideField] : endFields, changes, values);
  const written = `update ${schema}.ended set version = goal.version, ended_at = goal.ended_at,
      purge_at = goal.purge_at, type = goal.type, fate = goal.fate, input = coalesce(goal.input, ended.input),
      result = goal.result, body = goal.body, history = ${historyText('ended', isAside)}
    from (${goal}) goal ${find(schema, 'ended')} where ${isFound('ended')}
    returning ended.id, ended.kind, ended.type, ended.parent, goal.line, pg_current_xact_id() as told`;
  const aside = isAside ? `aside as (${moveAside(schema, 'ended', goal)}), ` : '';
  return send(session, `with ${aside}written as (${written})`, values, changes);
}

/** As the rows say it that are joined to the statement. */
const ofGoal: Said = (column) => `goal.${column}`;

const historyText = (table: 'job' | 'ended', isAside: boolean): string => {
  const added = addedLine(ofGoal, table);
  return isAside ? `case when goal.aside = 1 then goal.line else ${added} end` : added;
};

const moveAside = (schema: string, table: 'job' | 'ended', goal: string): string =>
  `insert into ${schema}.chunk (job, upto, lines)
    select goal.id, goal.seen, found.history from (${goal}) goal ${find(schema, table, 'history')} where goal.aside = 1`;

/** The place of the row that each of `goal` is about, if it is still as it was seen. */
const find = (schema: string, table: 'job' | 'ended', also?: string): string => `cross join lateral (
  select ctid as place${also ? `, ${also}` : ''} from ${schema}.${table} sought
  where sought.id = goal.id and sought.version = goal.seen limit 1) found`;

/** The same where its place is known; it is that job's, or the place is wrong. */
const findAt = (schema: string): string => `cross join lateral (
  select ctid as place from ${schema}.job sought
  where sought.ctid = goal.place and sought.id = goal.id and sought.version = goal.seen limit 1) found`;

/**
 * Whether a row lies there and, if someone else changed it meanwhile, is still as it was seen. A condition that is never
 * sure keeps the planner from remembering rows for a second visit: they come once, and remembering cost a fifth.
 */
const isFound = (table: 'job' | 'ended'): string =>
  `${table}.ctid = found.place and ${table}.version = goal.seen and ${table}.version > -random()`;

/** The keys of jobs that end are free, unless they were taken for a time. */
function freeKeys(schema: string, changes: readonly Change[], values: unknown[]): string {
  const keyed = changes.filter((change) => freedKey(change) !== null);
  if (keyed.length === 0) return '';
  const [ids, keys] = [values.push(numberArray(keyed.map(idOf))), values.push(nameArray(keyed.map(freedKey)))];
  return `, freed as (delete from ${schema}.taken using written
    join unnest($${ids}::bigint[], $${keys}::text[]) as free (job, key) on free.job = written.id cross join lateral (
      select ctid as place from ${schema}.taken held where held.key = free.key and held.job = free.job limit 1) found
    where taken.ctid = found.place)`;
}

/** The statement's end, alike for all: what was written is told in the feed, and answered. */
async function send(session: Session, text: string, values: unknown[], changes: readonly Change[]): Promise<Written> {
  const wanted = `$${values.push(changes.length)}::bigint`;
  const told = `$${values.push(toldOf(changes))}::text`;
  const whole = `${text}, ${tell(session.schema, wanted, told)}
    select ${nowText} as now, count,
      case when count < ${wanted} then (select string_agg(id::text, ',') from written) end as ids from told`;
  const [row] = await session.run<{ now: number; ids: string | null; count: number }>(whole, values);
  const { now, ids, count } = row!;
  session.time.learn(now);
  if (ids === null) return Number(count) === 0 ? new Set() : 'all';
  return new Set(ids.split(',').map(Number));
}

/** In the order of their ids, waiting for whoever has them. */
export async function lockById(session: Session, table: 'job' | 'ended', ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const text = `select 1 from unnest($1::bigint[]) as wanted (id) cross join lateral (
    select 1 from ${session.schema}.${table} row where row.id = wanted.id for update) locked`;
  await session.run(text, [numberArray(ids.toSorted((a, b) => a - b))]);
}
