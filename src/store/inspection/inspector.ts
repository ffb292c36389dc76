/**
 * The process that executes users' SQL, one query at a time. A query can read `jobs` and call functions except
 * `load_extension`; an authorizer denies everything else. Each query has a connection of its own, so that a later query
 * can use neither the data of an earlier query nor the random name of that query's view (`openFile`).
 */
import { constants, DatabaseSync } from 'node:sqlite';
import { systemRandom } from '../../random.ts';
import type { RefusalCode } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import { withHandOut } from '../../vocabulary/bedrock.ts';
import type { Cell } from '../store.ts';
import {
  columnNames, type ColumnName, type DataParts, type InspectorOrder, type InspectorReport, type SentRow,
} from './messages.ts';

type QueryOrder = Extract<InspectorOrder, { kind: 'query' }>;

/**
 * `textMax`: the bytes of one text. `foundMax`: the characters of the whole result. `memoryMax`: the bytes of memory
 * that SQLite uses. A query that exceeds one of these limits is refused.
 */
const textMax = 4_194_304;
const foundMax = 33_554_432;
const memoryMax = 536_870_912;
/** The process exits after this time without a message. */
const idleMs = 60_000;

/** A query that waits for rows from the store. */
interface WaitingQuery {
  readonly db: DatabaseSync;
  readonly order: QueryOrder;
  readonly columns: readonly ColumnName[];
}

let waiting: WaitingQuery | null = null;
let stopIdleTimer = (): void => {};

type SqliteError = Error & { readonly errcode?: number };

const send = (report: InspectorReport): void => void process.send!(report);

process.on('message', (order: InspectorOrder) => {
  stopIdleTimer();
  receive(order);
  stopIdleTimer = systemClock.after(idleMs, () => process.exit());
});
process.once('disconnect', () => process.exit());
send({ kind: 'ready' });

function receive(order: InspectorOrder): void {
  switch (order.kind) {
    case 'query':
      return order.rows === 'sent' ? prepareFor(order) : executeOn(openFile(order.rows), order);
    case 'rows':
      return insertInto(waiting!, JSON.parse(order.text) as SentRow[]);
    case 'allSent':
      return executeOn(waiting!.db, waiting!.order);
  }
}

function executeOn(db: DatabaseSync, order: QueryOrder): void {
  waiting = null;
  const report = reportOf(db, order);
  db.close();
  send(report);
}

/**
 * Opens the store's file read-only. `jobs` is a view over another view, which reads the tables of the store. The other
 * view has a random name, which no query can guess.
 */
function openFile({ path, select }: Exclude<QueryOrder['rows'], 'sent'>): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  limit(db);
  db.function('with_hand_out', { deterministic: true }, (input, handOuts, originalNextRun) =>
    dataText([String(input), Number(handOuts), originalNextRun as string | null]));
  const secret = `secret_${systemRandom.hex(16)}`;
  db.exec(`CREATE TEMP VIEW ${secret}(${columnNames.join(', ')}) AS ${select}`);
  db.exec(`CREATE TEMP VIEW jobs AS SELECT * FROM ${secret}`);
  db.setAuthorizer(authorizer(['jobs', secret], secret));
  return db;
}

/**
 * Creates a table `jobs` in memory for the rows that the store will send. Reports to the store which columns the query
 * reads, so that the store sends only these columns and `jobID`. If the query reads no job, it is executed immediately.
 */
function prepareFor(order: QueryOrder): void {
  const db = new DatabaseSync(':memory:');
  limit(db);
  const numbers: readonly string[] = ['priority', 'parentJobID'] satisfies ColumnName[];
  const typed = (name: ColumnName): string => `${name} ${numbers.includes(name) ? 'INTEGER' : 'TEXT'}`;
  db.exec(`CREATE TABLE jobs(${columnNames.map(typed).join(', ').replace('jobID TEXT', 'jobID INTEGER PRIMARY KEY')})`);
  const read = new Set<string>();
  db.setAuthorizer(authorizer(['jobs'], null, (column) => read.add(column)));
  const refusal = refusalOf(db, order.sql);
  if (refusal !== null) {
    db.close();
    return send(refusal);
  }
  if (read.size === 0) return executeOn(db, order);
  const columns = columnNames.filter((name) => name === 'jobID' || read.has(name));
  waiting = { db, order, columns };
  send({ kind: 'needs', columns });
}

/**
 * Inserts rows. If SQLite fails, refuses the query and ends this process, because the store would go on sending rows.
 */
function insertInto({ db, columns, order }: WaitingQuery, rows: readonly SentRow[]): void {
  try {
    insert(db, columns, rows);
  } catch (error) {
    process.removeAllListeners('message'); // what the store still sends must not be answered as another query
    process.send!(failed(error as SqliteError, order.sql), () => process.exit());
  }
}

