/** Reads the waiting jobs and the schedules of pg-boss 10 to 12 from its tables. */
import { cronEntry } from './cron-dialect.ts';
import { PostgresSession, quoted, timeOf, type Row } from './postgres-session.ts';
import type { ForeignJob, ForeignSchedule, JobFilter, LeftOut, ImportSource } from './source.ts';

const internalQueues = '__pgboss__';

export async function openPgBoss(url: string, schema = 'pgboss'): Promise<ImportSource> {
  const session = await PostgresSession.open(url, { system: 'pg-boss', schema, tables: ['job', 'schedule'] });
  return {
    system: 'pg-boss',
    place: `${session.database} ${schema}`,
    jobs: (filter) => jobsIn(session, schema, filter),
    schedules: async () => {
      const rows = await session.query(`select * from ${quoted(schema)}.schedule`, []);
      return rows.map(foreignSchedule).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
    close: () => session.close(),
  };
}

/**
 * All columns are read, because older versions lack some of them. Jobs that were sent together have the same times:
 * their order is that of their rows, as in pg-boss.
 */
async function* jobsIn(
  session: PostgresSession,
  schema: string,
  { queues, includesActive }: JobFilter,
): AsyncGenerator<readonly (ForeignJob | LeftOut)[]> {
  const text =
    `select * from ${quoted(schema)}.job where state::text in ('created', 'retry', 'active')
      and ($1::text[] is null or name = any($1)) order by start_after, created_on, tableoid, ctid`;
  for await (const rows of session.pages(text, [queues])) yield rows.map((row) => foundIn(row, includesActive));
}

/** Returns the job of a row of the table `job`. */
export function foundIn(row: Row, includesActive: boolean): ForeignJob | LeftOut {
  const queue = row['name'] as string;
  if (queue.startsWith(internalQueues)) return { queue, leftOut: 'internal' };
  if (row['state'] === 'active' && !includesActive) return { queue, leftOut: 'active' };
  if (row['blocked'] === true || row['blocking'] === true) return { queue, leftOut: 'flow' };
  const key = row['singleton_key'] as string | null;
  return {
    id: row['id'] as string,
    queue,
    payload: row['data'],
    due: timeOf(row['start_after']),
    priority: row['priority'] as number,
    attemptsLeft: attemptsLeft(row),
    ...(key === null || key === '' ? {} : { key }),
  };
}

/** `retry_count` counts the claims after the first. */
function attemptsLeft(row: Row): number {
  const first = row['started_on'] === null ? 1 : 0;
  return Math.max(1, (row['retry_limit'] as number) - (row['retry_count'] as number) + first);
}

/** Returns the schedule of a row of the table `schedule`. Before pg-boss 11, a queue had one schedule and no key. */
export function foreignSchedule(row: Row): ForeignSchedule {
  const queue = row['name'] as string;
  const key = (row['key'] as string | undefined) ?? '';
  const { priority, retryLimit } = (row['options'] ?? {}) as { priority?: number; retryLimit?: number };
  return {
    name: key === '' ? queue : `${queue} ${key}`,
    queue,
    schedule: (row['kind'] ?? 'cron') === 'cron'
      ? cronEntry(row['cron'] as string, (row['timezone'] as string | null) ?? 'UTC')
      : 'it is an RRULE, and Stint has none: write it as a cron expression or an interval',
    payload: row['data'],
    ...(priority === undefined ? {} : { priority }),
    ...(retryLimit === undefined ? {} : { attempts: retryLimit + 1 }),
  };
}
