/** The inbox: a table into which other programs insert requests for runs. Implements `port/inbox.ts`. */
import type {
  InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxStanding, InboxTake, NewInboxRequest,
} from '../../store.ts';
import type { Connection } from '../connection.ts';
import { writeBatch } from './commit.ts';

interface InboxRow {
  readonly id: number;
  readonly type: string;
  readonly input: string | null;
  readonly options: string;
  readonly at: number;
  readonly refused_at: number | null;
  readonly code: string | null;
  readonly message: string | null;
}

export function enqueue(connection: Connection, requests: readonly NewInboxRequest[], now: number): readonly number[] {
  const sql = 'INSERT INTO inbox(type, input, options, at) VALUES(?, ?, ?, ?) RETURNING id';
  return requests.map(({ type, input, options }) => connection.get<{ id: number }>(sql, type, input, options, now)!.id);
}

export function inboxRequests(connection: Connection, { standing, after = 0, limit }: InboxQuery): InboxRequest[] {
  const sql = `SELECT * FROM inbox WHERE id > ? AND ${isIn(standing)} ORDER BY id LIMIT ?`;
  return connection.all<InboxRow>(sql, after, limit).map(requestOf);
}

/** Removes requests and writes their changes inside the caller's transaction; returns for each whether it was done. */
export function takeFromInbox(connection: Connection, takes: readonly InboxTake[], now: number): boolean[] {
  const isWaiting = takes.map(({ request }) => connection.get(waitingSql, request) !== undefined);
  const changes = takes.flatMap(({ change }, index) => (isWaiting[index] && change !== null ? [change] : []));
  const written = writeBatch(connection, { changes }, now)[Symbol.iterator]();
  return takes.map(({ request, change }, index) => {
    const isTaken = isWaiting[index]! && (change === null || written.next().value === true);
    if (isTaken) connection.run('DELETE FROM inbox WHERE id = ?', request);
    return isTaken;
  });
}

export function refuseInInbox(connection: Connection, refusals: readonly InboxRefusal[], now: number): void {
  const sql = 'UPDATE inbox SET refused_at = ?, code = ?, message = ? WHERE id = ? AND refused_at IS NULL';
  for (const { request, code, message } of refusals) connection.run(sql, now, code, message, request);
}

export function retryInInbox(connection: Connection, id: number): InboxRequest | null {
  const request = requestWith(connection, id);
  connection.run('UPDATE inbox SET refused_at = NULL, code = NULL, message = NULL WHERE id = ?', id);
  return request;
}

export function removeFromInbox(connection: Connection, id: number): InboxRequest | null {
  const request = requestWith(connection, id);
  connection.run('DELETE FROM inbox WHERE id = ?', id);
  return request;
}

export function countInbox(connection: Connection): InboxCounts {
  const [[waiting, oldestWaitingAt, refused]] = connection.arrays(countSql) as [[number, number | null, number]];
  return { waiting, refused, oldestWaitingAt };
}

export const hasWaiting = (connection: Connection): boolean =>
  connection.get('SELECT 1 FROM inbox WHERE refused_at IS NULL LIMIT 1') !== undefined;

function requestWith(connection: Connection, id: number): InboxRequest | null {
  const row = connection.get<InboxRow>('SELECT * FROM inbox WHERE id = ?', id);
  return row === undefined ? null : requestOf(row);
}

function requestOf({ id, type, input, options, at, refused_at: refusedAt, code, message }: InboxRow): InboxRequest {
  const refused = refusedAt === null ? null : { at: refusedAt, code: code ?? '', message: message ?? '' };
  return { id, type, input, options, at, refused };
}

function isIn(standing: InboxStanding | undefined): string {
  if (standing === undefined) return 'TRUE';
  return standing === 'waiting' ? 'refused_at IS NULL' : 'refused_at IS NOT NULL';
}

const waitingSql = 'SELECT 1 FROM inbox WHERE id = ? AND refused_at IS NULL';

/** The oldest request has the lowest id, which is read from the index; `min(at)` would read every row. */
const countSql = `SELECT
  (SELECT count(*) FROM inbox WHERE refused_at IS NULL),
  (SELECT at FROM inbox WHERE refused_at IS NULL ORDER BY id LIMIT 1),
  (SELECT count(*) FROM inbox WHERE refused_at IS NOT NULL)`;
