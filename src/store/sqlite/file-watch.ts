/**
 * Detects that the path no longer leads to the open file, because the file was removed, renamed or replaced. A process
 * that continued to write to the open file would lose what it writes, without an error.
 */
import { statSync, type BigIntStats } from 'node:fs';
import { systemClock } from '../../time/clock.ts';
import { unavailable } from './errors.ts';

/**
 * The time between two checks. If the file is replaced, the commits until the next check are lost. There is no check at
 * every commit, because a check takes 3 µs and a small commit without a flush only 27 µs.
 */
const checkEveryMs = 10;

export class FileWatch {
  readonly #path: string | null;
  readonly #opened: BigIntStats | undefined;
  #checkedAt = -Infinity;

  /** Remembers which file is at the path; must be called while the file is open. */
  constructor(path: string) {
    this.#path = path === ':memory:' ? null : path;
    this.#opened = this.#found();
  }

  /** Throws a refusal unless the path leads to the open file. Skips the check within `checkEveryMs` of the last one. */
  check(): void {
    const now = systemClock.monotonic();
    if (this.#path === null || now - this.#checkedAt < checkEveryMs) return;
    const found = this.#found();
    if (found === undefined || found.ino !== this.#opened?.ino || found.dev !== this.#opened.dev) {
      const todo = 'put it back, or restore a backup, and restart this process';
      throw unavailable('the file was removed, renamed or replaced', todo);
    }
    this.#checkedAt = now;
  }

  #found(): BigIntStats | undefined {
    return this.#path === null ? undefined : statSync(this.#path, { bigint: true, throwIfNoEntry: false });
  }
}
