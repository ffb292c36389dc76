// The databases of simulations: on a server of their own, where nothing happens by chance.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { TestPostgres } from '../../support/postgres.ts';
import { template } from '../../support/template-database.ts';

/** A vacuum or new statistics would change plans, and so the order of rows, at times of its own. */
const settings = { autovacuum: 'off', synchronous_commit: 'off' };

export const startSimulationServer = (): Promise<TestPostgres> => TestPostgres.create({ settings });

/** Gives `work` the URL of a database with Stint's schema and no jobs. */
export async function withDatabase<T>(server: string, work: (url: string) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const name = `simulation_${randomBytes(6).toString('hex')}`;
  await client.query(`create database ${name} template ${await template(client, server)} strategy file_copy`);
  try {
    return await work(new URL(`/${name}`, server).href);
  } finally {
    await client.query(`drop database ${name} with (force)`);
    await client.end();
  }
}