function insert(db: DatabaseSync, columns: readonly ColumnName[], rows: readonly SentRow[]): void {
  db.setAuthorizer(null);
  const values = columns.map(() => '?').join();
  const statement = db.prepare(`INSERT OR REPLACE INTO jobs(${columns.join()}) VALUES (${values})`);
  db.exec('BEGIN');
  for (const row of rows) statement.run(...row.map((cell) => (isDataParts(cell) ? dataText(cell) : cell)));
  db.exec('COMMIT');
  db.setAuthorizer(authorizer(['jobs'], null));
}

const isDataParts = (cell: SentRow[number]): cell is DataParts => Array.isArray(cell);

const dataText = ([input, handOuts, originalNextRun]: DataParts): string =>
  handOuts === 0 ? input : withHandOut(input, handOuts, originalNextRun);

function limit(db: DatabaseSync): void {
  db.limits.length = textMax;
  db.exec(`PRAGMA hard_heap_limit = ${memoryMax}`);
}

type Authorizer = Parameters<DatabaseSync['setAuthorizer']>[0];

/**
 * Returns an authorizer that lets a query read `tables`, and lets `view` read all tables. SQLite passes to it the name
 * of the view or CTE inside which a table is read (`within`). The name of the view is random: a query that knew it
 * could define a CTE with this name and so read all tables. `onRead` is called with each column of `jobs` that the
 * query reads. The column name is empty if a query reads `jobs` but none of its columns, as in `count(*)`.
 */
function authorizer(
  tables: readonly string[],
  view: string | null,
  onRead = (_column: string): void => {},
): Authorizer {
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION } = constants;
  // json_each and json_tree are listed because they read only their arguments.
  const readable: readonly (string | null)[] = [...tables, 'json_each', 'json_tree'];
  const isAllowed = (action: number, first: string | null, second: string | null, within: string | null): boolean => {
    if (action === SQLITE_FUNCTION) return second?.toLowerCase() !== 'load_extension';
    if (action === SQLITE_READ) return readable.includes(first) || (view !== null && within === view);
    return action === SQLITE_SELECT;
  };
  return (action, first, second, _db, within) => {
    if (!isAllowed(action, first, second, within)) return SQLITE_DENY;
    if (action === SQLITE_READ && first === 'jobs') onRead(second ?? '');
    return SQLITE_OK;
  };
}

/**
 * Returns the refusal of a query that cannot be prepared or has several statements; null: the query can be executed.
 */
function refusalOf(db: DatabaseSync, sql: string): InspectorReport | null {
  try {
    const { sourceSQL } = db.prepare(sql);
    const others = sql.slice(sourceSQL.length).trim();
    return others === '' ? null : refused('forbidden.query', 'there is more than one statement');
  } catch (error) {
    return failed(error as SqliteError, sql);
  }
}

function reportOf(db: DatabaseSync, { sql, rowsMax }: QueryOrder): InspectorReport {
  const refusal = refusalOf(db, sql);
  if (refusal !== null) return refusal;
  try {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const columns = statement.columns().map(({ name }) => name);
    const rows: Cell[][] = [];
    let size = 0;
    for (const found of statement.iterate()) {
      const row = (found as unknown as unknown[]).map(cellOf);
      size += row.reduce<number>((sum, cell) => sum + String(cell).length, 0);
      const isTooMuch = rows.length === rowsMax || size > foundMax;
      if (isTooMuch) return refused('costly.query', `more than ${rowsMax} rows, or too large: add a LIMIT`);
      rows.push(row);
    }
    return { kind: 'found', inspection: { columns, rows } };
  } catch (error) {
    return failed(error as SqliteError, sql);
  }
}

/**
 * SQLite's error codes SQLITE_AUTH (the authorizer denied the access), SQLITE_NOMEM (out of memory) and SQLITE_TOOBIG
 * (a text is larger than `textMax`).
 */
const [denied, outOfMemory, tooBig] = [23, 7, 18];

/**
 * Turns SQLite's error into a refusal. A statement that is not a query is refused as forbidden, or as malformed if it
 * has a syntax error.
 */
function failed({ message, errcode }: SqliteError, sql: string): InspectorReport {
  if (errcode === outOfMemory) return refused('costly.query', 'the query needs too much memory');
  if (errcode === tooBig) return refused('costly.query', `the query makes or reads a text of more than ${textMax} bytes`);
  // A missing table is refused like a denied one, so that a query cannot find out which tables exist. This also gives
  // the same refusal on all stores, although their tables differ.
  const isDenied = errcode === denied || /^(?:not authorized|no such table)/.test(message);
  const isQuestion = /^\s*(?:select|with|values|explain)\b/i.test(sql) || isSyntax(message);
  return refused(isDenied || !isQuestion ? 'forbidden.query' : 'malformed.query', message);
}

const isSyntax = (message: string): boolean => /syntax error|incomplete input/.test(message);

const refused = (code: RefusalCode, message: string): InspectorReport => ({ kind: 'refused', code, message });

function cellOf(value: unknown): Cell {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as Cell);
}
