// Folders whose names contain the id of the process that uses them: `prefix`, the id, a hyphen and anything.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A process ended by SIGKILL leaves its folder behind; the next one removes it. */
export function removeAbandonedFolders(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(prefix)) continue;
    const owner = Number.parseInt(name.slice(prefix.length), 10);
    if (!isAlive(owner)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
