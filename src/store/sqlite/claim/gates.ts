/** Gates: a waiting job is claimable if `GateAdmissions`, which counts admitted jobs, has room for it. */
import { noLimits, GateAdmissions } from '../../../model/gate.ts';
import type { Kind } from '../../../model/state.ts';
import { byClaimOrder } from '../../../model/claim-order.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';
import { openRows } from '../read/open-rows.ts';
import { namedTypes, type NamedType } from './lanes.ts';

/** How many jobs each gate has admitted. */
export function admittedPerGate(connection: Connection, types?: readonly string[]): Map<string, number> {
  const ofTypes = types ? 'AND type IN (SELECT value FROM json_each(?))' : '';
  const sql = `SELECT gate, count(*) count FROM job WHERE gate IS NOT NULL AND admitted = 1 ${ofTypes} GROUP BY gate`;
  const rows = connection.all<{ gate: string; count: number }>(sql, ...(types ? [JSON.stringify(types)] : []));
  return new Map(rows.map(({ gate, count }) => [gate, count]));
}

export function gatedRows(connection: Connection, request: ClaimRequest, now: number): OpenRow[] {
  const types = namedTypes(connection, 2, request);
  if (types.length === 0) return [];
  const admissions = new GateAdmissions(admittedPerGate(connection), request.limits ?? noLimits, request.isLeader ?? false);
  return types
    .flatMap((named) => waitingAtGates(connection, named, admissions, request, now))
    .sort(byClaimOrder)
    .filter((row) => admissions.admit(row.gate!));
}

function waitingAtGates(
  connection: Connection,
  { kind, type }: NamedType,
  admissions: GateAdmissions,
  request: ClaimRequest,
  now: number,
): OpenRow[] {
  const which = `WHERE lane = 2 AND kind = ? AND type = ? AND gate = ? AND due <= ? ${priorityTerm(request)}
    ORDER BY priority DESC, due, id LIMIT ?`;
  return gatesOf(connection, kind, type).flatMap((gate) => {
    const room = Math.min(admissions.room(gate), request.limit);
    return room === 0 ? [] : openRows(connection, which, kind, type, gate, now, room);
  });
}

/** Inserted as text: priorities are validated integers. */
const priorityTerm = ({ priorities }: ClaimRequest): string =>
  priorities === undefined ? '' : `AND priority IN (${priorities.map(Number).join(',')})`;

function gatesOf(connection: Connection, kind: Kind, type: string): string[] {
  const sql = 'SELECT gate FROM job WHERE lane = 2 AND kind = ? AND type = ? AND gate > ? ORDER BY gate LIMIT 1';
  const gates: string[] = [];
  let found = connection.get<{ gate: string }>(sql, kind, type, '');
  while (found) {
    gates.push(found.gate);
    found = connection.get<{ gate: string }>(sql, kind, type, found.gate);
  }
  return gates;
}
