/**
 * Makes a session from the caller's transaction. The caller may use any client that executes statements with numbered
 * parameters ($1, $2).
 */
import { Refusal } from '../../../refusal.ts';
import { numberColumns } from '../../job-columns.ts';
import type { Session } from './database.ts';

/** A `pg` client, or an object with the same method. */
export interface Executor {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** What a session has besides its connection. */
type SessionParts = Pick<Session, 'schema' | 'time' | 'claims'>;

export function sessionOn(transaction: unknown, { schema, time, claims }: SessionParts): Session {
  const executor = transaction as Executor | null;
  if (typeof executor?.query !== 'function') {
    const message = 'pass the client on which you have begun a transaction: it must have query(text, values)';
    throw new Refusal('malformed.store', message);
  }
  // Each query waits for the one before: some clients do not accept a query while another one is running.
  let last: Promise<unknown> = Promise.resolve();
  const run = <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const answer = last.then(() => executor.query(text, [...values])).catch(refuseWithoutTransaction);
    last = answer.catch(() => undefined);
    return answer.then(({ rows }) => (rows as Record<string, unknown>[]).map(numbered) as Row[]);
  };
  return { schema, time, claims, run, runUnprepared: run };
}

/**
 * Replaces error 25P01 (no active transaction) by a refusal. The client has begun no transaction, or it is a pool,
 * which executes each statement on any of its connections.
 */
function refuseWithoutTransaction(error: unknown): never {
  const code = (error as { code?: unknown } | null)?.code ?? (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  if (code !== '25P01') throw error;
  const message = 'no transaction is open on what was passed to in(): begin one, and pass the client on which it runs, not a pool';
  throw new Refusal('malformed.store', message);
}

const numberNames = new Set([...numberColumns, 'job', 'now', 'claim']);

/** Converts the columns that hold numbers: the caller's client may return 64-bit numbers as text. */
function numbered(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) =>
    [name, numberNames.has(name) && value !== null ? Number(value) : value] as const);
  return Object.fromEntries(entries);
}
