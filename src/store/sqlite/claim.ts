/**
 * Finds what may be claimed. A lane is a kind, a type and a priority: each is probed by itself, so that a million jobs of
 * other names, or due later, cost nothing. Jobs at a gate pass a turnstile that counts those behind it.
 */
import { noLimits, Turnstile } from '../../model/gate.ts';
import { isLiteral, literalPrefix, matches, parseGlob } from '../../model/glob.ts';
import type { Kind } from '../../model/state.ts';
import { byUrgency } from '../../model/urgency.ts';
import { jobOfOpen, type OpenRow } from '../row.ts';
import type { Candidate, ClaimAsk } from '../store.ts';
import type { Connection } from './connection.ts';
import { openRows } from './open-rows.ts';

/** The best claimable jobs, best first. Only inside a write transaction. */
export function candidates(connection: Connection, ask: ClaimAsk, now: number): Candidate[] {
  const rows = [...freeRows(connection, ask, now), ...gatedRows(connection, ask, now)];
  return rows
    .sort(byUrgency)
    .slice(0, ask.limit)
    .map((row) => ({ job: jobOfOpen(row), parentCancelled: row.parent !== null && isCancelled(connection, row.parent) }));
}

export function nextDue(connection: Connection, ask: Pick<ClaimAsk, 'kinds' | 'names'>, now: number): number | null {
  const sql = 'SELECT due FROM job WHERE lane = 1 AND kind = ? AND type = ? AND priority = ? AND due > ? ORDER BY due LIMIT 1';
  const gatedSql = 'SELECT min(due) due FROM job WHERE lane = 2 AND kind = ? AND type = ? AND due > ?';
  const dues = [
    ...lanes(connection, 1, ask).map(({ kind, type, priority }) => connection.get<{ due: number }>(sql, kind, type, priority, now)?.due),
    ...namedTypes(connection, 2, ask).map(({ kind, type }) => connection.get<{ due: number | null }>(gatedSql, kind, type, now)?.due),
  ].filter((due) => typeof due === 'number');
  return dues.length === 0 ? null : Math.min(...dues);
}

/** How many jobs are behind each gate. */
export function behind(connection: Connection, types?: readonly string[]): Map<string, number> {
  const ofTypes = types ? 'AND type IN (SELECT value FROM json_each(?))' : '';
  const sql = `SELECT gate, count(*) count FROM job WHERE gate IS NOT NULL AND admitted = 1 ${ofTypes} GROUP BY gate`;
  const rows = connection.all<{ gate: string; count: number }>(sql, ...(types ? [JSON.stringify(types)] : []));
  return new Map(rows.map(({ gate, count }) => [gate, count]));
}

interface NamedType {
  readonly kind: Kind;
  readonly type: string;
}

interface Lane extends NamedType {
  readonly priority: number;
}

function freeRows(connection: Connection, ask: ClaimAsk, now: number): OpenRow[] {
  const which = 'WHERE lane = 1 AND kind = ? AND type = ? AND priority = ? AND due <= ? ORDER BY due, id LIMIT ?';
  return lanes(connection, 1, ask).flatMap(({ kind, type, priority }) =>
    openRows(connection, which, kind, type, priority, now, ask.limit),
  );
}

function gatedRows(connection: Connection, ask: ClaimAsk, now: number): OpenRow[] {
  const types = namedTypes(connection, 2, ask);
  if (types.length === 0) return [];
  const turnstile = new Turnstile(behind(connection), ask.limits ?? noLimits, ask.isLeader ?? false);
  return types
    .flatMap((named) => waitingAtGates(connection, named, turnstile, ask, now))
    .sort(byUrgency)
    .filter((row) => turnstile.pass(row.gate!));
}

