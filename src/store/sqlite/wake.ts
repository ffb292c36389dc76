/**
 * Wakes listeners when jobs may have become claimable. Listeners in this process are called at once. Other processes
 * watch the folder: a commit touches the -shm file, and writers without this code are noticed by their writes to the
 * -wal file.
 */
import { utimesSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../../time/clock.ts';
import type { Connection } from './connection.ts';

/**
 * The -wal file is written before the commit takes effect: after a write, the data version is read at these intervals.
 */
const pollDelaysMs = [1, 1, 2, 4, 8, 16, 32, 64];

export class Wake {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #dataVersion = 0;
  #commitsSignalled = 0;
  #cancelPoll = (): void => {};

  constructor(connection: Connection, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  listen(call: () => void): () => void {
    this.#listeners.add(call);
    this.#watch();
    return () => {
      this.#listeners.delete(call);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Wakes listeners in all processes. */
  all(): void {
    this.#wakeOwn();
    this.#touchShared();
  }

  close(): void {
    this.#cancelPoll();
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #wakeOwn(): void {
    for (const call of this.#listeners) call();
  }

  /** SQLite ignores the time of the -shm file, and watchers of the folder see it change. Once per transaction. */
  #touchShared(): void {
    if (this.#path === ':memory:' || this.#commitsSignalled === this.#connection.commits) return;
    this.#commitsSignalled = this.#connection.commits;
    const now = systemClock.now() / 1000;
    try {
      utimesSync(`${this.#path}-shm`, now, now);
    } catch {
      // The file belongs to another user; watchers see the -wal file change.
    }
  }

  #watch(): void {
    if (this.#watcher || this.#path === ':memory:') return;
    const [shared, log] = [`${basename(this.#path)}-shm`, `${basename(this.#path)}-wal`];
    this.#watcher = watch(dirname(this.#path), { persistent: false }, (_, name) => {
      if (name === shared && this.#othersWrote()) this.#wakeOwn();
      if (name === log) this.#poll(pollDelaysMs);
    });
    this.#watcher.on('error', () => this.close());
  }

  /** Continues after a commit was seen, since the write may belong to the next one. A newer write restarts it. */
  #poll([nextMs, ...others]: readonly number[]): void {
    this.#cancelPoll();
    if (nextMs !== undefined) this.#cancelPoll = systemClock.after(nextMs, () => this.#poll(others));
    if (this.#othersWrote()) this.#wakeOwn();
  }

  /** The data version changes only with commits of other connections. */
  #othersWrote(): boolean {
    if (!this.#connection.db.isOpen) return false;
    const version = this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
    const moved = version !== this.#dataVersion;
    this.#dataVersion = version;
    return moved;
  }
}
