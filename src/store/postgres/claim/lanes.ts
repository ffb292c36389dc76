/**
 * Lanes: where pending jobs wait. A lane is a kind, a type and a priority; each is entered at its own place of the
 * index, so that a million jobs of other names, or due later, cost nothing. Which lanes there are is found by stepping
 * from one priority (and, for a pattern, from one type) to the next, a look into the index each.
 */
import { isLiteral, literalPrefix, parseGlob, toPostgresRegex } from '../../../model/glob.ts';
import { byUrgency } from '../../../model/claim-order.ts';
import { systemClock } from '../../../time/clock.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimAsk } from '../../store.ts';
import { nameArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/connection.ts';
import type { Fronts, LaneFront, Look } from './scan-cursor.ts';
import { nowText } from '../sql/server-clock.ts';

/** A job, and where its row lies: as long as it is locked, it lies still. */
export interface PlacedRow extends OpenRow {
  readonly place: string;
}

/** Jobs that are locked for this claim, best first. */
export interface Locked {
  readonly rows: readonly PlacedRow[];
  /** Of their parents those that could be locked: whether each was asked to give up. */
  readonly parents: ReadonlyMap<number, boolean>;
  /** The time when they were. */
  readonly now: number;
}

export type Asked = Pick<ClaimAsk, 'kinds' | 'names' | 'priorities'>;

/** As the partial indexes say it, to the letter. */
export const isFree = `state = 'pending' and (gate is null or admitted = 1)`;
export const isAtGate = `state = 'pending' and gate is not null and admitted = 0`;

interface Free extends Locked {
  readonly isAnyoneAtGates: boolean;
}

/** The best jobs that wait at no gate, or have passed it; locked. */
export async function freeRows(session: Session, fronts: Fronts, ask: ClaimAsk): Promise<Free> {
  const front = fronts.of(ask);
  const found = front && (await goOn(session, ask, front));
  const isEnough = found !== null && (found.rows.length === ask.limit || fronts.makesDo(ask, found.rows.length));
  const free = isEnough ? found : await lookAtAll(session, fronts, ask);
  fronts.took(ask, free.rows);
  return free;
}

/** From where the last claim ended. */
async function goOn(session: Session, ask: ClaimAsk, front: readonly LaneFront[]): Promise<Free> {
  const values: unknown[] = [session.time.given(), ask.limit];
  const list = (place: string, type: string): string => `$${values.push(place)}::${type}[]`;
  const lanes = [
    list(nameArray(front.map(({ kind }) => kind)), 'text'),
    list(nameArray(front.map(({ type }) => type)), 'text'),
    list(numberArray(front.map(({ priority }) => priority)), 'bigint'),
    list(numberArray(front.map(({ due }) => due)), 'bigint'),
    list(numberArray(front.map(({ id }) => id)), 'bigint'),
  ];
  const tables = `lane as (select * from unnest(${lanes.join(', ')}) as lane (kind, type, priority, due, id)),
    ${lock(session.schema, front.length, 'and (job.due, job.id) > (lane.due, lane.id)')}`;
  return take(session, tables, `'isAnyoneAtGates', false`, values);
}

async function lookAtAll(session: Session, fronts: Fronts, ask: ClaimAsk): Promise<Free> {
  const lookedAt = systemClock.monotonic();
  const lanesSeen = fronts.lanesSeen(ask);
  const found = await look(session, ask, lanesSeen);
  fronts.looked(ask, found, lookedAt);
  // Of those near the front too many were locked by others: what is left may lie further back in some lane.
  const isShort = lanesSeen > 1 && found.rows.length < ask.limit && found.near >= ask.limit;
  return isShort ? look(session, ask, 1) : found;
}

function look(session: Session, ask: ClaimAsk, lanesSeen: number): Promise<Locked & Look & { near: number }> {
  const { schema } = session;
  const values: unknown[] = [session.time.given(), ask.limit];
  const tables = `${lanesText(schema, ask, isFree, values)}, ${lock(schema, lanesSeen, '')}`;
  const told = `'lanes', (select coalesce(json_agg(json_build_array(kind, type, priority)), '[]') from lane),
    'near', (select count(*) from near), 'isAnyoneAtGates', ${anyoneAtGates(schema, ask)}, 'tookMs', ${tookMs}`;
  return take(session, tables, told, values);
}

/** Of the statement so far. Seen from here it would count also how long we were too busy to read the answer. */
const tookMs = 'extract(epoch from clock_timestamp() - statement_timestamp()) * 1000';

/**
 * Runs a statement whose table `best` locks jobs, and locks their parents: against a cancel, which is read after the
 * lock. One that cannot be locked at once is not waited for. What is told once for all rows comes in a row of its own.
 */
export async function take<Told>(
  session: Session,
  tables: string,
  told: string,
  values: unknown[],
): Promise<Locked & Told> {
  const { schema, time } = session;
  const text = `with recursive ${tables}, parent as materialized (
      select parent.* from (select distinct parent as id from best where parent is not null) of cross join lateral (
        select id, cancel_asked from ${schema}.job where job.id = of.id for share skip locked) parent
    ) select place, ${pendingNames} from best union all select null, ${noPending},
      json_build_object('now', ${nowText}, ${told},
        'parents', (select coalesce(json_agg(json_build_array(id, cancel_asked)), '[]') from parent))::text`;
  const found = await session.run<PlacedRow>(text, values);
  const once = JSON.parse(found.pop()!.body) as Told & { now: number; parents: [number, number][] };
  const { now, parents, ...more } = once;
  time.learn(now);
  const rows = found.map((row) => Object.assign(row, { state: 'pending' as const })).sort(byUrgency);
  return { rows, now, parents: new Map(parents.map(([id, asked]) => [id, asked === 1])), ...(more as Told) };
}

/** The columns of a pending job, those left out that it cannot have. */
export const pendingNames =
  'id, version, parent, created, priority, due, fence, admitted, cancel_asked, kind, type, def, phase, gate, input, ' +
  'body';
const noPending = pendingNames.split(', ').slice(0, -1).map(() => 'null').join(', ');

/** The tables that lock as many as the second parameter says of the jobs in `lane`. */
const lock = (schema: string, lanes: number, beyond: string): string =>
  lanes > 1 ? lockTheBest(schema, beyond) : lockInLanes(schema, beyond);

/** As many as asked for of each lane: right for one lane, and locks too many when there are several. */
const lockInLanes = (schema: string, beyond: string): string => `near as (select), best as materialized (
  select job.* from lane cross join lateral (
    select ctid as place, ${pendingNames} from ${schema}.job where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit $2::bigint for update skip locked) job
  order by job.priority desc, job.due, job.id limit $2::bigint)`;

/** Those near the front of all lanes are looked at, and locked in their order until there are enough. */
const lockTheBest = (schema: string, beyond: string): string => `near as materialized (
  select job.* from lane cross join lateral (
    select id, priority, due from ${schema}.job where ${isFree} and ${inLane} ${beyond} and due <= ${nowText}
    order by due, id limit 2 * $2::bigint + 20) job
  ), best as materialized (
  select job.* from (select id from near order by priority desc, due, id) near cross join lateral (
    select ctid as place, ${pendingNames} from ${schema}.job where ${isFree} and job.id = near.id for update skip locked) job
  limit $2::bigint)`;

export const inLane = `job.kind = lane.kind and job.type = lane.type and job.priority = lane.priority`;

/** The tables `named` (kind, type) and `lane` (kind, type, priority) for a statement that begins `with recursive`. */
export function lanesText(schema: string, ask: Asked, waits: string, values: unknown[]): string {
  const next = (from: string, further: string): string => `select kind, type, (select priority from ${schema}.job
      where ${waits} and job.kind = ${from}.kind and job.type = ${from}.type ${further}
      order by priority desc limit 1) from ${from}`;
  const chosen = ask.priorities ? `and priority = any($${values.push(numberArray(ask.priorities))}::bigint[])` : '';
  return `${namedText(schema, ask, waits, values)}, step (kind, type, priority) as (
      ${next('named', '')} union all ${next('step', 'and job.priority < step.priority')} where priority is not null
    ), lane as (select * from step where priority is not null ${chosen})`;
}

/** The kinds and types that an ask names; for a pattern those of them that wait somewhere. */
export function namedText(schema: string, { kinds, names }: Asked, waits: string, values: unknown[]): string {
  const kindList = `unnest($${values.push(nameArray([...new Set(kinds)]))}::text[]) as kinds (kind)`;
  const exact = exactNames(names);
  if (exact) {
    const types = values.push(nameArray([...new Set(exact)]));
    return `named (kind, type) as (select kind, type from ${kindList}, unnest($${types}::text[]) as types (type))`;
  }
  const glob = parseGlob((names as { glob: string }).glob);
  const [prefix, regex] = [values.push(literalPrefix(glob)), values.push(toPostgresRegex(glob))];
  const next = (kind: string, further: string): string => `(select type from ${schema}.job
      where ${waits} and job.kind = ${kind} and job.type ${further} order by type limit 1)`;
  return `stride (kind, type) as (
      select kind, ${next('kinds.kind', `>= $${prefix}::text`)} from ${kindList}
      union all
      select kind, ${next('stride.kind', '> stride.type')} from stride where starts_with(type, $${prefix}::text)
    ), named as (select kind, type from stride where type ~ $${regex}::text)`;
}

/** Null: they are a pattern. */
function exactNames(names: Asked['names']): readonly string[] | null {
  if ('exact' in names) return names.exact;
  const glob = parseGlob(names.glob);
  return isLiteral(glob) ? [literalPrefix(glob)] : null;
}

/** Whether a look at the gates is worth its while; for a pattern all types are taken for its own. */
const anyoneAtGates = (schema: string, { names }: Asked): string =>
  exactNames(names)
    ? `exists (select 1 from named cross join lateral (select 1 from ${schema}.job
        where ${isAtGate} and job.kind = named.kind and job.type = named.type limit 1) waiting)`
    : `(select true from ${schema}.job where ${isAtGate} order by kind, type, gate limit 1) is true`;
