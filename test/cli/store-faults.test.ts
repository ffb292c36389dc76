// Commands on a database that is missing, old, new, damaged or no database: sentences, no stack traces, no changes.
import {
  chmodSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, statSync, writeFileSync, writeSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { detail } from '../support/detail.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { freePort } from '../support/postgres.ts';
import { Place, type Ended } from './stint.ts';

const refused = (pattern: RegExp) => ({ code: 2, out: '', err: expect.stringMatching(pattern) as string });

function expectNoStack({ err }: Ended): void {
  expect(err).not.toMatch(/\n\s+at /);
}

test.each([
  ['runs', 'ls'],
  ['runs', 'create', 'greet'],
  ['bench', '--jobs', '1'],
])('stint %s %s refuses a path that leads nowhere, and creates nothing', async (...words) => {
  using place = new Place();
  expect(await place.stint(...words, '--store', 'sqlite:mistyped.db')).toMatchObject(refused(/no database file mistyped\.db/));
  expect(readdirSync(place.folder)).toEqual([]);
});

for (const command of ['migrate', 'serve', 'work']) detail(`stint ${command} leaves the rights of a folder or another file as they are`, async () => {
  using place = new Place();
  const [folder, text] = [join(place.folder, 'data'), join(place.folder, 'notes.txt')];
  mkdirSync(folder, { mode: 0o755 });
  writeFileSync(text, 'not a database', { mode: 0o644 });
  expect(await place.stint(command, '--store', 'sqlite:data')).toMatchObject(refused(/data is a folder: name a file in it/));
  expect(await place.stint(command, '--store', 'sqlite:notes.txt')).toMatchObject(refused(/not a SQLite database/));
  expect([folder, text].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['755', '644']);
});

test('a database that others can read becomes private', async () => {
  using place = new Place();
  const file = join(place.folder, 'jobs.db');
  await place.stint('migrate', '--store', 'sqlite:jobs.db');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o644);
  await place.stint('migrate', '--store', 'sqlite:jobs.db');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('only migrate changes the schema: other commands refuse an older and a newer one', async () => {
  using place = new Place();
  const store = ['--store', 'sqlite:jobs.db'];
  const file = join(place.folder, 'jobs.db');
  await place.stint('migrate', ...store);
  const version = schemaOf(file);
  setSchema(file, version - 1);
  expect(await place.stint('runs', 'ls', ...store)).toMatchObject(refused(/run stint migrate/));
  expect(schemaOf(file)).toBe(version - 1);
  setSchema(file, version + 1);
  expect(await place.stint('runs', 'ls', ...store)).toMatchObject(refused(/start the newer version of Stint/));
  const doctor = await place.stint('doctor', ...store);
  expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(/✗ store/) as string });
});

test.each([
  ['sqlite:text.db', /not a SQLite database/],
  ['sqlite:text.db/jobs.db', /cannot use the database file|no database file/],
  ['sqlite:jobs.db?durabilty=full', /unknown option "durabilty"/],
  ['postgres://ann:secret@localhost:port/jobs', /cannot read the PostgreSQL URL/],
  ['postgres://ann:secret@127.0.0.1:1/jobs?patienceMs=0', /cannot reach the database/],
  ['mysql://localhost/jobs', /must start with sqlite:/],
])('stint migrate refuses %s with a sentence', async (url, sentence) => {
  using place = new Place();
  writeFileSync(join(place.folder, 'text.db'), 'This is not a database. '.repeat(100));
  const ended = await place.stint('migrate', '--store', url);
  expect(ended).toMatchObject(refused(sentence));
  expectNoStack(ended);
  expect(ended.err).not.toContain('secret');
});

test('doctor finds a damaged file', async () => {
  using place = new Place();
  const file = join(place.folder, 'jobs.db');
  await place.stint('migrate', '--store', `sqlite:${file}`);
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = db.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'ended_top'`).get() as { rootpage: number };
  db.close();
  const pageBytes = 4096;
  writeSync(openSync(file, 'r+'), Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (rootpage - 1) * pageBytes);
  const ended = await place.stint('doctor', '--store', `sqlite:${file}`);
  expect(ended).toMatchObject({ code: 1, out: expect.stringMatching(/✗ file +the file is damaged/) as string });
});

test('doctor says at once what it checks, and tries a PostgreSQL server that does not answer only once', async () => {
  using place = new Place();
  using server = await silentServer();
  const doctor = place.start('doctor', '--store', `postgres://ann:secret@127.0.0.1:${server.port}/jobs`);
  await doctor.says(/^checking postgres:\/\/ann:…@127\.0\.0\.1:\d+\/jobs\n/);
  server.resetAll();
  expect(await doctor.ended()).toMatchObject({
    code: 1, out: expect.stringMatching(/\n✗ store +cannot reach the database: /) as string, err: '',
  });
  expect(server.connections).toBe(1);
});

