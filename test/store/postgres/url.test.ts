// URLs of PostgreSQL: several hosts, options in the query and the environment, and refusals that show no password.
import { expect, test, vi } from 'vitest';
import { openStore } from '../../../src/open/store.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/sql/url.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { freePort } from '../../support/postgres.ts';
import { connect, made, openStore as openPostgres } from './ground.ts';

test('each host has a URL, with user, database and what the driver reads', () => {
  const url = 'postgresql://ann:s%40fe@one:5432,two,[::1]:6000/jobs?sslmode=no-verify&schema=queue&max=3';
  expect(parsePostgresUrl(url)).toEqual({
    hosts: [
      'postgresql://ann:s%40fe@one:5432/jobs?sslmode=no-verify',
      'postgresql://ann:s%40fe@two/jobs?sslmode=no-verify',
      'postgresql://ann:s%40fe@[::1]:6000/jobs?sslmode=no-verify',
    ],
    isWritable: true,
    options: { schema: 'queue', max: '3' },
  });
});

test.each([
  ['postgres://one/db', false],
  ['postgres://one/db?target_session_attrs=read-write', true],
  ['postgres://one,two/db', true],
  ['postgres://one,two/db?target_session_attrs=any', false],
])('%s demands a server that accepts writes: %s', (url, isWritable) => {
  expect(parsePostgresUrl(url)).toMatchObject({ isWritable, options: {} });
});

test.each([
  ['postgres:/one/db', 'use postgres://'],
  ['postgres://ann:secret/word@one/db', 'percent-encode'],
  ['postgres://ann:secret@one:port/db', 'percent-encode'],
  ['postgres://ann:secret@one:99999/db', 'HOST:PORT'],
  ['postgres://ann:secret@one,two:x/db', 'host 2 is invalid'],
  ['postgres://ann:secret@one/db?target_session_attrs=standby', 'since Stint writes'],
  ['postgres://ann:secret@one/db?host=a,b', 'HOST:PORT,HOST:PORT'],
  ['postgres://ann:secret@one/db?poolsize=4', 'unknown option "poolsize" of a PostgreSQL URL; it takes schema, max'],
  ['postgres://ann:secret@one/db?max=many', 'the option max of the store URL must be an integer from 1 to 1000'],
  ['postgres://ann:secret@one/db?prepare=no', 'must be true or false'],
  ['postgres://ann:secret@one/db?sslrootcert=/no/such/file', 'no such file'],
  ['sqlite:jobs.db?durabilty=normal', 'unknown option "durabilty" of a SQLite URL; it takes durability'],
  ['sqlite:jobs.db?durability=some', 'must be one of full, normal'],
])('%s is refused with a sentence and without its password', (url, sentence) => {
  const open = () => openStore(url);
  expect(open).toThrow(expect.objectContaining({ code: 'malformed.store' }) as Error);
  expect(open).toThrow(sentence);
  expect(open).not.toThrow('secret');
});

test('hosts are tried in turn', async () => {
  const url = new URL(await freshDatabase());
  const closed = await freePort();
  const store = openPostgres(`postgres://${url.username}@127.0.0.1:${closed},${url.host}${url.pathname}`);
  await store.migrate();
  expect(await made(store, {})).toHaveLength(1);
});

test('a server that accepts no writes is not used, unless the URL allows any', async () => {
  const url = await freshDatabase();
  const client = await connect(url);
  const name = new URL(url).pathname.slice(1);
  await client.query(`alter database ${name} set default_transaction_read_only = on`);
  const picky = openPostgres(`${url}?target_session_attrs=read-write`, { patienceMs: 100 });
  await expect(picky.feedEnd()).rejects.toMatchObject({ code: 'unavailable.store' });
  const easy = openPostgres(`${url}?target_session_attrs=any`);
  await expect(easy.load([1])).rejects.toMatchObject({ code: 'older.schema' });
});

test('options of the environment count unless the URL sets them', async () => {
  const url = await freshDatabase();
  vi.stubEnv('STINT_SCHEMA', 'from_env');
  vi.stubEnv('STINT_POOL_MAX', '3');
  const store = openStore(`${url}?schema=from_url`) as PostgresStore;
  try {
    await store.migrate();
    expect((await store.health()).pool).toMatchObject({ max: 3 });
    const client = await connect(url);
    const { rows } = await client.query(`select nspname from pg_namespace where nspname like 'from%'`);
    expect(rows).toEqual([{ nspname: 'from_url' }]);
  } finally {
    await store.close();
    vi.unstubAllEnvs();
  }
});
