/** Reads the waiting jobs of graphile-worker 0.16 to 0.18 from its tables, and its schedules from a crontab. */
import { readFile } from 'node:fs/promises';
import { Refusal } from '../refusal.ts';
import { readCrontab } from './crontab.ts';
import { PostgresSession, quoted, timeOf, type Row } from './postgres-session.ts';
import type { ForeignJob, ForeignSchedule, JobFilter, LeftOut, ImportSource } from './source.ts';

export interface GraphileWorkerOptions {
  readonly schema?: string;
  readonly crontab?: string;
}

export async function openGraphileWorker(
  url: string,
  { schema = 'graphile_worker', crontab }: GraphileWorkerOptions = {},
): Promise<ImportSource> {
  const tables = ['_private_jobs', '_private_tasks'];
  const session = await PostgresSession.open(url, { system: 'graphile-worker', schema, tables });
  return {
    system: 'graphile-worker',
    place: `${session.database} ${schema}`,
    jobs: (filter) => jobsIn(session, schema, filter),
    schedules: () => schedulesIn(crontab),
    close: () => session.close(),
  };
}

/** A job without attempts left has failed for good: it does not wait. */
async function* jobsIn(
  session: PostgresSession,
  schema: string,
  { queues, includesActive }: JobFilter,
): AsyncGenerator<readonly (ForeignJob | LeftOut)[]> {
  const text =
    `select j.id, t.identifier, j.payload, j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.locked_at
      from ${quoted(schema)}._private_jobs j join ${quoted(schema)}._private_tasks t on t.id = j.task_id
      where (j.attempts < j.max_attempts or j.locked_at is not null) and ($1::text[] is null or t.identifier = any($1))
      order by j.priority, j.run_at, j.id`;
  for await (const rows of session.pages(text, [queues])) yield rows.map((row) => foundIn(row, includesActive));
}

/** Returns the job of a row. An attempt is counted when it starts; the attempt of an active job is made again. */
export function foundIn(row: Row, includesActive: boolean): ForeignJob | LeftOut {
  const queue = row['identifier'] as string;
  const isActive = row['locked_at'] !== null;
  if (isActive && !includesActive) return { queue, leftOut: 'active' };
  const key = row['key'] as string | null;
  return {
    id: String(row['id']),
    queue,
    payload: row['payload'],
    due: timeOf(row['run_at']),
    priority: -(row['priority'] as number),
    attemptsLeft: (row['max_attempts'] as number) - (row['attempts'] as number) + (isActive ? 1 : 0),
    ...(key === null ? {} : { key }),
  };
}

async function schedulesIn(path: string | undefined): Promise<readonly ForeignSchedule[]> {
  if (path === undefined) return [];
  try {
    return readCrontab(await readFile(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Refusal('malformed.option', `cannot read the crontab ${path}: ${code}`, { path });
  }
}
