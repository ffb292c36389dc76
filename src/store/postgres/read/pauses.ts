/**
 * Pauses: the pieces of SQL by which claims leave out paused types and keys, and the wait for claims that began before
 * a pause.
 *
 * A claim that took its snapshot before the commit of a pause does not see it, and may commit later. So every statement
 * that claims names the empty table `claim_barrier` with `for key share`. PostgreSQL takes the ROW SHARE lock of a table
 * before the snapshot in which the statement is executed, and keeps it until the transaction ends. `awaitClaims` is
 * called after the commit of the pause, and waits until all transactions that had this lock have ended. A claim that
 * takes the lock later has a later snapshot, and sees the pause. No claim waits for a pause.
 */
import { keyNames } from '../../../model/gate.ts';
import { isPausable, spreadMark } from '../../../model/pause.ts';
import { never } from '../../../model/definition.ts';
import type { Kind } from '../../../model/state.ts';
import { Refusal } from '../../../refusal.ts';
import { Spreads, type PauseRecord } from '../../spreads.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';

/** The CTE `barrier`, for every statement that claims. The lock is taken although no other part reads the CTE. */
export const barrierSql = (schema: string): string =>
  `barrier as (select from ${schema}.claim_barrier where false for key share)`;

/**
 * The pauses in force. Of the partial indexes, only that of `job_pause` follows from the condition, so that pauses that
 * have ended are not read. The gate is therefore not compared with null.
 */
const inForce = `pause.kind = 'pause' and pause.state = 'pending' and pause.due > ${nowSql}`;
const ofType = `coalesce(pause.gate, '') = ''`;
const ofKey = `coalesce(pause.gate, '') <> ''`;
const inputSql = (schema: string): string =>
  `coalesce(pause.input, (select origin.input from ${schema}.origin where origin.id = pause.id))`;
/** Whether the record is that of a resume that is spread. */
const isSpreadSql = (schema: string): string => `${inputSql(schema)} like '%${spreadMark}%'`;

/**
 * The CTE `paused`: the types of the pauses in force, from one range of an index, and whether their resume is spread. A claim
 * of many types reads it once; a lookup for each type made a claim of eight types 5 % slower.
 */
export const pausedSql = (schema: string): string =>
  `paused as materialized (select type, ${isSpreadSql(schema)} as is_spread from ${schema}.job pause where ${inForce} and ${ofType})`;

/** The CTE `paused` of a statement for types that may be claimed because their resume is spread. */
export const nothingPausedSql = 'paused as (select null::text as type, false as is_spread where false)';

/** An expression over the CTE `paused`: whether there is a type whose resume is spread, perhaps one of the request. */
export const hasSpreadsSql = 'exists (select 1 from paused where is_spread)';

/** Reads the spreads of resumes. The statement takes the lock of claims, so that a later pause waits for this claim. */
export async function readSpreads(session: Session): Promise<Spreads> {
  const { schema, time } = session;
  const text = `with ${barrierSql(schema)}
    select pause.id, pause.type, pause.gate, ${inputSql(schema)} as input, ${nowSql} as now
    from ${schema}.job pause where ${inForce} and ${isSpreadSql(schema)}`;
  const found = await session.run<PauseRecord & { readonly now: number }>(text, [time.parameter()]);
  return new Spreads(found, found[0]?.now ?? 0);
}

/** A condition on rows with a type and a kind: the type is not paused. Needs the CTE `paused`. */
export function isClaimableSql(kinds: readonly Kind[], row: string): string {
  if (!kinds.some(isPausable)) return 'true';
  const others = kinds.filter((kind) => !isPausable(kind)).map((kind) => `'${kind}'`);
  const isNotPaused = `${row}.type not in (select type from paused)`;
  return others.length === 0 ? isNotPaused : `(${row}.kind in (${others.join(', ')}) or ${isNotPaused})`;
}

/**
 * A condition for the statement of a single job: no pause of its type is in force. Needs no CTE: the index `job_lane`
 * has one pause per type.
 */
export const isNotPausedSql = (schema: string, type: string): string =>
  `(select true from ${schema}.job pause where pause.state = 'pending' and pause.gate is null and pause.kind = 'pause'
    and pause.type = ${type} and pause.due > ${nowSql} limit 1) is null`;

/** The first end of a pause in force; `isNamed` is a condition on `pause.type`. Null: none ends by itself. */
export const endOfPausesSql = (schema: string, isNamed: string): string =>
  `(select due from ${schema}.job pause where ${inForce} and pause.due < ${never} and ${isNamed} order by due limit 1)`;

export interface PausedGates {
  /** Returns the names of the keys that admit no job, without those of these spreads. */
  readonly keysBeside: (spreads: Spreads) => ReadonlySet<string>;
  /** Whether the resume of a key or of a named limit is spread. */
  readonly hasSpreads: boolean;
}

/** Reads the pauses of keys, and whether there are spreads of keys and limits. */
export async function readPausedGates(session: Session): Promise<PausedGates> {
  const { schema, time } = session;
  const text = `select id, gate, ${isSpreadSql(schema)} as is_spread from ${schema}.job pause where ${inForce} and ${ofKey}`;
  const rows = await session.run<{ id: number; gate: string; is_spread: boolean }>(text, [time.parameter()]);
  return {
    keysBeside: (spreads) => keyNames(rows.filter(({ id }) => !spreads.ids.includes(id)).map(({ gate }) => gate)),
    hasSpreads: rows.some(({ is_spread: isSpread }) => isSpread),
  };
}

/** A claim cannot last longer, because the server ends a transaction that is idle for 10 s. */
const claimMaxMs = 30_000;
const pollMaxMs = 20;

/** Implements `awaitClaims` of `port/claiming.ts`. */
export async function awaitClaims(session: Session): Promise<void> {
  const { host: clock } = session.time;
  const start = clock.monotonic();
  let open = new Set(await claimsUnderWay(session));
  for (let pollMs = 1; open.size > 0; pollMs = Math.min(pollMaxMs, pollMs * 2)) {
    if (clock.monotonic() - start > claimMaxMs) throw claimsGoOn();
    await clock.sleep(pollMs);
    open = new Set(await claimsUnderWay(session)).intersection(open);
  }
}

/** Returns the transactions that claim now, by their virtual ids, which are not used again. */
async function claimsUnderWay(session: Session): Promise<string[]> {
  const text = `select virtualtransaction as id from pg_locks where locktype = 'relation' and mode = 'RowShareLock'
    and relation = '${session.schema}.claim_barrier'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  return (await session.runUnprepared<{ id: string }>(text)).map(({ id }) => id);
}

const claimsGoOn = (): Refusal => new Refusal(
  'contended',
  `claims that began before the pause have not ended within ${claimMaxMs / 1000} s: new claims respect the pause; ` +
    'pause again to wait for the others',
);
