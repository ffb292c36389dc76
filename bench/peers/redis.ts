/** A Redis of its own, where there is one on the machine: its log is flushed each second, as its docs advise. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/postgres.ts';
import { cpuUsOfServer } from '../server-cpu.ts';
import type { Host } from './host.ts';

const program = 'redis-server';
const durability = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];

/** Null: the machine has none. */
export async function openRedis(): Promise<Host | null> {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (status !== 0) return null;
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-redis-'));
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const server = spawn(program, [...place, ...durability], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (chunk: Buffer) => chunk.includes('Ready to accept') && resolve());
    server.once('exit', (code) => reject(new Error(`${program} ended with code ${code}`)));
  });
  return {
    about: `Redis ${/v=(\S+)/.exec(stdout)?.[1] ?? ''}, appendonly, appendfsync everysec`,
    ground: async () => ({
      at: `redis://127.0.0.1:${port}`,
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
