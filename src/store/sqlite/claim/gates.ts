/**
 * Finds the jobs at gates that a claim can take. A job is claimable if its gate has room, which `GateAdmissions`
 * computes from the number of admitted jobs and the use of named limits. Implements `admittedPerGate` of `port/claiming.ts`.
 */
import { gateWithoutCosts, noLimits, GateAdmissions, type LimitsNow } from '../../../model/gate.ts';
import { byClaimOrder } from '../../../model/claim-order.ts';
import { turnsOf, type ShareTurns, type TypedLane } from '../../fair-share.ts';
import { admitInOrder, earlier, gateLaneRows, type GateMemory } from '../../gate-admission.ts';
import type { Spreads } from '../../spreads.ts';
import type { WaitingJob } from '../../waiting-job.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';
import { dueWindows } from './due-windows.ts';
import { lanesOf, namedTypes, typesInSpread, type Lane, type NamedType } from './lanes.ts';
import { linesInTurns } from './shares.ts';
import { pausedKeys } from '../read/pauses.ts';

export function admittedPerGate(connection: Connection, types?: readonly string[]): Map<string, number> {
  const ofTypes = types ? 'AND type IN (SELECT value FROM json_each(?))' : '';
  const sql = `SELECT gate, count(*) count FROM job WHERE gate IS NOT NULL AND admitted = 1 ${ofTypes} GROUP BY gate`;
  return new Map(connection.arrays(sql, ...(types ? [JSON.stringify(types)] : [])) as [string, number][]);
}

/**
 * Returns due jobs that their gates admit now, at most `request.limit`. They are the first in claim order, unless too
 * many of the first jobs are at full gates: then a walk from gate to gate adds others.
 */
