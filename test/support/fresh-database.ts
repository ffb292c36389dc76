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

let lastCopy: Promise<unknown> = Promise.resolve();

/** One copy after the other: a client of pg executes one statement at a time. */
function copyOf(source: Source): Promise<string> {
  const copied = lastCopy.then(() => copy(source));
  lastCopy = copied.catch(() => {});
  return copied;
}

/** The other strategy, wal_log, takes more than twice the CPU of file_copy. */
async function copy(source: Source): Promise<string> {
  const server = await serverUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = await clientOf(server);
  await client.query(`create database ${name} template ${await source(client, server)} strategy file_copy`);
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

let client: Promise<pg.Client> | undefined;

/** One session for all databases of this process, since each session takes 10 ms of CPU. It goes with the process. */
function clientOf(server: string): Promise<pg.Client> {
  client ??= connected(server);
  return client;
}

async function connected(url: string): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: url });
  opened.on('error', () => (client = undefined)); // without a listener, a connection lost would end the process
  await opened.connect();
  (opened as pg.Client & { unref(): void }).unref(); // its types leave it out
  return opened;
}
