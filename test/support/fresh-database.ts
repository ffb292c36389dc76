// A database of one's own on the PostgreSQL that the whole test run shares: empty, or with Stint's schema.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { inject } from 'vitest';
import { template } from './template-database.ts';

/** An empty database; answers its URL. Nobody need drop it: it goes with the server at the end of the run. */
export const freshDatabase = (): Promise<string> => copyOf(() => 'template1');

/** A database with Stint's schema and no jobs: a copy takes 30 ms of CPU, a new database that is migrated 185 ms. */
export const migratedDatabase = (): Promise<string> => copyOf(template);

type Source = (client: pg.Client, server: string) => string | Promise<string>;

/** The other strategy, wal_log, takes more than twice the CPU of file_copy. */
async function copyOf(source: Source): Promise<string> {
  const server = await serverUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(server, async (client) =>
    client.query(`create database ${name} template ${await source(client, server)} strategy file_copy`));
  return new URL(`/${name}`, server).href;
}

let server: Promise<string> | undefined;

/** The URL of the PostgreSQL that the test run shares; it is started for the first who asks. */
export function serverUrl(): Promise<string> {
  server ??= askForServer();
  return server;
}

async function askForServer(): Promise<string> {
  const answer = await text(connect(inject('postgresPort'), '127.0.0.1'));
  if (!answer.startsWith('postgres')) throw new Error(`cannot start PostgreSQL for the tests: ${answer}`);
  return answer;
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // without a listener, a connection lost would end the process
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
