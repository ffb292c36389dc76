/**
 * Makes a session from the caller's transaction. The caller may use any client that executes statements with numbered
 * parameters ($1, $2).
 */
import { Refusal } from '../../../refusal.ts';
import { columnNames, numberColumns } from '../../job-columns.ts';
import { executeIn } from '../caller/recognize.ts';
import type { Session } from './database.ts';
import { forgottenCodes, uniqueViolation } from './errors.ts';
import type { StatementNames } from './statement-names.ts';

/** What a session has besides its connection. */
type SessionParts = Pick<Session, 'schema' | 'time' | 'claims'>;

export interface CallerSession extends Session {
  /**
   * Executes a statement that the connection prepares once, if the caller's library allows that. Only for few texts: a
   * connection keeps all statements that it has prepared, and it is the caller's.
   */
  runPrepared<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Call if the connection, or a pooler behind it, has lost a prepared statement: no more are prepared. */
  stopPreparing(): void;
}

export function sessionOn(
  transaction: unknown,
  { schema, time, claims }: SessionParts,
  names: StatementNames,
): CallerSession {
  const execute = executeIn(transaction);
  // Each query waits for the one before: some clients do not accept a query while another one is running.
  let last: Promise<unknown> = Promise.resolve();
  const run = <Row extends object>(text: string, values: readonly unknown[] = [], name?: string): Promise<Row[]> => {
    const answer = last.then(() => execute(text, values, name)).catch(refuseWithoutTransaction);
    last = answer.catch(() => undefined);
    return answer.then((rows) => (rows as Record<string, unknown>[]).map(plain) as Row[]);
  };
  return {
    schema, time, claims, run,
    runUnprepared: run,
    runPrepared: (text, values) => run(text, values, names.of(text)),
    stopPreparing: () => names.stop(),
  };
}

/** Whether a statement was refused because the connection, or a pooler behind it, has lost that it was prepared. */
export const isForgottenByCaller = (error: unknown): boolean =>
  sqlStatesOf(error).some((code) => typeof code === 'string' && forgottenCodes.has(code));

/** Whether a statement of the caller's transaction has violated a unique constraint. */
export const isUniqueViolationOfCaller = (error: unknown): boolean => sqlStatesOf(error).includes(uniqueViolation);

/**
 * Replaces error 25P01 (no active transaction) by a refusal. The client has begun no transaction, or it is a pool,
 * which executes each statement on any of its connections.
 */
function refuseWithoutTransaction(error: unknown): never {
  if (!sqlStatesOf(error).includes('25P01')) throw error;
  const message = 'no transaction is open on what was passed to in(): begin one, and pass the client on which it runs, not a pool';
  throw new Refusal('malformed.store', message);
}

interface WrappedError {
  readonly code?: unknown;
  readonly cause?: WrappedError;
  readonly meta?: { readonly code?: unknown; readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } } };
}

/** The codes of an error: of its own, of its cause, and those that Prisma adds. */
function sqlStatesOf(error: unknown): unknown[] {
  const { code, cause, meta } = (error ?? {}) as WrappedError;
  return [code, cause?.code, meta?.code, meta?.driverAdapterError?.cause?.originalCode];
}

const numberNames = new Set([...numberColumns, 'job', 'now', 'claim']);

/** The columns of jobs by their names without case and separators: a client may rename `ended_at` to `endedAt`. */
const columnsByLetters = new Map(columnNames.map((name) => [lettersOf(name), name]));

/** Restores the names of columns, and converts those that hold numbers: a client may return 64-bit numbers as text. */
function plain(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([given, value]) => {
    const name = columnsByLetters.get(lettersOf(given)) ?? given;
    return [name, numberNames.has(name) && value !== null ? Number(value) : value] as const;
  });
  return Object.fromEntries(entries);
}

function lettersOf(name: string): string {
  return name.replace(/[^a-z]/gi, '').toLowerCase();
}
