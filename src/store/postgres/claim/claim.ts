/**
 * Claims: locks the first due jobs in claim order, lets the caller decide, and writes the result, in one transaction.
 * Implements `claim` of `port/claiming.ts`.
 *
 *     claim(request)
 *       │
 *       ├─ hint for the only new job? ──► claim-by-hint.ts: one UPDATE, guarded by every value of the hint
 *       │                                   │ row changed or locked
 *       ▼                                   ▼
 *     begin                               (continue with the scan)
 *       │
 *       ├─ 1 free-jobs.ts   index job_lane (kind, type, type_version, priority desc, due, id)    gate is null or admitted = 1
 *       │      (lanes.ts)
 *       │      run mail  9   ✗ ✗ ✗ ✗ ✗ ✗ ● ● ● ○ ○          ✗ dead index entry   ● due   ○ due later
 *       │      run mail  0   ✗ ✗ ● ● ○                      ▲ scan cursor: resume here, not at the first ✗
 *       │      run build 0   ● ● ● ● ● ●                    for update skip locked, until `limit` rows
 *       │
 *       │      for a pattern with many types, lanes.ts and scan-in-order.ts take turns,
 *       │                         index job_order (kind, priority desc, due, id, type)
 *       │
 *       ├─ 2 gates.ts       index job_gate_order (admitted, state, kind, type, type_version, priority desc, due, id, gate)
 *       │      only if jobs wait at gates: advisory lock, count the admitted jobs per gate, lock as many jobs as fit;
 *       │      if too many of the first jobs are at full gates, walk the gates in index job_gate; jobs with shares take
 *       │      turns (shares.ts), index job_share (…, type_version, priority desc, key of the share, gate, due, id)
 *       │      steps 1 and 2 go in parallel, in one round trip, if the last scan saw jobs at gates; otherwise step 2
 *       │      follows step 1, if step 1 saw jobs at gates
 *       │
 *       ├─ 3 decide(candidates)      in this process, while the rows are locked
 *       ▼
 *     move jobs to one row of `claim` (write/claim-batch.ts) or update them by ctid, insert feed entry, commit
 *
 * Lanes. A lane is a kind, a type, a version and a priority, and one range of the index: jobs of versions that the
 * request does not know are not read. The lanes of a request are found by
 * seeks: from one priority to the next lower one, and for a pattern from one type to the next. Apart from these seeks,
 * jobs that are due later are not read, and jobs of other types only for a pattern with many types (scan-in-order.ts).
 * If the last scan found one lane at most, rows are locked directly. If it found several lanes, the first rows of each
 * lane are read without locks, sorted, and then locked in claim order. A claim that locked these rows as it reads them
 * would lock up to `limit` rows per lane.
 *
 * Gates. Jobs that wait at gates are in indexes of their own, so that a full gate does not slow down claims of other
 * jobs. Admitted jobs are counted from their rows and from the claims in which they run; there is no stored counter that
 * could become wrong.
 *
 * Scan cursor. Claimed rows leave dead entries at the start of each lane until a vacuum. Under load a claim resumes at
 * the last claimed (due, id) of each lane, at gates before the first job that was left, for example because its gate was
 * full. A cursor expires about two seconds after the full scan that created it, at the latest. The next full scan finds
 * jobs that were added before the cursor's position, such as retries and new jobs with an earlier due time.
 *
 * Hint. The NOTIFY for a single new run contains its columns. A claimer that knows of no other due job claims the run
 * without a scan. A hint is not trusted: the UPDATE requires that the row has every value of the hint.
 *
 * Locks, usually in this order: 1 job rows (`for update skip locked`); 2 their parents (`for share skip locked`); 3 the
 * advisory lock of the gates (waits); 4 rows at gates (`skip locked`) and their parents. Only lock 3 waits, and its
 * holder waits for no job row. Commits that write several rows lock them in the order of ids, and never take lock 3. A
 * claim that ends a job may wait for the row of the job's unique key. If this leads to a deadlock, PostgreSQL detects
 * it (40P01), and the claim is retried.
 *
 * Races, and why no job is lost or claimed twice:
 * - Two claims want a row: the second claim skips the row. If it has skipped so many rows that it has too few, it scans
 *   each lane until it has enough.
 * - A claim reads a row that another claim has just written: `for update` evaluates the condition again on the new
 *   version, which is no longer pending.
 * - A run is cancelled while its task is claimed. The cancel updates the run's row. If the cancel has locked that row,
 *   the task is skipped ('parents are changing') and claimed later. If the claim has the share lock, the cancel waits
 *   and commits after the claim. The holder of the task then learns of the cancel by its heartbeat.
 * - Two claims count the same gate: the advisory lock lasts until commit, so the second counts the jobs of the first.
 *   The second counts in a snapshot that is taken after the lock, because the isolation level is read committed.
 * - A job is added before the cursor's position: the next full scan finds it, after about two seconds at most.
 * - A NOTIFY is lost: the job is found when the claimer polls.
 * - The answer of the commit is lost: `confirmWritten` reads the histories and returns the changes that were written.
 */
