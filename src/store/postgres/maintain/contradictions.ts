/**
 * Finds contradictions between the tables `origin`, `job`, `claim` and `ended`. Each statement sees one snapshot, and
 * each change of a job is one transaction, so what a statement finds is no change in progress.
 * Implements `contradictions` of `port/maintenance.ts`.
 */
import type { Contradiction } from '../../store.ts';
import type { Database } from '../sql/database.ts';
import { claimedIdsSql } from '../read/claimed.ts';

interface TableCheck {
  /** A query for the jobs that contradict, as column `id`. */
  readonly find: (schema: string) => string;
  readonly sentence: (id: number) => string;
}

/** How many jobs a check reports. */
const reportedMax = 20;

const claimed = (schema: string): string => `(${claimedIdsSql(schema)}) claimed`;

const checks: readonly TableCheck[] = [
  {
    find: (s) => `select job.id from ${s}.job join ${s}.ended using (id)`,
    sentence: (id) => `job ${id} is both open and ended`,
  },
  {
    find: (s) => `select claimed.id from ${claimed(s)} join ${s}.job using (id)`,
    sentence: (id) => `job ${id} runs in a claim, and has an open row of its own`,
  },
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
  {
    find: (s) => `select parts.id from (
        select id from ${s}.job where body is null or input is null
        union all select id from ${s}.ended where input is null
        union all select id from ${claimed(s)}) parts
      left join ${s}.origin using (id) where origin.id is null`,
    sentence: (id) => `the origin of job ${id} is missing`,
  },
  {
    find: (s) => `select origin.id from ${s}.origin
      left join ${s}.job using (id) left join ${s}.ended using (id) left join ${claimed(s)} using (id)
      where job.id is null and ended.id is null and claimed.id is null`,
    sentence: (id) => `job ${id} has an origin, and is neither open nor ended`,
  },
];

export async function contradictions(database: Database): Promise<readonly Contradiction[]> {
  const found: Contradiction[] = [];
  for (const { find, sentence } of checks) {
    const rows = await database.runUnprepared<{ id: number }>(`${find(database.schema)} limit ${reportedMax}`);
    found.push(...rows.map(({ id }) => ({ job: Number(id), sentence: sentence(Number(id)) })));
  }
  return found;
}
