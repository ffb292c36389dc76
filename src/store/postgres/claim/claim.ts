/**
 * Claims: the best jobs that nobody else is taking are locked, decided upon and written in one transaction.
 *
 * Nobody waits for a row: jobs that others are taking are passed over, and so are tasks whose parent is being changed
 * at this moment, since that may be a cancel. A parent that was seen is locked against it until the claim is written.
 * A job known from a hint, where nothing else waits, is claimed without a scan.
 */
import { systemRandom } from '../../../random.ts';
import type { Change } from '../../../model/change.ts';
import { byClaimOrder } from '../../../model/claim-order.ts';
import { systemClock } from '../../../time/clock.ts';
import { jobOfOpen } from '../../row.ts';
import type { Candidate, ClaimRequest, ClaimDecision } from '../../store.ts';
import { claimByHint } from './claim-by-hint.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { commitClaimed } from '../write/commit.ts';
import type { Connection, Session, Transaction } from '../sql/connection.ts';
import { confirmWritten } from '../write/unknown-outcome.ts';
import type { ScanCursors } from './scan-cursor.ts';
import { gatedRows } from './gates.ts';
import { freeRows, type LockedJobs } from './lanes.ts';

export interface ClaimParts {
  readonly connection: Connection;
  readonly cursors: ScanCursors;
}

type ClaimOutcome = readonly Change[] | 'parents are changing';

const parentTriesMax = 10;

export async function claim(
  parts: ClaimParts,
  request: ClaimRequest,
  decide: ClaimDecision,
): Promise<readonly Change[]> {
  if (request.limit <= 0 || request.kinds.length === 0) return [];
  const hint = parts.cursors.takeHint(request);
  const hinted = hint && (await claimByHint(parts.connection, hint, decide));
  if (hinted) return [hinted];
  for (let tries = 1; ; tries++) {
    const claimed = await claimOnce(parts, request, decide);
    if (claimed !== 'parents are changing') return claimed;
    if (tries === parentTriesMax) return [];
    await systemClock.sleep(1 + systemRandom.next() * 4);
  }
}

function claimOnce(
  { connection, cursors }: ClaimParts,
  request: ClaimRequest,
  decide: ClaimDecision,
): Promise<ClaimOutcome> {
  let decided: readonly Change[] = [];
  let isOutcomeUnknown = false;
  const attempt = async (transaction: Transaction): Promise<ClaimOutcome> => {
    if (isOutcomeUnknown && decided.length > 0) return confirmWritten(transaction, decided);
    decided = [];
    const locked = await claimable(transaction, cursors, request);
    const candidates = await withParents(transaction, locked);
    if (candidates.length === 0) return locked.rows.length > 0 ? 'parents are changing' : [];
    decided = decide(candidates, locked.now);
    if (decided.length === 0) return [];
    const ctids = new Map(locked.rows.map(({ id, place }) => [id, place]));
    const written = await commitClaimed(transaction, decided, ctids);
    return decided.filter((_, index) => written[index]);
  };
  return connection.transaction(attempt, () => {
    isOutcomeUnknown = true;
  });
}

/** The best that may be taken, locked, best first. */
async function claimable(transaction: Transaction, cursors: ScanCursors, request: ClaimRequest): Promise<LockedJobs> {
  const free = await freeRows(transaction, cursors, request);
  const gated = free.isAnyoneAtGates ? await gatedRows(transaction, request) : null;
  if (!gated) return free;
  const rows = [...free.rows, ...gated.rows].sort(byClaimOrder).slice(0, request.limit);
  return { rows, parents: new Map([...free.parents, ...gated.parents]), now: gated.now };
}

/** Those whose parent, if they have one, holds still: with whether it was asked to give up. */
async function withParents(session: Session, { rows, parents }: LockedJobs): Promise<Candidate[]> {
  const unlocked = rows.flatMap(({ parent }) => (parent === null || parents.has(parent) ? [] : [parent]));
  const others = unlocked.length === 0 ? null : await unlockedParents(session, unlocked);
  return rows.flatMap((row) => {
    if (row.parent !== null && others?.changing.has(row.parent)) return [];
    const parentCancelled = row.parent !== null && (parents.get(row.parent) ?? others!.cancelled.has(row.parent));
    return [{ job: jobOfOpen(row), parentCancelled }];
  });
}

interface UnlockedParents {
  readonly changing: ReadonlySet<number>;
  readonly cancelled: ReadonlySet<number>;
}

/** Parents that could not be locked: someone is changing them, or they are no longer open. */
async function unlockedParents(session: Session, ids: readonly number[]): Promise<UnlockedParents> {
  const text = `select id, null as body from ${session.schema}.job where id = any($1::bigint[])
    union all select id, body from ${session.schema}.ended where id = any($1::bigint[])`;
  const rows = await session.run<{ id: number; body: string | null }>(text, [numberArray(ids)]);
  const isCancelled = (body: string): boolean => (JSON.parse(body) as { cancel?: unknown }).cancel !== undefined;
  return {
    changing: new Set(rows.filter(({ body }) => body === null).map(({ id }) => id)),
    cancelled: new Set(rows.filter(({ body }) => body !== null && isCancelled(body)).map(({ id }) => id)),
  };
}
