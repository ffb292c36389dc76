// A store with 10,000 definitions and a million runs of theirs. Its rows are copied inside the database.
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import type { DefDocument } from '../../src/index.ts';

export const defCount = 10_000;
export const defName = (number: number): string => `job ${String(number).padStart(5, '0')}`;

/** Every 20th is of the type that fails, every 50th is disabled, and the last 100 get no run. */
export const document = (): DefDocument => ({
  definitions: Array.from({ length: defCount }, (_, n) => ({
    name: defName(n),
    type: isUnlucky(n) ? 'invoice.render' : 'mail.send',
    params: { to: `team${n % 100}@example.org` },
    schedules: [n % 2 === 0 ? { cron: `${n % 60} ${n % 24} * * *` } : { every: `${1 + (n % 24)}h` }],
    tags: { team: n % 100 === 7 ? 'red' : 'blue' },
    enabled: n % 50 !== 1,
  })),
});

export const isUnlucky = (number: number): boolean => number % 20 === 0;
const withRuns = defCount - 100;

export interface Templates {
  /** The ids of a run that succeeded, and of one that failed. */
  readonly usual: number;
  readonly unlucky: number;
  /** The first id of the copies. */
  readonly first: number;
}

const rowsAtOnce = 20_000;

/** Copies runs: one for each definition in turn. In batches, so that the server stays responsive. */
export async function copyRuns(store: string, count: number, templates: Templates): Promise<void> {
  const copier = store.startsWith('postgres') ? await postgresCopier(store, templates) : sqliteCopier(store, templates);
  for (let done = 0; done < count; done += rowsAtOnce) {
    await copier.copy(done, count);
    await turn();
  }
  await copier.close();
}

interface Copier {
  copy(from: number, count: number): Promise<void> | void;
  close(): Promise<void> | void;
}

function sqliteCopier(store: string, { usual, unlucky, first }: Templates): Copier {
  const db = new DatabaseSync(store.replace('sqlite:', ''), { timeout: 30_000 });
  db.exec('PRAGMA synchronous=OFF');
  const columns = db.prepare(`SELECT name FROM pragma_table_info('ended')`).all().map(({ name }) => String(name));
  const others = columns.filter((name) => !['id', 'def', 'ended_at'].includes(name)).join(', ');
  const copy = db.prepare(`
    WITH RECURSIVE series(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ?1 + ${rowsAtOnce})
    INSERT INTO ended(id, def, ended_at, ${others})
    SELECT ${first} + n, printf('job %05d', n % ${withRuns}), ended_at - ?2 + n, ${others} FROM series
    JOIN ended ON ended.id = CASE WHEN n % ${withRuns} % 20 = 0 THEN ${unlucky} ELSE ${usual} END`);
  return { copy: (from, count) => void copy.run(from, count), close: () => db.close() };
}

async function postgresCopier(store: string, { usual, unlucky, first }: Templates): Promise<Copier> {
  const client = new pg.Client({ connectionString: store });
  await client.connect();
  await client.query('set synchronous_commit = off');
  const statement = async (table: string, changed: Readonly<Record<string, string>>): Promise<string> => {
    const { rows } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns where table_schema = 'stint' and table_name = $1`, [table]);
    const others = rows.map(({ name }) => name).filter((name) => !(name in changed));
    return `insert into stint.${table} (${[...Object.keys(changed), ...others].join(', ')})
      select ${[...Object.values(changed), ...others].join(', ')} from generate_series($1::bigint, $1 + ${rowsAtOnce - 1}) n
      join stint.${table} on ${table}.id = case when n % ${withRuns} % 20 = 0 then ${unlucky} else ${usual} end`;
  };
  const same = { id: `${first} + n`, def: `'job ' || lpad((n % ${withRuns})::text, 5, '0')` };
  const origin = await statement('origin', same);
  const ended = await statement('ended', { ...same, ended_at: 'ended_at - $2::bigint + n' });
  return {
    async copy(from, count) {
      await client.query(origin, [from]);
      await client.query(ended, [from, count]);
    },
    async close() {
      await client.query('vacuum analyze stint.origin, stint.ended, stint.job');
      await client.end();
    },
  };
}
