// An empty database of one's own on the PostgreSQL that the whole test run shares.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Answers its URL. Nobody need drop it: it goes with the server at the end of the run. */
export async function freshDatabase(): Promise<string> {
  const server = inject('pgUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOnServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
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
