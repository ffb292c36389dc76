/** The application of the measure `in a transaction`: it creates each job in one transaction with a row of its own. */
import pg from 'pg';

export class Application {
  readonly #url: string;
  #client: Promise<pg.Client> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** Inserts an order, then calls `create`, in one transaction. Connects at the first call. */
  async order(create: (transaction: pg.Client) => Promise<unknown>): Promise<void> {
    const client = await (this.#client ??= connected(this.#url));
    await client.query('begin');
    await client.query('insert into orders (item) values ($1)', ['a book']);
    await create(client);
    await client.query('commit');
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
