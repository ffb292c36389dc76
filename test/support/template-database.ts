// The template of migrated databases: built once per server, by the first process that asks for it.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { PostgresStore } from '../../src/store/postgres/store.ts';

let name: Promise<string> | undefined;

/** Answers its name. `client` is connected to the server's own database. */
export function template(client: pg.Client, server: string): Promise<string> {
  name ??= find(client, server);
  return name;
}

/** Its name contains a hash of the migrations, since a run with a planted mutant shares the server of another run. */
async function find(client: pg.Client, server: string): Promise<string> {
  const statements = await withStore(server, async (store) => (await store.migrate({ dryRun: true })).statements);
  const hash = createHash('sha256').update(statements.join(';')).digest('hex').slice(0, 12);
  const template = `template_${hash}`;
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 0) await build(client, server, template);
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [template]);
  }
  return template;
}

/** It gets its name when it is complete: a process killed meanwhile leaves none that is half migrated. */
async function build(client: pg.Client, server: string, template: string): Promise<void> {
  const unfinished = `unfinished_${template}`;
  await client.query(`drop database if exists ${unfinished} with (force)`);
  await client.query(`create database ${unfinished}`);
  await withStore(new URL(`/${unfinished}`, server).href, (store) => store.migrate());
  await client.query(`alter database ${unfinished} rename to ${template}`);
}

async function withStore<T>(url: string, work: (store: PostgresStore) => Promise<T>): Promise<T> {
  const store = new PostgresStore(url, { notify: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
