/** The process that executes one SQL query: it can read the view `jobs`, and an authorizer denies everything else. */
import { constants, DatabaseSync } from 'node:sqlite';
import type { RefusalCode } from '../../../refusal.ts';
import type { Cell, Inspection } from '../../store.ts';

export interface InspectorOrder {
  readonly path: string;
  /** A random name for the view below `jobs`, which no query can guess. */
  readonly secret: string;
  readonly sql: string;
  readonly rowsMax: number;
}

export type InspectorReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly inspection: Inspection }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };

const time = (ms: string): string => `strftime('%Y-%m-%d %H:%M:%S', (${ms}) / 1000.0, 'unixepoch')`;
const retryAfter = `body ->> '$.policy.retryAfter'`;
/** As in the vocabulary of Bedrock: the retry count includes lost attempts and the one that is running. */
const data = (running: string): string =>
  `iif(body ->> '$.policy.handOutsMax' IS NULL OR coalesce(body ->> '$.crashes', 0) + ${running} = 0, input,
    json_set(input, '$.retryAfterCount', coalesce(body ->> '$.crashes', 0) + ${running}))`;
const isQueued = `kind IN ('bedrock', 'mock')`;

/** The columns of Bedrock's table, in its order. Bedrock deletes jobs without a parent that succeeded. */
const viewSql = (name: string): string => `CREATE TEMP VIEW ${name}(
    created, jobID, state, name, nextRun, lastRun, repeat, data, priority, parentJobID, retryAfter) AS
  SELECT ${time('created')}, id,
    CASE state WHEN 'pending' THEN 'QUEUED' WHEN 'held' THEN 'PAUSED'
      ELSE iif(${retryAfter} IS NULL, 'RUNNING', 'RUNQUEUED') END,
    type, ${time(`coalesce(iif(state = 'running' AND ${retryAfter} IS NOT NULL, lease_until, NULL), due)`)},
    ${time(`body ->> '$.startedAt'`)}, coalesce(body ->> '$.policy.repeat', ''), ${data(`(state = 'running')`)},
    priority, coalesce(parent, 0), coalesce(${retryAfter}, '')
  FROM main.job WHERE ${isQueued}
  UNION ALL
  SELECT ${time('created')}, id,
    CASE fate WHEN 'succeeded' THEN 'FINISHED' WHEN 'failed' THEN 'FAILED' ELSE 'CANCELLED' END,
    type, ${time(`coalesce(body ->> '$.due', created)`)}, ${time(`body ->> '$.startedAt'`)},
    coalesce(body ->> '$.policy.repeat', ''), ${data('0')}, coalesce(body ->> '$.priority', 0), coalesce(parent, 0),
    coalesce(${retryAfter}, '')
  FROM main.ended WHERE ${isQueued} AND NOT (fate = 'succeeded' AND parent IS NULL)`;

/** The maximum length of one text, and of the whole result. */
const textMax = 4_194_304;
const foundMax = 33_554_432;

process.once('message', (order: InspectorOrder) => {
  const db = open(order);
  process.send!({ kind: 'ready' } satisfies InspectorReport);
  process.send!(reportOf(db, order));
});

function open({ path, secret }: InspectorOrder): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  db.limits.length = textMax;
  db.exec(viewSql(secret));
  db.exec(`CREATE TEMP VIEW jobs AS SELECT * FROM ${secret}`);
  db.setAuthorizer(authorizer(secret));
  return db;
}

/** SQLite names the view within which a table is read, and a CTE can have any view's name: hence the secret name. */
function authorizer(secret: string): Parameters<DatabaseSync['setAuthorizer']>[0] {
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION } = constants;
  // json_each and json_tree read only their arguments.
  const readable: readonly (string | null)[] = ['jobs', secret, 'json_each', 'json_tree'];
  const isAllowed = (action: number, first: string | null, second: string | null, within: string | null): boolean => {
    if (action === SQLITE_FUNCTION) return second?.toLowerCase() !== 'load_extension';
    if (action === SQLITE_READ) return readable.includes(first) || within === secret;
    return action === SQLITE_SELECT;
  };
  return (action, first, second, _db, within) => (isAllowed(action, first, second, within) ? SQLITE_OK : SQLITE_DENY);
}

function reportOf(db: DatabaseSync, { sql, rowsMax }: InspectorOrder): InspectorReport {
  try {
    const statement = db.prepare(sql);
    const others = sql.slice(statement.sourceSQL.length).trim();
    if (others !== '') return refused('forbidden.query', 'there is more than one statement');
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
    return failed(error as Error & { errcode?: number }, sql);
  }
}

/** SQLite's code for what its authorizer denied. */
const denied = 23;

/** A statement that is no query is forbidden, even if it is also malformed. */
function failed({ message, errcode }: Error & { errcode?: number }, sql: string): InspectorReport {
  const isDenied = errcode === denied || message.startsWith('not authorized');
  const isQuestion = /^\s*(?:select|with|values|explain)\b/i.test(sql) || isSyntax(message);
  return refused(isDenied || !isQuestion ? 'forbidden.query' : 'malformed.query', message);
}

const isSyntax = (message: string): boolean => /syntax error|incomplete input/.test(message);

const refused = (code: RefusalCode, message: string): InspectorReport => ({ kind: 'refused', code, message });

function cellOf(value: unknown): Cell {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as Cell);
}
