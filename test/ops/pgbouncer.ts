// Around a test run: PgBouncer in transaction mode stands between the tests and their PostgreSQL.
import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort, TestPostgres } from '../support/postgres.ts';
import { postgresOnDemand, type PostgresUrl } from '../support/postgres-on-demand.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await postgresOnDemand(startPooled);
  project.provide('postgresPort', postgres.port);
  return () => postgres.stop();
}

async function startPooled(): Promise<PostgresUrl> {
  const postgres = await TestPostgres.create();
  const folder = mkdtempSync(join(tmpdir(), 'stint-pooler-'));
  const port = await freePort();
  const pooler = await start(folder, postgres, port);
  const url = new URL(postgres.url);
  url.port = String(port);
  const stop = async (): Promise<void> => {
    pooler.kill('SIGKILL');
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: url.href, stop };
}

const configFor = (postgres: TestPostgres, port: number): string => `
[databases]
* = host=127.0.0.1 port=${postgres.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 10
`;

/** Answers when it listens. It runs as the server does, since it refuses root as well. */
async function start(folder: string, postgres: TestPostgres, port: number): Promise<ChildProcess> {
  const file = join(folder, 'pgbouncer.ini');
  const { uid, gid } = statSync(join(postgres.folder, 'data'));
  writeFileSync(file, configFor(postgres, port));
  for (const each of [folder, file]) chownSync(each, uid, gid);
  const program = process.env['PGBOUNCER'] ?? 'pgbouncer';
  const pooler = spawn(program, [file], { uid, gid, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(`cannot start PgBouncer (install it, or set PGBOUNCER): ${log}`));
    pooler.once('error', fail).once('exit', fail);
    pooler.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
      if (log.includes('process up')) resolve(pooler);
    });
  });
}
