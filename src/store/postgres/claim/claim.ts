/**
 * Claims: the best jobs that nobody else is taking are locked, decided upon and written in one transaction.
 *
 * Nobody waits for a row: jobs that others are taking are passed over, and so are tasks whose parent is being changed
 * at this moment, since that may be a cancel. A parent that was seen is locked against it until the claim is written.
 * A newcomer that others told of, where nothing else waits, is not looked for but written as it was told.
 */
import { systemRandom } from '../../../random.ts';
import type { Change } from '../../../model/change.ts';
import { byUrgency } from '../../../model/claim-order.ts';
import { systemClock } from '../../../time/clock.ts';
import { jobOfOpen } from '../../row.ts';
import type { Candidate, ClaimAsk, ClaimDecision } from '../../store.ts';
import { claimAsTold } from './claim-by-hint.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { commitClaimed } from '../write/commit.ts';
import type { Connection, Session, Transaction } from '../sql/connection.ts';
import { oursOf } from '../write/unknown-outcome.ts';
import type { Fronts } from './scan-cursor.ts';
import { gatedRows } from './gates.ts';
import { freeRows, type Locked } from './lanes.ts';

export interface Claimer {
  readonly connection: Connection;
  readonly fronts: Fronts;
}

type Outcome = readonly Change[] | 'parents are changing';

const parentTriesMax = 10;

export async function claim(claimer: Claimer, ask: ClaimAsk, decide: ClaimDecision): Promise<readonly Change[]> {
  if (ask.limit <= 0 || ask.kinds.length === 0) return [];
  const newcomer = claimer.fronts.takeNewcomer(ask);
  const told = newcomer && (await claimAsTold(claimer.connection, newcomer, decide));
  if (told) return [told];
  for (let tries = 1; ; tries++) {
    const claimed = await claimOnce(claimer, ask, decide);
    if (claimed !== 'parents are changing') return claimed;
    if (tries === parentTriesMax) return [];
    await systemClock.sleep(1 + systemRandom.next() * 4);
  }
}

function claimOnce({ connection, fronts }: Claimer, ask: ClaimAsk, decide: ClaimDecision): Promise<Outcome> {
  let decided: readonly Change[] = [];
  let inDoubt = false;
  const attempt = async (transaction: Transaction): Promise<Outcome> => {
    if (inDoubt && decided.length > 0) return oursOf(transaction, decided);
    decided = [];
    const locked = await claimable(transaction, fronts, ask);
    const candidates = await withParents(transaction, locked);
    if (candidates.length === 0) return locked.rows.length > 0 ? 'parents are changing' : [];
    decided = decide(candidates, locked.now);
    if (decided.length === 0) return [];
    const places = new Map(locked.rows.map(({ id, place }) => [id, place]));
    const written = await commitClaimed(transaction, decided, places);
    return decided.filter((_, index) => written[index]);
  };
  return connection.transaction(attempt, () => {
    inDoubt = true;
  });
}

/** The best that may be taken, locked, best first. */
async function claimable(transaction: Transaction, fronts: Fronts, ask: ClaimAsk): Promise<Locked> {
  const free = await freeRows(transaction, fronts, ask);
  const gated = free.isAnyoneAtGates ? await gatedRows(transaction, ask) : null;
  if (!gated) return free;
  const rows = [...free.rows, ...gated.rows].sort(byUrgency).slice(0, ask.limit);
  return { rows, parents: new Map([...free.parents, ...gated.parents]), now: gated.now };
}

/** Those whose parent, if they have one, holds still: with whether it was asked to give up. */
async function withParents(session: Session, { rows, parents }: Locked): Promise<Candidate[]> {
  const unseen = rows.flatMap(({ parent }) => (parent === null || parents.has(parent) ? [] : [parent]));
  const apart = unseen.length === 0 ? null : await parentsApart(session, unseen);
  return rows.flatMap((row) => {
    if (row.parent !== null && apart?.changing.has(row.parent)) return [];
    const parentCancelled = row.parent !== null && (parents.get(row.parent) ?? apart!.cancelled.has(row.parent));
    return [{ job: jobOfOpen(row), parentCancelled }];
  });
}

interface ParentsApart {
  readonly changing: ReadonlySet<number>;
  readonly cancelled: ReadonlySet<number>;
}

/** Parents that could not be locked: someone is changing them, or they are no longer open. */
async function parentsApart(session: Session, ids: readonly number[]): Promise<ParentsApart> {
  const text = `select id, null as body from ${session.schema}.job where id = any($1::bigint[])
    union all select id, body from ${session.schema}.ended where id = any($1::bigint[])`;
  const rows = await session.run<{ id: number; body: string | null }>(text, [numberArray(ids)]);
  const isCancelled = (body: string): boolean => (JSON.parse(body) as { cancel?: unknown }).cancel !== undefined;
  return {
    changing: new Set(rows.filter(({ body }) => body === null).map(({ id }) => id)),
    cancelled: new Set(rows.filter(({ body }) => body !== null && isCancelled(body)).map(({ id }) => id)),
  };
}