export function gatedRows(
  connection: Connection,
  request: ClaimRequest,
  { memory, limits, spreads }: GateSearch,
): AdmittedRows {
  const { now } = limits;
  const types = [...namedTypes(connection, 2, request, now), ...typesInSpread(connection, 2, request, spreads)];
  if (types.length === 0) {
    memory.recordOpening(request, spreads.opensAt(request));
    return { rows: [], turns: turnsOf([]) };
  }
  const admissions = new GateAdmissions(
    admittedPerGate(connection), request.limits ?? noLimits, request.isLeader ?? false, limits, pausedKeys(connection, now),
  );
  const read = lanesOf(connection, 2, types, request).map((lane) => firstWaiting(connection, lane, request.limit, now, spreads));
  const lines = linesInTurns(connection, read, { stops: memory.shareStops, admissions, limit: request.limit, now, spreads });
  const { jobs, isComplete } = admitInOrder(lines, ({ gate }) => admissions.admit(gate), request.limit);
  const more = isComplete ? [] : admitByWalk(connection, { request, types, memory, admissions, now, spreads }, jobs);
  memory.recordOpening(request, earlier(admissions.opensAt, spreads.opensAt(request)));
  const ids = [...jobs, ...more].map(({ id }) => id);
  const rows = openRows(connection, 'WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
  return { rows, turns: turnsOf(jobs) };
}

/** What a claim knows before it searches jobs at gates. */
export interface GateSearch {
  readonly memory: GateMemory;
  readonly limits: LimitsNow;
  readonly spreads: Spreads;
}

export interface AdmittedRows {
  readonly rows: readonly OpenRow[];
  readonly turns: ShareTurns;
}

/** Reads the first due jobs of a lane, including jobs whose gates are full. Leaves out jobs that spreads hold back. */
function firstWaiting(connection: Connection, lane: Lane, limit: number, now: number, spreads: Spreads): TypedLane {
  const count = gateLaneRows(limit);
  const { kind, type, typeVersion, priority } = lane;
  const read = dueWindows(spreads.ofType(type), now).map(({ where, values }) => connection.arrays(
    `SELECT id, priority, due, gate FROM job INDEXED BY job_gate_order
      WHERE lane = 2 AND kind = ? AND type = ? AND type_version = ? AND priority = ? AND ${where}
      ORDER BY due, id LIMIT ?`,
    kind, type, typeVersion, priority, ...values, count,
  ));
  const jobs = read.flat().map(waitingJobOf).filter((job) => !spreads.isHeld(type, job));
  return { ...lane, jobs, isCut: read.some(({ length }) => length === count) };
}

const waitingJobOf = ([id, priority, due, gate]: readonly unknown[]): WaitingJob =>
  ({ id, priority, due, gate }) as WaitingJob;

interface GateWalk {
  readonly request: ClaimRequest;
  readonly types: readonly NamedType[];
  readonly memory: GateMemory;
  readonly admissions: GateAdmissions;
  readonly now: number;
  readonly spreads: Spreads;
}

/**
 * Walks the gates of each type until it has found enough jobs or has visited every gate once. It starts behind the gate
 * at which the last walk stopped. Returns the jobs that it admits; the jobs in `admitted` are not among them.
 */
function admitByWalk(connection: Connection, walk: GateWalk, admitted: readonly WaitingJob[]): WaitingJob[] {
  const { types, admissions, request } = walk;
  const limit = request.limit - admitted.length;
  const known = Map.groupBy(admitted, ({ gate }) => gateWithoutCosts(gate));
  return types
    .flatMap((type) => waitingOnWalk(connection, walk, type, limit, known))
    .sort(byClaimOrder)
    .filter((job) => admissions.admit(job.gate))
    .slice(0, limit);
}

function waitingOnWalk(
  connection: Connection,
  { memory, admissions, request, now, spreads }: GateWalk,
  type: NamedType,
  limit: number,
  known: ReadonlyMap<string, readonly WaitingJob[]>,
): WaitingJob[] {
  const found: WaitingJob[] = [];
  for (const first of gatesFrom(connection, type, memory.start(type))) {
    const gate = gateWithoutCosts(first.gate);
    const room = Math.min(roomAt(connection, admissions, { ...type, gate }, first, request, now), request.limit);
    if (room > 0) {
      const waiting = waitingAt(connection, { ...type, gate }, request, now, room, known.get(gate) ?? []);
      found.push(...waiting.filter((job) => !spreads.isHeld(type.type, job)));
    }
    memory.stopAt(type, gate);
    if (found.length >= limit) break;
  }
  return found;
}

/**
 * Returns how many jobs the gate admits that cost as much as its first job that can be claimed. `first` is its first job
 * in claim order, which may not be due yet.
 */
function roomAt(
  connection: Connection,
  admissions: GateAdmissions,
  at: NamedType & { readonly gate: string },
  first: FirstJob,
  request: ClaimRequest,
  now: number,
): number {
  const isClaimable = first.due <= now && (request.priorities?.includes(first.priority) ?? true);
  if (isClaimable || !admissions.hasRoomBesideCosts(first.gate)) return admissions.room(first.gate);
  const [due] = waitingAt(connection, at, request, now, 1, []);
  return due === undefined ? 0 : admissions.room(due.gate);
}

type FirstJob = Pick<WaitingJob, 'gate' | 'due' | 'priority'>;

/**
 * Yields the first job of each gate at which jobs wait, which may not be due yet, each found by one index seek. Starts
 * behind the gate `start`. After the last gate it continues with the first gate, and it ends with `start`.
 */
function* gatesFrom(connection: Connection, { kind, type, typeVersion }: NamedType, start: string): Generator<FirstJob> {
  const next = (after: string): FirstJob | undefined =>
    connection.get<FirstJob>(nextGate, kind, type, typeVersion, gateWithoutCosts(after));
  for (let first = next(start); first !== undefined; first = next(first.gate)) yield first;
  if (start === '') return;
  for (let first = next(''); first && gateWithoutCosts(first.gate) <= start; first = next(first.gate)) yield first;
}

/** The gate of a row without the costs, verbatim as in the index `job_gate`. */
const bareGate = `substr(gate, 1, instr(gate || '#', '#') - 1)`;

const nextGate = `SELECT gate, due, priority FROM job INDEXED BY job_gate WHERE lane = 2 AND kind = ? AND type = ?
  AND type_version = ? AND ${bareGate} > ? ORDER BY ${bareGate}, priority DESC, due, id LIMIT 1`;

/**
 * Returns the first due jobs at a gate, at most `room` of them. Leaves out the jobs in `known`, which have been
 * admitted already.
 */
function waitingAt(
  connection: Connection,
  at: NamedType & { readonly gate: string },
  { priorities }: ClaimRequest,
  now: number,
  room: number,
  known: readonly WaitingJob[],
): WaitingJob[] {
  const sql = `SELECT id, priority, due, gate FROM job INDEXED BY job_gate WHERE lane = 2 AND kind = ? AND type = ?
    AND type_version = ? AND ${bareGate} = ? AND priority = ? AND due <= ? ORDER BY due, id LIMIT ?`;
  const { kind, type, typeVersion, gate } = at;
  const count = room + known.length;
  return prioritiesAt(connection, at)
    .filter((priority) => priorities?.includes(priority) ?? true)
    .flatMap((priority) =>
      connection.arrays(sql, kind, type, typeVersion, gate, priority, now, count).map(waitingJobOf))
    .filter(({ id }) => !known.some((job) => job.id === id))
    .slice(0, room);
}

function prioritiesAt(
  connection: Connection,
  { kind, type, typeVersion, gate }: NamedType & { readonly gate: string },
): number[] {
  const sql = `SELECT priority FROM job INDEXED BY job_gate WHERE lane = 2 AND kind = ? AND type = ?
    AND type_version = ? AND ${bareGate} = ? AND priority < ? ORDER BY priority DESC LIMIT 1`;
  const next = (below: number): number | undefined =>
    connection.get<{ priority: number }>(sql, kind, type, typeVersion, gate, below)?.priority;
  const priorities: number[] = [];
  for (let priority = next(Number.MAX_SAFE_INTEGER); priority !== undefined; priority = next(priority)) {
    priorities.push(priority);
  }
  return priorities;
}
