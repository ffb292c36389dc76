// The table of effects that handlers write in `complete`. It has no key: an effect that is written twice is there twice.
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { countEffects, type Effects } from '../../sim/completing.ts';

export interface EffectTable {
  create(): Promise<void>;
  count(): Promise<readonly Effects[]>;
}

const create = 'create table effects(job bigint, fence bigint)';

export const openEffectTable = (url: string): EffectTable => {
  const query = url.startsWith('sqlite:') ? queryFile(url.slice('sqlite:'.length)) : queryServer(url);
  return {
    create: async () => void (await query(create)),
    count: async () => (await query(countEffects)).map(({ job, fence, count }) =>
      ({ job: Number(job), fence: Number(fence), count: Number(count) })),
  };
};

type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const queryFile = (path: string): Query => async (sql) => {
  using db = new DatabaseSync(path, { timeout: 10_000 });
  return db.prepare(sql).all();
};

const queryServer = (connectionString: string): Query => async (sql) => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Readonly<Record<string, unknown>>>(sql)).rows;
  } finally {
    await client.end();
  }
};
