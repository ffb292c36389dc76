// The test support itself: the shared server is real, databases are separate, a crash loses nothing.
import pg from 'pg';
import { expect, test } from 'vitest';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { detail } from './detail.ts';
import { freshDatabase, migratedDatabase } from './fresh-database.ts';
import { TestPostgres } from './postgres.ts';

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('each fresh database is empty and separate from the others', async () => {
  const [here, there] = [await connect(await freshDatabase()), await connect(await freshDatabase())];
  await here.query('create table thing (id int)');
  const { rows } = await there.query<{ thing: string | null }>(`select to_regclass('thing')::text as thing`);
  expect(rows).toEqual([{ thing: null }]);
  await Promise.all([here.end(), there.end()]);
});

test('migrated databases that are made at once have the schema, no jobs, and share nothing', async () => {
  const urls = await Promise.all([migratedDatabase(), migratedDatabase()]);
  const stores = urls.map((url) => new PostgresStore(url, { notify: false }));
  for (const store of stores) expect((await store.migrate()).statements).toEqual([]);
  expect([await stores[0]!.reserveIds(5), await stores[1]!.reserveIds(1)]).toEqual([1, 1]);
  for (const store of stores) await store.close();
});

test('a notification reaches other connections', async () => {
  const url = await freshDatabase();
  const [speaker, listener] = [await connect(url), await connect(url)];
  const heard = new Promise((resolve) => listener.once('notification', ({ payload }) => resolve(payload)));
  await listener.query('listen wake');
  await speaker.query(`notify wake, 'up'`);
  expect(await heard).toBe('up');
  await Promise.all([speaker.end(), listener.end()]);
});

test('a server killed and started again still has what was committed', async () => {
  const postgres = await TestPostgres.create();
  try {
    const before = await connect(postgres.url);
    await before.query('create table thing as select generate_series(1, 100) as id');
    await postgres.kill('SIGKILL');
    await postgres.start();
    const after = await connect(postgres.url);
    const { rows } = await after.query<{ n: number }>('select count(*)::int as n from thing');
    expect(rows).toEqual([{ n: 100 }]);
    await after.end();
  } finally {
    await postgres.stop();
  }
});

// The server waits 5 s before it kills a backend.
detail('a server ends although one of its backends is stopped', async () => {
  const postgres = await TestPostgres.create();
  const client = await connect(postgres.url);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]!.pid, 'SIGSTOP');
  await postgres.stop(0);
  expect(() => process.kill(rows[0]!.pid, 0)).toThrow('ESRCH');
});
