// The processes that a program leaves behind are found by what was recorded while it ran.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { processEntry } from '../../src/builtin/process-table.ts';
import { ProcessTree } from '../../src/builtin/process-tree.ts';
import { waitMs } from '../support/patience.ts';

/** Starts a process in a session of its own without environment, prints its pid, and exits at the end of its input. */
const program = `
  const { spawn } = require('node:child_process');
  const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore', env: {} });
  console.log(child.pid);
  process.stdin.on('end', () => process.exit()).resume();`;

const isLinux = process.platform === 'linux';

test.skipIf(!isLinux)('a descendant is ended although its parent is gone and its environment is empty', async () => {
  const parent = spawn(process.execPath, ['-e', program], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const tree = new ProcessTree(parent.pid!, 'a mark that nobody has');
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  await vi.waitUntil(() => tree.has(pid), { timeout: waitMs, interval: 20 });
  parent.stdin.end();
  await once(parent, 'exit');
  expect(processEntry(pid)).not.toBeNull();
  expect(await tree.end()).toEqual([]);
  expect(processEntry(pid)).toBeNull();
});
