/**
 * Sends the rows of Bedrock's table `jobs` to the process that executes users' SQL. Users' SQL never reaches
 * PostgreSQL, for two reasons: only a separate database role could restrict the functions that it calls, and Bedrock's
 * clients write the SQL of SQLite. PostgreSQL sends only `jobID` and the columns that the query reads. It leaves out
 * the jobs that the conditions found by `prefiltersOf` exclude.
 */
import pg from 'pg';
import { Refusal } from '../../../refusal.ts';
import type { RowSource } from '../../inspection/inspect.ts';
import type { ColumnName } from '../../inspection/messages.ts';
import { prefiltersOf, type Prefilter } from '../../inspection/prefilter.ts';
import type { Database } from '../sql/database.ts';
import { isTimedOut } from '../sql/errors.ts';
import { joinOriginSql, storedSql } from './open-rows.ts';

const fetchRows = 2000;

export const rowSource = (database: Database): RowSource => ({
  send: async (columns, sql, timeMs, write) => {
    const select = selectOf(database.schema, columns, prefiltersOf(sql));
    try {
      await database.transaction(async (transaction) => {
        await transaction.runUnprepared(`set local statement_timeout = ${Math.ceil(timeMs)}`);
        await transaction.runUnprepared(`declare inspection no scroll cursor for ${select}`);
        for (;;) {
          const rows = await transaction.runUnprepared<{ row: string }>(`fetch ${fetchRows} from inspection`);
          if (rows.length === 0) return;
          await write(`[${rows.map(({ row }) => row).join(',')}]`);
        }
      });
    } catch (error) {
      throw isTimedOut(error) ? new Refusal('costly.query', `the query takes longer than ${timeMs} ms`) : error;
    }
  },
});

const time = (ms: string): string =>
  `to_char(timestamp 'epoch' + (${ms}) * interval '1 millisecond', 'YYYY-MM-DD HH24:MI:SS')`;
const retryAfter = `(b -> 'policy' ->> 'retryAfter')`;
const repeat = `coalesce(b -> 'policy' ->> 'repeat', '')`;
const crashes = `coalesce((b ->> 'crashes')::int, 0)`;
const scheduled = `(b ->> 'scheduled')::bigint`;

/**
 * The rules of `isLate` (model/job.ts), `handOuts` and `originalNextRun` (vocabulary/bedrock.ts) in SQL, for open jobs.
 */
const isLate = `(state = 'pending' and ${retryAfter} is not null and ${crashes} > 0 and ${scheduled} is not null)`;
const handOuts = `case when b -> 'policy' ->> 'handOutsMax' is null then 0
  else ${crashes} + coalesce((b ->> 'attempt')::int, 0) end`;
const originalNextRun = `case when (state = 'running' or ${isLate}) and ${repeat} like '%SCHEDULED%'
  then ${time(`coalesce(${scheduled}, due)`)} end`;

type Columns = Readonly<Record<ColumnName, string>>;

/** The columns, besides input and body, of which the expressions below and the conditions consist. */
const rowNames = {
  job: 'id, kind, type, parent, created, state, due, lease_until, priority',
  ended: 'id, kind, type, parent, created, fate',
} as const;

const always = {
  created: time('created'),
  jobID: 'id',
  name: 'type',
  lastRun: time(`(b ->> 'startedAt')::bigint`),
  repeat,
  parentJobID: 'coalesce(parent, 0)',
  retryAfter: `coalesce(${retryAfter}, '')`,
};

const openColumns: Columns = {
  ...always,
  state: `case when state = 'held' then 'PAUSED' when ${isLate} then 'RUNQUEUED' when state = 'pending' then 'QUEUED'
    when ${retryAfter} is null then 'RUNNING' else 'RUNQUEUED' end`,
  nextRun: time(`coalesce(case when state = 'running' and ${retryAfter} is not null then lease_until end, due)`),
  data: `json_build_array(input, ${handOuts}, ${originalNextRun})`,
  priority: 'priority',
};

const endedColumns: Columns = {
  ...always,
  state: `case fate when 'succeeded' then 'FINISHED' when 'failed' then 'FAILED' else 'CANCELLED' end`,
  nextRun: time(`coalesce((b ->> 'due')::bigint, created)`),
  data: 'json_build_array(input, 0, null)',
  priority: `coalesce((b ->> 'priority')::bigint, 0)`,
};

/**
 * Returns the query for the rows of `jobs`. It leaves out succeeded jobs without a parent, because Bedrock deletes such
 * jobs when they succeed. The other ended jobs (not succeeded; succeeded with a parent) are read by two selects, so
 * that each can use a partial index.
 */
function selectOf(schema: string, columns: readonly ColumnName[], prefilters: readonly Prefilter[]): string {
  const where = [`kind in ('bedrock', 'mock')`, ...prefilters.map(conditionOf)].join(' and ');
  const select = (expressions: Columns, table: 'job' | 'ended', more = ''): string =>
    `select json_build_array(${columns.map((name) => expressions[name]).join(', ')})::text as row
      from (select ${rowNames[table]}, input, ${readableBody} as b from (
        select ${rowNames[table]}, ${storedSql.input} as input, ${storedSql.body} as body
        from ${schema}.${table} ${joinOriginSql(schema, table)}) row) t where ${where}${more}`;
  return [
    select(openColumns, 'job'),
    select(endedColumns, 'ended', ` and kind <> 'task' and fate <> 'succeeded'`),
    select(endedColumns, 'ended', ` and fate = 'succeeded' and parent is not null`),
  ].join(' union all ');
}

/**
 * The body as JSON, with the escapes of NUL and of surrogates replaced by U+FFFD. The text of an error can contain
 * these escapes, and PostgreSQL's JSON functions fail on them.
 */
const readableBody = String.raw`(case when body like '%\\u%'
  then regexp_replace(body, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\ufffd', 'g') else body end)::json`;

function conditionOf(prefilter: Prefilter): string {
  if (prefilter.column !== 'name') {
    const column = prefilter.column === 'jobID' ? 'id' : 'parent';
    return `${column} in (${prefilter.values.join(', ')})`;
  }
  if ('values' in prefilter) return `type in (${prefilter.values.map((name) => pg.escapeLiteral(name)).join(', ')})`;
  const prefix = pg.escapeLiteral(prefilter.prefix);
  return `type >= ${prefix} and starts_with(type, ${prefix})`;
}
