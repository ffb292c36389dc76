// An empty database of one's own on the PostgreSQL that the whole test run shares.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { inject } from 'vitest';

/** Answers its URL. Nobody need drop it: it goes with the server at the end of the run. */
export async function freshDatabase(): Promise<string> {
  const server = await serverUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOnServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
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

async function runOnServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // without a listener, a connection lost would end the process
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