function waitingAtGates(connection: Connection, { kind, type }: NamedType, turnstile: Turnstile, ask: ClaimAsk, now: number): OpenRow[] {
  const which = `WHERE lane = 2 AND kind = ? AND type = ? AND gate = ? AND due <= ? ${priorityTerm(ask)}
    ORDER BY priority DESC, due, id LIMIT ?`;
  return gatesOf(connection, kind, type).flatMap((gate) => {
    const room = Math.min(turnstile.room(gate), ask.limit);
    return room === 0 ? [] : openRows(connection, which, kind, type, gate, now, room);
  });
}

/** Priorities are whole numbers that were checked when the job was asked for. */
const priorityTerm = ({ priorities }: ClaimAsk): string =>
  priorities === undefined ? '' : `AND priority IN (${priorities.map(Number).join(',')})`;

function lanes(connection: Connection, lane: 1 | 2, ask: Pick<ClaimAsk, 'kinds' | 'names' | 'priorities'>): Lane[] {
  return namedTypes(connection, lane, ask).flatMap(({ kind, type }) =>
    prioritiesOf(connection, kind, type)
      .filter((priority) => ask.priorities?.includes(priority) ?? true)
      .map((priority) => ({ kind, type, priority })),
  );
}

/** The types of this ask that have jobs waiting in the lane. */
function namedTypes(connection: Connection, lane: 1 | 2, ask: Pick<ClaimAsk, 'kinds' | 'names'>): NamedType[] {
  const { names } = ask;
  const kinds = [...new Set(ask.kinds)];
  if ('exact' in names) {
    const exact = [...new Set(names.exact)];
    return kinds.flatMap((kind) =>
      exact.filter((type) => hasAny(connection, lane, kind, type)).map((type) => ({ kind, type })),
    );
  }
  const glob = parseGlob(names.glob);
  const start = literalPrefix(glob);
  if (isLiteral(glob)) return namedTypes(connection, lane, { kinds, names: { exact: [start] } });
  return kinds.flatMap((kind) =>
    typesFrom(connection, lane, kind, start)
      .filter((type) => matches(glob, type))
      .map((type) => ({ kind, type })),
  );
}

const hasAny = (connection: Connection, lane: 1 | 2, kind: Kind, type: string): boolean =>
  connection.get(`SELECT 1 FROM job WHERE lane = ${lane} AND kind = ? AND type = ? LIMIT 1`, kind, type) !== undefined;

/** Every type that starts with the prefix, each found by one step into the index. */
function typesFrom(connection: Connection, lane: 1 | 2, kind: Kind, prefix: string): string[] {
  const sql = (sign: '>=' | '>'): string =>
    `SELECT type FROM job WHERE lane = ${lane} AND kind = ? AND type ${sign} ? ORDER BY type LIMIT 1`;
  const types: string[] = [];
  let found = connection.get<{ type: string }>(sql('>='), kind, prefix);
  while (found?.type.startsWith(prefix)) {
    types.push(found.type);
    found = connection.get<{ type: string }>(sql('>'), kind, found.type);
  }
  return types;
}

function prioritiesOf(connection: Connection, kind: Kind, type: string): number[] {
  const sql = 'SELECT priority FROM job WHERE lane = 1 AND kind = ? AND type = ? AND priority < ? ORDER BY priority DESC LIMIT 1';
  const priorities: number[] = [];
  let found = connection.get<{ priority: number }>(sql, kind, type, Number.MAX_SAFE_INTEGER);
  while (found) {
    priorities.push(found.priority);
    found = connection.get<{ priority: number }>(sql, kind, type, found.priority);
  }
  return priorities;
}

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

/** Whether it was asked to give up, be it still open or ended by now. */
const isCancelled = (connection: Connection, parent: number): boolean =>
  connection.get<{ isCancelled: number }>(
    `SELECT cancel_asked isCancelled FROM job WHERE id = ?1
     UNION ALL SELECT body ->> '$.cancel' IS NOT NULL FROM ended WHERE id = ?1`,
    parent,
  )?.isCancelled === 1;
