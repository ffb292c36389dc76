/** Counts by SQL, on a connection of its own, what a peer has no question for. */
import pg from 'pg';

export interface Counted {
  readonly count: () => Promise<number>;
  close(): Promise<void>;
}

export async function countedBy(url: string, sql: string): Promise<Counted> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    count: async () => Number((await client.query<{ count: string }>(sql)).rows[0]!.count),
    close: () => client.end(),
  };
}
