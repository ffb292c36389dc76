/**
 * Finds contradictions between the tables `origin`, `job`, `claim` and `ended`. Each statement sees one snapshot, and
 * each change of a job is one transaction, so what a statement finds is no change in progress.
 * Implements `contradictions` of `port/maintenance.ts`.
 */
import type { Contradiction } from '../../store.ts';
import type { Database } from '../sql/database.ts';
import { claimedIdsSql } from '../read/claimed.ts';

interface TableCheck {
  /** A query for the jobs that contradict, as column `id`; of a portion, those with ids above $1 and up to $2. */
  readonly find: (schema: string) => string;
  readonly sentence: (id: number) => string;
}

/** How many jobs a check reports. */
const reportedMax = 20;

/** How many rows of a table are joined by one statement, so that none takes long, however many jobs are stored. */
const portion = 20_000;

const claimed = (schema: string): string => `(${claimedIdsSql(schema)}) claimed`;

const within = (id: string): string => `${id} > $1::bigint and ${id} <= $2::bigint`;
const claimedWithin = (schema: string): string =>
  `(${claimedIdsSql(schema, { where: `claim.last > $1::bigint and claim.first <= $2::bigint and ${within('listed.id')}` })}) claimed`;

/** Claims are few: each has the ids of many jobs. */
const checksOfClaims: readonly TableCheck[] = [
  {
    find: (s) => `select claimed.id from ${claimed(s)} group by id having count(*) > 1`,
    sentence: (id) => `job ${id} runs in several claims`,
  },
  {
    find: (s) => `select claim.first as id from ${s}.claim
      left join (select claim, count(*) as count from ${claimed(s)} group by claim) running on running.claim = claim.id
      where claim.remaining <> coalesce(running.count, 0)`,
    sentence: (id) => `the claim of job ${id} counts other jobs than those that run in it`,
  },
];

const checksOfPortions: readonly TableCheck[] = [
  {
    find: (s) => `select job.id from ${s}.job join ${s}.ended using (id) where ${within('job.id')} and ${within('ended.id')}`,
    sentence: (id) => `job ${id} is both open and ended`,
  },
  {
    find: (s) => `select claimed.id from ${claimedWithin(s)} join ${s}.job using (id) where ${within('job.id')}`,
    sentence: (id) => `job ${id} runs in a claim, and has an open row of its own`,
  },
  {
    find: (s) => `select parts.id from (
        select id from ${s}.job where (body is null or input is null) and ${within('id')}
        union all select id from ${s}.ended where input is null and ${within('id')}
        union all select id from ${claimedWithin(s)}) parts
      left join (select id from ${s}.origin where ${within('id')}) origin using (id) where origin.id is null`,
    sentence: (id) => `the origin of job ${id} is missing`,
  },
  {
    find: (s) => `select origin.id from ${s}.origin
      left join (select id from ${s}.job where ${within('id')}) job using (id)
      left join (select id from ${s}.ended where ${within('id')}) ended using (id)
      left join ${claimedWithin(s)} using (id)
      where ${within('origin.id')} and job.id is null and ended.id is null and claimed.id is null`,
    sentence: (id) => `job ${id} has an origin, and is neither open nor ended`,
  },
];

export async function contradictions(database: Database): Promise<readonly Contradiction[]> {
  const found = await Promise.all(checksOfClaims.map((check) => run(database, check, [])));
  const counts = new Map<TableCheck, number>();
  for await (const bounds of portions(database)) {
    for (const check of checksOfPortions) {
      const before = counts.get(check) ?? 0;
      if (before === reportedMax) continue;
      const some = (await run(database, check, bounds)).slice(0, reportedMax - before);
      counts.set(check, before + some.length);
      found.push(some);
    }
  }
  return found.flat();
}

async function run(database: Database, { find, sentence }: TableCheck, values: readonly number[]): Promise<readonly Contradiction[]> {
  const rows = await database.runUnprepared<{ id: number }>(`${find(database.schema)} limit ${reportedMax}`, [...values]);
  return rows.map(({ id }) => ({ job: Number(id), sentence: sentence(Number(id)) }));
}

/** Yields ranges of ids that together contain all: an id above which each begins, and the last one of it. */
async function* portions(database: Database): AsyncGenerator<readonly [number, number]> {
  const { schema } = database;
  const ends = ['origin', 'job', 'ended'].map((table) =>
    `(select id from ${schema}.${table} where id > $1::bigint order by id offset ${portion - 1} limit 1)`);
  for (let after = -1; after < Number.MAX_SAFE_INTEGER;) {
    const [row] = await database.runUnprepared<{ id: number | null }>(
      `select min(id) as id from (${ends.join(' union all ')}) ends`, [after],
    );
    const last = row?.id ?? Number.MAX_SAFE_INTEGER;
    yield [after, last];
    after = last;
  }
}
