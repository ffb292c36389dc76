/** Gates: a waiting job is claimable if `GateAdmissions`, which counts admitted jobs, has room for it. See claim.ts. */
import { noLimits, GateAdmissions } from '../../../model/gate.ts';
import type { ClaimRequest } from '../../store.ts';
import { nameArray, numberArray } from '../sql/row-parameters.ts';
import type { Session } from '../sql/connection.ts';
import {
  inLane, isAtGate, isFree, lanesSql, namedTypesSql, pendingNames, lockAndRead, type LaneRequest, type LockedJobs,
} from './lanes.ts';
import { nowText } from '../sql/server-clock.ts';

interface WaitingGate {
  readonly kind: string;
  readonly type: string;
  readonly gate: string;
}

/** Locks the jobs that their gates admit now, in claim order; null: no gate has room. */
export async function gatedRows(session: Session, request: ClaimRequest): Promise<LockedJobs | null> {
  const [, waiting, admitted] = await Promise.all([
    session.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`stint ${session.schema} gates`]),
    waitingGates(session, request),
    admittedPerGate(session),
  ]);
  const admissions = new GateAdmissions(admitted, request.limits ?? noLimits, request.isLeader ?? false);
  const open = waiting
    .map((gate) => ({ ...gate, room: Math.min(admissions.room(gate.gate), request.limit) }))
    .filter(({ room }) => room > 0);
  if (open.length === 0) return null;
  const locked = await waitingRows(session, request, open);
  return { ...locked, rows: locked.rows.filter((row) => admissions.admit(row.gate!)) };
}

/** How many jobs each gate has admitted, of these types or of any. */
export async function admittedPerGate(session: Session, types?: readonly string[]): Promise<Map<string, number>> {
  const ofTypes = types ? 'and type = any($1::text[])' : '';
  const text = `select gate, count(*) as count from ${session.schema}.job
    where gate is not null and admitted = 1 ${ofTypes} group by gate`;
  const rows = await session.run<{ gate: string; count: number }>(text, types ? [nameArray(types)] : []);
  return new Map(rows.map(({ gate, count }) => [gate, count]));
}

/** The next time at which a job becomes due, in a lane or at a gate. */
export async function nextDue(session: Session, request: LaneRequest): Promise<number | null> {
  if (request.kinds.length === 0) return null;
  const { schema } = session;
  const values: unknown[] = [session.time.parameter()];
  const firstIn = (lane: string, waits: string, isIn: string): string => `select min(due) as due from ${lane}
    cross join lateral (select due from ${schema}.job where ${waits} and ${isIn} and due > ${nowText}
      order by due limit 1) job`;
  const free = `with recursive ${lanesSql(schema, request, isFree, values)} ${firstIn('lane', isFree, inLane)}`;
  const gates = `${namedTypesSql(schema, request, isAtGate, values)}, ${gatesSql(schema)}, ${gateLanesSql(schema)}`;
  const gated = `with recursive ${gates} ${firstIn('gatelane', isAtGate, inGateLane)}`;
  const [row] = await session.run<{ due: number | null }>(`select least((${free}), (${gated})) as due`, values);
  return row!.due;
}

function waitingGates(session: Session, request: ClaimRequest): Promise<WaitingGate[]> {
  const values: unknown[] = [];
  const text = `with recursive ${namedTypesSql(session.schema, request, isAtGate, values)}, ${gatesSql(session.schema)}
    select kind, type, gate from gate`;
  return session.run<WaitingGate>(text, values);
}

/** Locks the first jobs at each of these gates, as many as it has room for. */
function waitingRows(
  session: Session,
  { priorities }: ClaimRequest,
  gates: readonly (WaitingGate & { readonly room: number })[],
): Promise<LockedJobs> {
  const { schema, time } = session;
  const list = (name: 'kind' | 'type' | 'gate'): string => nameArray(gates.map((gate) => gate[name]));
  const values = [time.parameter(), list('kind'), list('type'), list('gate'), numberArray(gates.map(({ room }) =>
    room))];
  const chosen = priorities ? `where priority = any($${values.push(numberArray(priorities))}::bigint[])` : '';
  const tables = `gate as (
      select * from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as gate (kind, type, gate, room)
    ), ${gateLanesSql(schema)}, best as materialized (
      select job.* from (select * from gatelane ${chosen}) gatelane
        join gate on gate.kind = gatelane.kind and gate.type = gatelane.type and gate.gate = gatelane.gate
        cross join lateral (
        select ctid as row_ctid, ${pendingNames} from ${schema}.job
        where ${isAtGate} and ${inGateLane} and due <= ${nowText}
        order by due, id limit gate.room for update skip locked) job
    )`;
  return lockAndRead(session, tables, `'gates', true`, values);
}

/** The CTE `gate` (kind, type, gate): the gates at which jobs of `named` wait, each found by one seek. */
const gatesSql = (schema: string): string => {
  const next = (from: string, further: string): string => `select kind, type, (select gate from ${schema}.job
      where ${isAtGate} and job.kind = ${from}.kind and job.type = ${from}.type ${further}
      order by gate limit 1) from ${from}`;
  return `gate_step (kind, type, gate) as (
      ${next('named', '')} union all ${next('gate_step', 'and job.gate > gate_step.gate')} where gate is not null
    ), gate as (select * from gate_step where gate is not null)`;
};

const inGateLane = `job.kind = gatelane.kind and job.type = gatelane.type and job.gate = gatelane.gate
  and job.priority = gatelane.priority`;

/** The CTE `gatelane` (kind, type, gate, priority): the priorities at each gate, each found by one seek. */
const gateLanesSql = (schema: string): string => {
  const next = (from: string, further: string): string => `select kind, type, gate, (select priority from ${schema}.job
      where ${isAtGate} and job.kind = ${from}.kind and job.type = ${from}.type and job.gate = ${from}.gate ${further}
      order by priority desc limit 1) from ${from}`;
  return `lane_step (kind, type, gate, priority) as (
      ${next('gate', '')}
      union all ${next('lane_step', 'and job.priority < lane_step.priority')} where priority is not null
    ), gatelane as (select * from lane_step where priority is not null)`;
};
