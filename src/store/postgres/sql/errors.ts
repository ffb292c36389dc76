/** Errors of PostgreSQL and its driver, classified by how to react to them. */
import pg from 'pg';
import { Refusal } from '../../../refusal.ts';

/** The connection broke, or the server accepts no connection or no writes at present: retry on another connection. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** Whether a statement had been sent; if so, its outcome is unknown. */
  readonly wasSent: boolean;
  /** The monotonic time from which `patienceMs`, the time limit of the retries, is counted. */
  readonly since: number;

  constructor(cause: unknown, wasSent: boolean, since: number) {
    super('the connection to the database was lost', { cause });
    this.wasSent = wasSent;
    this.since = since;
  }
}

/** A pooler between client and server has lost a prepared statement: continue without prepared statements. */
export class StatementForgotten extends Error {
  override readonly name = 'StatementForgotten';
}

const readOnlyCode = '25006';
/** Codes of a server that shuts down, starts up, has too many connections, ended an idle session, or only reads. */
const lostCodes = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25P03', readOnlyCode]);
/** Serialization failure, deadlock, lock not available. */
const busyCodes = new Set(['40001', '40P01', '55P03']);
export const forgottenCodes: ReadonlySet<string> = new Set(['26000', '42P05']);
/** No such table, schema or column: the schema has another version than this Stint. */
const absentCodes = new Set(['42P01', '3F000', '42703']);
export const uniqueViolation = '23505';
/** The text of a parameter has a character that the encoding of the database lacks, such as NUL. */
const untranslatableCode = '22021';
/**
 * Classes of errors of the server itself: insufficient resources, system error, internal error such as damaged data.
 */
const brokenClasses = new Set(['53', '58', 'XX']);
const deniedCode = '42501';
/** What a refusal says about an error of the server, and what to do. */
const troubles: ReadonlyMap<string, { readonly reason: string; readonly todo: string }> = new Map([
  ['53100', { reason: 'the disk is full', todo: 'free space on the disk of the server' }],
  ['58030', { reason: 'the disk failed to read or write', todo: 'check the disk of the server and its log' }],
  [deniedCode, { reason: 'a right is missing', todo: 'grant it to the user of the URL' }],
]);
const otherTrouble = { reason: 'the server fails', todo: 'see its log' };
const queryCanceled = '57014';

/**
 * Converts an error of the driver to the error that callers handle: `ConnectionLost`, `StatementForgotten` or a
 * refusal. An error that the server did not send becomes `ConnectionLost`. Other errors of the server are returned
 * unchanged. `now`: the monotonic time of this process.
 */
export function errorOf(error: unknown, wasSent: boolean, now: number): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return new ConnectionLost(error, wasSent, now);
  // A server that only reads has not executed the write, so its outcome is known.
  if (error.code === readOnlyCode) return new ConnectionLost(error, false, now);
  if (lostCodes.has(error.code) || error.code.startsWith('08')) return new ConnectionLost(error, wasSent, now);
  if (forgottenCodes.has(error.code)) return new StatementForgotten(error.message, { cause: error });
  if (absentCodes.has(error.code)) return unmigrated(error);
  if (error.code === untranslatableCode) return impossibleText();
  if (error.code === deniedCode || brokenClasses.has(error.code.slice(0, 2))) return broken(error, error.code);
  return error;
}

const impossibleText = (): Refusal =>
  new Refusal('malformed.name', 'a text has a character that PostgreSQL cannot store, such as NUL: leave it out');

/** Makes a refusal. Its `reason` may be shown to anyone, unlike the message of the server. */
function broken({ message }: Error, code: string): Refusal {
  const { reason, todo } = troubles.get(code) ?? otherTrouble;
  return new Refusal('unavailable.store', `the database refuses: ${message}; ${todo}`, { reason, code });
}

/**
 * Converts an error of connecting as `errorOf` does. An error of the server that `errorOf` leaves unchanged, such as a
 * wrong password, becomes a refusal, so that connecting is not retried.
 */
export function connectErrorOf(error: unknown, now: number): unknown {
  const meaning = errorOf(error, false, now);
  if (meaning instanceof ConnectionLost || !(meaning instanceof pg.DatabaseError)) return meaning;
  return new Refusal('unavailable.store', `cannot connect to the database: ${meaning.message}`, { code: meaning.code });
}

export const isBusy = (error: unknown): boolean => busyCodes.has(codeOf(error));

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === uniqueViolation;

/** Whether the server cancelled a statement, usually because it took longer than `statement_timeout`. */
export const isTimedOut = (error: unknown): boolean => codeOf(error) === queryCanceled;

/** The refusal for a statement that was cancelled after `statementTimeoutMs`. */
export function tookTooLong(statementTimeoutMs: number): Refusal {
  const seconds = Math.round(statementTimeoutMs / 1000);
  const message = `the database was executing a statement for ${seconds} s: it was cancelled and has changed nothing`;
  return new Refusal('unavailable.store', `${message}; see which session holds its locks, then try again`, {
    reason: 'a statement took too long',
  });
}

/** The refusal for a change whose connection was lost before an answer: the server may have written the change. */
export const unknownOutcome = (why: string): Refusal =>
  new Refusal(
    'unavailable.outcome',
    `the database was lost before it answered, so the change may have been stored (${why}): look before you try again`,
    { cause: why },
  );

const codeOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '');

const unmigrated = ({ message }: Error): Refusal =>
  new Refusal(
    'older.schema',
    `the schema of the database does not fit this version of Stint (${message}): run the migration, or start the newer Stint`,
    { cause: message },
  );

export function ignore(): void {}
