// Where the tests of a run write their files: into memory if the machine has plenty, since a file system on a disk
// takes a tenth of the CPU of tests with a store. The proof writes to the disk, and TMPDIR names another folder.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeAbandonedFolders } from './abandoned-folders.ts';
import { bySize } from './size.ts';

/** The tmpfs that every Linux has. */
const memory = '/dev/shm';
const prefix = 'stint-test-run-';

/** Several times what the databases of a run take: they go with their server, at its end. */
const bytesMin = 8e9;

/** Makes a folder in memory and names it in TMPDIR, for this process and its children. It goes with this process. */
export function writeToMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !bySize({ small: hasRoom(), ci: false })) return;
  removeAbandonedFolders(memory, prefix);
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755); // PostgreSQL, which refuses root, runs as another user
  if (canExecuteIn(folder)) process.env['TMPDIR'] = folder;
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < bytesMin) return false;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= bytesMin;
  } catch {
    return false;
  }
}

/** Docker mounts it with noexec; tests write programs and start them. */
function canExecuteIn(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
