// The databases of simulations: on a server of their own, where nothing happens by chance.
import pg from 'pg';
import { TestPostgres } from '../../support/postgres.ts';
import { template } from '../../support/template-database.ts';

/** A vacuum or new statistics would change plans, and so the order of rows, at times of its own. */
const settings = { autovacuum: 'off', fsync: 'off', synchronous_commit: 'off' };

export class SimulationDatabases implements AsyncDisposable {
  readonly #server: TestPostgres;
  readonly #client: pg.Client;
  #count = 0;

  private constructor(server: TestPostgres, client: pg.Client) {
    this.#server = server;
    this.#client = client;
  }

  static async start(): Promise<SimulationDatabases> {
    const server = await TestPostgres.create({ settings });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return new SimulationDatabases(server, client);
  }

  /** Returns the URL of a database with Stint's schema and no jobs. */
  async next(): Promise<string> {
    this.#count += 1;
    const name = `simulation_${this.#count}`;
    await this.#client.query(`create database ${name} template ${await template(this.#client, this.#server.url)} strategy file_copy`);
    return new URL(`/${name}`, this.#server.url).href;
  }

  async drop(url: string): Promise<void> {
    await this.#client.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
    await this.#server.stop();
  }
}
