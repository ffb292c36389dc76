/**
 * Notices when the path no longer leads to the open file: a process that continues to write to a file that was removed,
 * renamed or replaced would lose all its data without an error.
 */
import { statSync, type BigIntStats } from 'node:fs';
import { systemClock } from '../../time/clock.ts';
import { unavailable } from './errors.ts';

/** A check takes 3 µs, a small commit without a flush 27 µs: at most this much of the newest commits can be lost. */
const checkEveryMs = 10;

export class FileWatch {
  readonly #path: string | null;
  readonly #opened: BigIntStats | undefined;
  #checkedAt = -Infinity;

  /** Call it when the file is open. */
  constructor(path: string) {
    this.#path = path === ':memory:' ? null : path;
    this.#opened = this.#found();
  }

  /** Throws a refusal unless the path leads to the open file. */
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