import type { Change } from '../../../model/change.ts';
import { jobOfPending } from '../../row.ts';
import type { Candidate, ClaimRequest, ClaimDecision } from '../../store.ts';
import { claimByHint, type ClaimHints } from './claim-by-hint.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { commitClaimed } from '../write/commit.ts';
import { LockedRows } from '../write/locked-rows.ts';
import type { Database, Session, Transaction } from '../sql/database.ts';
import { confirmWritten } from '../write/unknown-outcome.ts';
import type { ScanCursors } from './scan-cursor.ts';
import type { PostgresGateMemory } from './gate-memory.ts';
import { gatedRows, type AdmittedJobs } from './gates.ts';
import { spendRates } from './limits.ts';
import { spentUses } from '../../limit-use.ts';
import { takeInTurns } from '../../fair-share.ts';
import { earlier } from '../../gate-admission.ts';
import { freeRows } from './free-jobs.ts';
import { readSpreads } from '../read/pauses.ts';
import { noSpreads } from '../../spreads.ts';
import { spreadRows, withSpreadRows } from './spread-jobs.ts';
import type { LockedJobs, RowWithCtid } from './lanes.ts';

export interface ClaimParts {
  readonly database: Database;
  readonly cursors: ScanCursors;
  readonly hints: ClaimHints;
  readonly gateMemory: PostgresGateMemory;
}

type ClaimOutcome = readonly Change[] | 'parents are changing';

const parentTriesMax = 10;

export async function claim(
  parts: ClaimParts,
  request: ClaimRequest,
  decide: ClaimDecision,
): Promise<readonly Change[]> {
  if (request.limit <= 0 || request.kinds.length === 0) return [];
  const hint = parts.hints.take(request);
  if (hint) {
    const change = await claimByHint(parts.database, hint, decide);
    if (change) return [change];
  }
  const { clock, random } = parts.database.driver;
  for (let tries = 1; ; tries++) {
    const claimed = await claimOnce(parts, request, decide, tries === parentTriesMax);
    if (claimed !== 'parents are changing') return claimed;
    await clock.sleep(1 + random.next() * 4);
  }
}

function claimOnce(
  parts: ClaimParts,
  request: ClaimRequest,
  decide: ClaimDecision,
  isLastTry: boolean,
): Promise<ClaimOutcome> {
  let decided: readonly Change[] = [];
  let isOutcomeUnknown = false;
  const attempt = async (transaction: Transaction): Promise<ClaimOutcome> => {
    if (isOutcomeUnknown && decided.length > 0) return confirmWritten(transaction, decided);
    decided = [];
    const locked = await claimable(transaction, parts, request);
    const candidates = await withParents(transaction, locked);
    const isBlocked = candidates.length === 0 && locked.rows.length > 0;
    if (isBlocked && !isLastTry) return 'parents are changing';
    decided = decide(candidates, locked.now, isBlocked ? beforeAll(locked) : locked.searchedAt);
    // Sent first: `commitClaimed` sends the commit, which also releases the lock of the gates.
    const spending = locked.limits && spendRates(transaction, locked.limits, spentUses(decided, locked.limits.outdated));
    const [written] = await Promise.all([
      decided.length === 0 ? [] : commitClaimed(transaction, decided, new LockedRows(locked.rows)), spending,
    ]);
    return decided.filter((_, index) => written[index]);
  };
  return parts.database.transaction(attempt, () => {
    isOutcomeUnknown = true;
  });
}

