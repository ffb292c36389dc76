/**
 * Gates: locks due jobs whose gates have room. `admittedPerGate` counts the admitted jobs of each gate, `ClaimedLimits`
 * reads the named limits of gates, and `GateAdmissions` computes from both how many more jobs each gate admits. See
 * claim.ts. Implements `admittedPerGate` of `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { encodedShare, gateWithoutCosts, noLimits, GateAdmissions } from '../../../model/gate.ts';
import { noTurns, turnsOf, type ShareTurns, type TypedLane } from '../../fair-share.ts';
import { admitInOrder, earlier, gateLaneRows } from '../../gate-admission.ts';
import { noSpreads, type Spreads } from '../../spreads.ts';
import type { GatedType, WaitingJob } from '../../waiting-job.ts';
import type { ClaimRequest } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { firstWaiting, lockFirst, setSorts, waitingBehind, waitingInSpread, type WaitingRow } from './gate-lanes.ts';
import type { PostgresGateMemory } from './gate-memory.ts';
import { isAtGate, isStillAtGate, lockAndRead, lockedNames, type LockedJobs } from './lanes.ts';
import { ClaimedLimits } from './limits.ts';
import { fromCursorOn, type LaneCursor, type ScanCursors } from './scan-cursor.ts';
import { nowSql } from '../sql/server-clock.ts';
import { claimedIdsSql } from '../read/claimed.ts';
import { readPausedGates, readSpreads } from '../read/pauses.ts';
import { linesInTurns } from './shares.ts';
import { onePerJob, spreadLanes } from './spread-jobs.ts';

/**
 * Locks jobs that their gates admit now, and returns them in claim order. If the last claim found no full gate, one
 * round trip both locks the first waiting jobs and counts the admitted jobs.
 */
export async function gatedRows(
  session: Session,
  request: ClaimRequest,
  memory: PostgresGateMemory,
  known = noSpreads,
): Promise<AdmittedJobs> {
  const limits = new ClaimedLimits(session);
  const [, first, admitted, paused] = await Promise.all([
    session.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`stint ${session.schema} gates`]),
    memory.isCrowded || !known.isEmpty ? null : lockFirst(session, memory.cursors, request),
    admittedPerGate(session),
    readPausedGates(session),
    limits.load(memory.limitedGates),
  ]);
  const spreads = known.isEmpty && paused.hasSpreads ? await readSpreads(session) : known;
  if (first) await limits.load(first.rows.map(({ gate }) => gate!));
  const pausedKeys = paused.keysBeside(spreads);
  const admissions = (): GateAdmissions =>
    new GateAdmissions(admitted, request.limits ?? noLimits, request.isLeader ?? false, limits, pausedKeys);
  const walk = (): GateWalk => ({ request, memory, limits, spreads, admissions: admissions() });
  const found = (first && spreads.isEmpty ? admitFirst(first, walk()) : null) ?? (await search(session, memory.cursors, walk));
  memory.limitedGates = [...limits.gates].slice(-limitedGatesMax);
  return { ...found, emptyAt: first?.emptyAt ?? null, limits, spreads };
}

export interface AdmittedJobs {
  /** The jobs that were locked and admitted; null: there is none. */
  readonly jobs: LockedJobs | null;
  readonly turns: ShareTurns;
  /** The jobs that were read, those of each lane in claim order. The next claim continues behind those that are taken. */
  readonly read: readonly LaneCursor[];
  /** See `FirstLocked`. */
  readonly emptyAt: number | null;
  /** The named limits that were read. */
  readonly limits: ClaimedLimits;
  /** The spreads that were respected. */
  readonly spreads: Spreads;
}

/**
 * Of how many gates the next claim reads the named limits before it knows its jobs, in the round trip that locks them.
 */
const limitedGatesMax = 16;

/**
 * Returns the locked jobs that their gates admit. Null: a gate is full, and later jobs, which are not locked yet, may
 * be admitted instead, or a job has a share, so that other jobs may have the next turns.
 */
function admitFirst(first: LockedJobs, { request, memory, admissions }: GateWalk): AdmittedInTurns | null {
  if (first.rows.some(({ gate }) => encodedShare(gate!) !== null)) return null;
  const rows = first.rows.filter(({ gate }) => admissions.admit(gate!));
  memory.isCrowded = rows.length < first.rows.length;
  if (memory.isCrowded && first.rows.length === request.limit) return null;
  memory.recordOpening(request, admissions.opensAt);
  return { jobs: { ...first, rows }, turns: noTurns, read: first.rows };
}