detail('doctor checks the host of several that answers', async () => {
  using place = new Place();
  const url = new URL(await migratedDatabase());
  const store = `postgres://${url.username}@127.0.0.1:${await freePort()},${url.host}${url.pathname}`;
  expect((await place.stint('doctor', '--store', store)).out).toMatch(/✓ schema/);
});

/** A server that accepts connections and never answers; after `resetAll`, it resets each connection. */
async function silentServer() {
  const sockets: Socket[] = [];
  let isResetting = false;
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    if (isResetting) socket.resetAndDestroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.length;
    },
    resetAll() {
      isResetting = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('backup copies a database in use, and refuses to overwrite and PostgreSQL', async () => {
  using place = new Place();
  const store = ['--store', 'sqlite:jobs.db'];
  await place.stint('migrate', ...store);
  await place.stint('runs', 'create', 'greet', ...store);
  using server = await served(place, 'jobs.db');
  expect(await place.stint('backup', 'copy.db', ...store)).toMatchObject({ code: 0, out: expect.stringContaining('copy.db') as string });
  expect(statSync(join(place.folder, 'copy.db')).mode & 0o077).toBe(0);
  expect((await place.stint('runs', 'ls', '--store', 'sqlite:copy.db')).out).toContain('greet');
  expect(existsSync(join(place.folder, 'copy.db-wal'))).toBe(false);
  expect(await place.stint('backup', 'copy.db', ...store)).toMatchObject(refused(/copy\.db exists/));
  expect(await place.stint('backup', 'pg.db', '--store', 'postgres://localhost/jobs')).toMatchObject(refused(/pg_dump/));
  await server.end();
});

test('a server whose file is moved away answers 503 with a reason, and works again when it is back', async () => {
  using place = new Place();
  using server = await served(place, 'jobs.db');
  const file = join(place.folder, 'jobs.db');
  expect(await server.health()).toMatchObject({ status: 200, body: { status: 'ok' } });
  renameSync(file, `${file}.away`);
  await expect.poll(() => server.health()).toMatchObject({
    status: 503, body: { status: 'failing', reason: 'the file was removed, renamed or replaced' },
  });
  expect(await server.create()).toMatchObject({ status: 503, body: { code: 'unavailable.store' } });
  renameSync(`${file}.away`, file);
  await expect.poll(() => server.health()).toMatchObject({ status: 200 });
  expect(await server.create()).toMatchObject({ status: 201 });
  await server.end();
});

detail('a server that cannot write to its disk answers 503 with a reason', async () => {
  using place = new Place();
  using server = await served(place, 'jobs.db', 'trap "" XFSZ; ulimit -f 4000;');
  const input = { text: 'x'.repeat(200_000) };
  await expect.poll(() => server.create(input), { interval: 1 }).toMatchObject({
    status: 503, body: { code: 'unavailable.store' },
  });
  const fill = async (): Promise<Reply> => {
    for (const more of [input, {}, {}, {}]) await server.create(more);
    return server.health();
  };
  await expect.poll(fill, { interval: 1 }).toMatchObject({
    status: 503, body: { reason: 'the disk failed to read or write' },
  });
  await server.end();
});

test('^C says at once what it waits for, and the second one ends it', async () => {
  using place = new Place();
  using server = await served(place, 'jobs.db', '', '--allow-exec', 'sleep');
  const created = await server.create({ command: ['sleep', '600'] }, 'exec');
  expect(created.status).toBe(201);
  await expect.poll(async () => (await server.get('/api/v1/runs?state=running')).body.items).toHaveLength(1);
  server.started.signal('SIGINT');
  await server.started.complains(/waiting up to 30 s for 1 running job \(\d+\)\. Press Ctrl\+C again to stop at once/);
  server.started.signal('SIGINT');
  expect(await server.started.ended()).toMatchObject({ code: 130 });
});

function schemaOf(file: string): number {
  const db = new DatabaseSync(file);
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.close();
  return version;
}

function setSchema(file: string, version: number): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
}

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function served(place: Place, file: string, before = '', ...more: string[]) {
  const words = ['serve', '--store', `sqlite:${file}`, '--http', '127.0.0.1:0', '--bedrock', 'off', ...more];
  const started = place.startInShell(before, ...words);
  const url = (await started.says(/HTTP +(http:\S+)/))[1]!;
  const reply = async (asked: Promise<Response>): Promise<Reply> => {
    const response = await asked;
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const get = (path: string): Promise<Reply> => reply(fetch(new URL(path, url)));
  const create = (input: object = {}, type = 'greet'): Promise<Reply> =>
    reply(fetch(new URL('/api/v1/runs', url), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type, input }),
    }));
  return {
    started, get, create,
    health: () => get('/health'),
    end: () => started.kill(),
    [Symbol.dispose]: () => void started.kill(),
  };
}