/**
 * Returns a time just before the earliest due time of the locked jobs. With this time as `searchedAt`, the caller's
 * `nextDue` returns a due time that has passed, so that the next claim does not wait.
 */
const beforeAll = ({ rows }: LockedJobs): number => Math.min(...rows.map(({ due }) => due)) - 1;

async function claimable(
  transaction: Transaction,
  { cursors, hints, gateMemory }: ClaimParts,
  request: ClaimRequest,
): Promise<LockedJobs & Partial<Pick<AdmittedJobs, 'limits'>>> {
  const expected = gateMemory.hasSpreads ? await readSpreads(transaction) : noSpreads;
  // If jobs waited at gates at the last scan, lanes and gates are read in one round trip.
  const [found, early, passing] = await Promise.all([
    freeRows(transaction, cursors, request),
    cursors.expectsGates(request) ? gatedRows(transaction, request, gateMemory, expected) : undefined,
    spreadRows(transaction, request, expected),
  ]);
  hints.recordScan(request);
  const spreads = expected.isEmpty && found.hasSpreads ? await readSpreads(transaction) : expected;
  const free = withSpreadRows(found, expected.isEmpty ? await spreadRows(transaction, request, spreads) : passing, request.limit);
  // The cursor may have passed jobs that give way to those of the spread.
  if (free !== found) cursors.forget(request);
  const gated = early === undefined && free.hasJobsAtGates ? await gatedRows(transaction, request, gateMemory, spreads) : early;
  gateMemory.hasSpreads = !spreads.isEmpty || (gated !== undefined && !gated.spreads.isEmpty);
  const opensAt = earlier(gated ? gateMemory.opensAt(request) : null, spreads.opensAt(request));
  if (!gated || opensAt !== null) gateMemory.recordOpening(request, opensAt);
  if (gated && gated.emptyAt !== null) cursors.recordNoGates(request, gated.emptyAt);
  const claimed = gated ? withGated(free, gated, request, gateMemory) : free;
  const taken = new Set(claimed.rows.map(({ id }) => id));
  cursors.recordClaim(request, free.rows, ({ id }) => taken.has(id));
  if (gated) gateMemory.cursors.recordClaim(request, gated.read, ({ id }) => taken.has(id));
  else gateMemory.cursors.forget(request);
  return claimed;
}

function withGated(
  free: LockedJobs,
  { jobs, limits, turns }: AdmittedJobs,
  request: ClaimRequest,
  { shareStops }: PostgresGateMemory,
): LockedJobs & Pick<AdmittedJobs, 'limits'> {
  if (!jobs) return { ...free, limits };
  const rows = takeInTurns([...free.rows, ...jobs.rows], turns, shareStops, request.limit);
  return { ...free, rows, parents: new Map([...free.parents, ...jobs.parents]), now: jobs.now, limits };
}

/**
 * Returns the locked jobs, each with whether its parent was asked to cancel. Leaves out jobs whose parent another
 * transaction is changing.
 */
async function withParents(session: Session, { rows, parents }: LockedJobs): Promise<Candidate[]> {
  const unlocked = rows.map(({ parent }) => parent).filter((parent) => parent !== null && !parents.has(parent)) as number[];
  const others = unlocked.length === 0 ? null : await unlockedParents(session, unlocked);
  const isFree = ({ parent }: RowWithCtid): boolean => parent === null || !others?.changing.has(parent);
  return rows.filter(isFree).map((row) => {
    const parentCancelled = row.parent !== null && (parents.get(row.parent) ?? others!.cancelled.has(row.parent));
    return { job: jobOfPending(row), parentCancelled };
  });
}

interface UnlockedParents {
  readonly changing: ReadonlySet<number>;
  readonly cancelled: ReadonlySet<number>;
}

/** Reads parents that could not be locked: another transaction has locked them, or they have ended or been deleted. */
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