type AdmittedInTurns = Pick<AdmittedJobs, 'jobs' | 'turns' | 'read'>;

/** Locks jobs that their gates admit, after it has chosen them. `walk` begins with no job admitted. */
async function search(session: Session, cursors: ScanCursors, walk: () => GateWalk): Promise<AdmittedInTurns> {
  const { request, memory } = walk();
  const [, { rows: chosen, read }] = await Promise.all([
    setSorts(session, 'off'),
    fromCursorOn(cursors, request, {
      behind: (cursor) => choose(session, walk(), waitingBehind(session, request, cursor)),
      all: () => choose(session, walk(), firstWaiting(session, cursors, request)),
    }),
  ]);
  const turns = turnsOf(chosen);
  const [, locked] = await Promise.all([setSorts(session, 'on'), chosen.length === 0 ? null : lockWaiting(session, chosen)]);
  if (locked) passLocked(turns, new Set(locked.rows.map(({ id }) => id)), memory);
  return { jobs: locked, turns, read };
}

interface ChosenJobs {
  readonly rows: readonly WaitingJob[];
  readonly read: readonly LaneCursor[];
}

/** Chooses jobs that their gates admit, and does not lock them. `first` are the first due jobs of each lane. */
async function choose(session: Session, walk: GateWalk, first: Promise<WaitingRow[]>): Promise<ChosenJobs> {
  const { request, memory, limits, admissions, spreads } = walk;
  const inSpread = spreadLanes(request, spreads).map((lanes) => waitingInSpread(session, lanes));
  const [read, ...others] = await Promise.all([first, ...inSpread]);
  const waiting = onePerJob([read, ...others]);
  await limits.load(waiting.map(({ gate }) => gate));
  const claim = { stops: memory.shareStops, admissions, limits, spreads, limit: request.limit };
  const lines = await linesInTurns(session, lanesOf(waiting, request.limit, spreads), claim);
  const { jobs, isComplete, isCrowded } = admitInOrder(lines, ({ gate }) => admissions.admit(gate), request.limit);
  memory.isCrowded = isCrowded || lines.length > 1;
  const more = isComplete ? [] : await admitByWalk(session, walk, waiting, jobs);
  memory.recordOpening(request, earlier(admissions.opensAt, spreads.opensAt(request)));
  return { rows: [...jobs, ...more], read };
}

/** Records the turns of jobs that another transaction has locked, so that the next claim does not choose them again. */
function passLocked(turns: ShareTurns, locked: ReadonlySet<number>, { shareStops }: PostgresGateMemory): void {
  for (const [id, turn] of turns) if (!locked.has(id)) shareStops.record(turn);
}

/**
 * Counts the admitted jobs of each gate: those with rows of their own, and those that run in claims. One statement reads
 * both, so that a job that moves from a claim to a row counts once. Of a claim whose jobs have one gate, the number of its
 * jobs is read, which is exact (claim-tally.ts), and not which jobs these are.
 */
export async function admittedPerGate(session: Session, types?: readonly string[]): Promise<Map<string, number>> {
  const { schema } = session;
  const ofTypes = types ? 'and type = any($1::text[])' : '';
  const typeOfClaimed = types
    ? `cross join lateral (select type from ${schema}.origin where origin.id = claimed.id limit 1) origin`
    : '';
  const isCounted = types ? 'false' : hasCommonGate;
  const unpacked = { where: `claim.gates is not null and not (${isCounted})`, also: 'gate' } as const;
  const text = `select gate, sum(count)::bigint as count from (
      select gate, 1 as count from ${schema}.job where gate is not null and admitted = 1 ${ofTypes}
      union all
      select gates[1], remaining from ${schema}.claim where ${isCounted}
      union all
      select gate, 1 from (${claimedIdsSql(schema, unpacked)}) claimed ${typeOfClaimed}
      where gate is not null ${ofTypes}
    ) admitted group by gate`;
  const rows = await session.run<{ gate: string; count: number }>(text, types ? [textArray(types)] : []);
  return new Map(rows.flatMap(({ gate, count }) => (count > 0 ? [[gate, count] as const] : [])));
}

