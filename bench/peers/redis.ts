/** A Redis server, if `redis-server` is installed, with `appendfsync everysec` as its documentation recommends. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/postgres.ts';
import { cpuUsOfServer } from '../server-cpu.ts';
import type { PeerDatabase } from './peer-database.ts';

const program = 'redis-server';
const durability = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];

/** Null if `redis-server` is not installed. */
export async function openRedis(): Promise<PeerDatabase | null> {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-redis-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const server = spawn(program, [...options, ...durability], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => chunk.includes('Ready to accept') && resolve());
    server.once('exit', (code) => reject(new Error(`${program} ended with code ${code}`)));
  });
  return {
    about: `Redis ${/v=(\S+)/.exec(stdout)?.[1] ?? ''}, appendonly, appendfsync everysec`,
    createScratch: async () => ({
      location: `redis://127.0.0.1:${port}`,
      serverCpuUs: () => cpuUsOfServer(server.pid!),
      transactions: async () => null,
      remove: () => flush(port),
    }),
    close: async () => {
      const ended = once(server, 'exit');
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function flush(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('FLUSHALL\r\n');
  await once(socket, 'data');
  socket.destroy();
}
