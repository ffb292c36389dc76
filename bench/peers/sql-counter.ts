/** Counts unfinished jobs in SQL, on a separate connection, for peers that have no such call. */
import pg from 'pg';

export interface SqlCounter {
  readonly count: () => Promise<number>;
  close(): Promise<void>;
}

export async function openSqlCounter(url: string, sql: string): Promise<SqlCounter> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    count: async () => Number((await client.query<{ count: string }>(sql)).rows[0]!.count),
    close: () => client.end(),
  };
}