/** Whether all jobs of a claim have the same gate, as a condition that is false if a job has none. */
const hasCommonGate = `coalesce(claim.gates[1] is not null and cardinality(array_remove(claim.gates, claim.gates[1])) = 0, false)`;

function lanesOf(rows: readonly WaitingRow[], limit: number, spreads: Spreads): TypedLane[] {
  const lanes = Map.groupBy(rows, ({ kind, type, typeVersion, priority }) => `${priority} ${kind} ${typeVersion} ${type}`);
  return [...lanes.values()].map((jobs) => {
    const { kind, type, typeVersion, priority } = jobs[0]!;
    const free = jobs.filter((job) => !spreads.isHeld(type, job));
    return { kind, type, typeVersion, priority, jobs: free, isCut: jobs.length >= gateLaneRows(limit) };
  });
}

interface GateWalk {
  readonly request: ClaimRequest;
  readonly memory: PostgresGateMemory;
  readonly limits: ClaimedLimits;
  readonly admissions: GateAdmissions;
  readonly spreads: Spreads;
}

/**
 * Walks the gates of each type and version in a circle, from where the last walk stopped, until it has found enough jobs or has
 * passed all gates. Returns the jobs that their gates admit.
 */
async function admitByWalk(
  session: Session,
  walk: GateWalk,
  waiting: readonly WaitingRow[],
  admitted: readonly WaitingJob[],
): Promise<WaitingJob[]> {
  const limit = walk.request.limit - admitted.length;
  const types = new Map(waiting.map(({ kind, type, typeVersion }) =>
    [`${kind} ${typeVersion} ${type}`, { kind, type, typeVersion }])).values();
  const known = new Set(admitted.map(({ id }) => id));
  const found: WaitingJob[] = [];
  for (const type of types) found.push(...(await waitingOnWalk(session, walk, type, limit, known)));
  return found.sort(byClaimOrder).filter(({ gate }) => walk.admissions.admit(gate)).slice(0, limit);
}

async function waitingOnWalk(
  session: Session,
  { request, memory, limits, admissions, spreads }: GateWalk,
  type: GatedType,
  limit: number,
  known: ReadonlySet<number>,
): Promise<WaitingJob[]> {
  const start = memory.start(type);
  const portion = 2 * limit + 64;
  const found: WaitingJob[] = [];
  let after = start;
  for (let isRound = start === ''; found.length < limit; ) {
    const gates = await gatesAfter(session, type, request, after, portion, isRound && start !== '' ? start : null);
    await limits.load(gates.map(({ gate }) => gate));
    const first = await firstClaimable(session, type, request, admissions, gates);
    const open = first
      .map((gate) => ({ gate: gateWithoutCosts(gate), room: Math.min(admissions.room(gate), request.limit) }))
      .filter(({ room }) => room > 0);
    if (open.length > 0) {
      const jobs = await waitingAt(session, type, request, open, known.size);
      found.push(...jobs.filter((job) => !known.has(job.id) && !spreads.isHeld(type.type, job)));
    }
    if (gates.length > 0) memory.stopAt(type, gateWithoutCosts(gates.at(-1)!.gate));
    if (gates.length === portion) after = gateWithoutCosts(gates.at(-1)!.gate);
    else if (isRound) break;
    else [after, isRound] = ['', true];
  }
  return found;
}

/** The gate of a row without the costs, verbatim as in the index `job_gate`. */
const bareGate = (row: string): string => `split_part(${row}.gate, '#', 1)`;

interface FirstJob {
  readonly gate: string;
  /** Whether the request can claim it now: it is due and has a priority of the request. */
  readonly is_claimable: boolean;
}

/**
 * Returns the first jobs of up to `count` gates after `after` at which jobs of a type wait, each found by one seek. Leaves
 * out gates after `last`, unless `last` is null.
 */
