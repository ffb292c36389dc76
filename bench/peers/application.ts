/** The application of the measure `in a transaction`: it creates each job in one transaction with a row of its own. */
import pg from 'pg';
import { machineMs } from '../payload.ts';
import type { Ordered } from './peer.ts';

/** Runs `work` in a transaction, and commits it. */
export type Transact<Tx> = (work: (tx: Tx) => Promise<void>) => Promise<void>;

/** Inserts an order, then calls `create`, in one transaction. */
export async function order<Tx>(
  transact: Transact<Tx>,
  insert: (tx: Tx) => Promise<unknown>,
  create: (tx: Tx) => Promise<unknown>,
): Promise<Ordered> {
  let [createMs, committingMs] = [0, 0];
  await transact(async (tx) => {
    await insert(tx);
    const start = machineMs();
    await create(tx);
    committingMs = machineMs();
    createMs = committingMs - start;
  });
  return { createMs, committingMs };
}

/** The application with the client of pg. */
export class Application {
  readonly #url: string;
  #client: Promise<pg.Client> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** Connects at the first call. */
  async order(create: (transaction: pg.Client) => Promise<unknown>): Promise<Ordered> {
    const client = await (this.#client ??= connected(this.#url));
    const transact: Transact<pg.Client> = async (work) => {
      await client.query('begin');
      await work(client);
      await client.query('commit');
    };
    return order(transact, () => client.query('insert into orders (item) values ($1)', ['a book']), create);
  }

  async close(): Promise<void> {
    await (await this.#client)?.end();
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table orders (id bigint generated always as identity, item text not null)');
  return client;
}
