/** The inbox: a table into which other programs insert requests for runs. Implements `port/inbox.ts`. */
import type {
  InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, NewInboxRequest,
} from '../../store.ts';
import { requestOfRow, standingSql, type InboxRow } from '../../inbox-row.ts';
import type { Connection } from '../connection.ts';
import { writeBatch } from './commit.ts';

export function enqueue(connection: Connection, requests: readonly NewInboxRequest[], now: number): readonly number[] {
  const sql = 'INSERT INTO inbox(type, input, options, at) VALUES(?, ?, ?, ?) RETURNING id';
  return requests.map(({ type, input, options }) => connection.get<{ id: number }>(sql, type, input, options, now)!.id);
}

export function inboxRequests(connection: Connection, { standing, after = 0, limit }: InboxQuery): InboxRequest[] {
  const sql = `SELECT * FROM inbox WHERE id > ? AND ${standingSql(standing)} ORDER BY id LIMIT ?`;
  return connection.all<InboxRow>(sql, after, limit).map(requestOfRow);
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
  return row === undefined ? null : requestOfRow(row);
}

const waitingSql = 'SELECT 1 FROM inbox WHERE id = ? AND refused_at IS NULL';

/** The oldest request has the lowest id, which is read from the index; `min(at)` would read every row. */
const countSql = `SELECT
  (SELECT count(*) FROM inbox WHERE refused_at IS NULL),
  (SELECT at FROM inbox WHERE refused_at IS NULL ORDER BY id LIMIT 1),
  (SELECT count(*) FROM inbox WHERE refused_at IS NOT NULL)`;