function gatesAfter(
  session: Session,
  { kind, type, typeVersion }: GatedType,
  { priorities }: ClaimRequest,
  after: string,
  count: number,
  last: string | null,
): Promise<FirstJob[]> {
  const values: unknown[] = [session.time.parameter(), kind, type, after, count, last, typeVersion];
  const next = (further: string): string => `select gate, due, priority from ${session.schema}.job
    where ${isAtGate} and job.kind = $2 and job.type = $3 and job.type_version = $7::bigint and ${bareGate('job')} > ${further}
    order by ${bareGate('job')}, job.priority desc, job.due, job.id limit 1`;
  const chosen = priorities ? `and priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  const text = `with recursive step (gate, due, priority, n) as (
      select first.*, 1 from (${next('$4::text')}) first
      union all select following.*, n + 1 from step cross join lateral (${next(bareGate('step'))}) following where n < $5
    ) select gate, due <= ${nowSql} ${chosen} as is_claimable from step
    where $6::text is null or ${bareGate('step')} <= $6::text`;
  return session.run<FirstJob>(text, values);
}

/**
 * Returns for each gate the text of its first job that can be claimed, which has the costs of the job. Jobs that are not
 * due yet would hide cheaper ones that are.
 */
async function firstClaimable(
  session: Session,
  type: GatedType,
  request: ClaimRequest,
  admissions: GateAdmissions,
  gates: readonly FirstJob[],
): Promise<string[]> {
  const isSearched = ({ gate, is_claimable: isClaimable }: FirstJob): boolean =>
    !isClaimable && admissions.hasRoomBesideCosts(gate);
  const known = gates.filter((first) => !isSearched(first)).map(({ gate }) => gate);
  const searched = gates.filter(isSearched).map(({ gate }) => ({ gate: gateWithoutCosts(gate), room: 1 }));
  if (searched.length === 0) return known;
  const jobs = (await waitingAt(session, type, request, searched, 0)).sort(byClaimOrder);
  const first = Map.groupBy(jobs, ({ gate }) => gateWithoutCosts(gate)).values().map(([job]) => job!.gate);
  return [...known, ...first];
}

/**
 * Reads the first due jobs of each priority at each of these gates: as many as the gate has room for, plus `known`.
 * `known` is the number of jobs that the claim has already chosen: the read jobs may include them, and the caller drops
 * them.
 */
function waitingAt(
  session: Session,
  { kind, type, typeVersion }: GatedType,
  { priorities }: ClaimRequest,
  gates: readonly { readonly gate: string; readonly room: number }[],
  known: number,
): Promise<WaitingJob[]> {
  const { schema, time } = session;
  const values: unknown[] = [
    time.parameter(), kind, type, textArray(gates.map(({ gate }) => gate)),
    numberArray(gates.map(({ room }) => room + known)), typeVersion,
  ];
  const chosen = priorities ? `and priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  // The gate is written as a range and comes first in the ORDER BY, so that only the index `job_gate` fits, and not
  // `job_gate_order`.
  const at = (from: string): string => `${isAtGate} and job.kind = $2 and job.type = $3 and job.type_version = $6::bigint
    and ${bareGate('job')} >= ${from}.gate and ${bareGate('job')} <= ${from}.gate`;
  const next = (from: string, further: string): string => `select gate, room, (select priority from ${schema}.job
      where ${at(from)} ${further} order by ${bareGate('job')}, priority desc limit 1) from ${from}`;
  const text = `with recursive gate as (select * from unnest($4::text[], $5::bigint[]) as gate (gate, room)),
    step (gate, room, priority) as (
      ${next('gate', '')} union all ${next('step', 'and job.priority < step.priority')} where priority is not null
    ) select job.id, step.priority, job.due, job.gate from step cross join lateral (
      select id, due, gate from ${schema}.job where ${at('step')} and job.priority = step.priority and due <= ${nowSql}
      order by ${bareGate('job')}, due, id limit step.room) job
    where step.priority is not null ${chosen}`;
  return session.run<WaitingJob>(text, values);
}

/** Locks these jobs in the order of ids; skips jobs that no longer wait, or that other transactions have locked. */
function lockWaiting(session: Session, jobs: readonly WaitingJob[]): Promise<LockedJobs> {
  const { schema, time } = session;
  const ids = jobs.map(({ id }) => id).sort((a, b) => a - b);
  const tables = `best as materialized (
      select job.* from unnest($2::bigint[]) as chosen (id) cross join lateral (
        select ${lockedNames} from ${schema}.job
        where ${isStillAtGate} and job.id = chosen.id and due <= ${nowSql} for update skip locked) job
    )`;
  const values = [time.parameter(), numberArray(ids)];
  return lockAndRead(session, tables, `'gates', true`, values, { expected: ids.length });
}
