/**
 * Wakes listeners when jobs may have become claimable. Listeners in this process are called at once. To wake other
 * processes, which watch the folder, this process touches the -shm file after a commit. Writers that do not run this
 * code are noticed by their writes to the -wal file. Implements `onWake` of `port/claiming.ts`.
 */
import { utimesSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../../time/clock.ts';
import type { Connection } from './connection.ts';
import { orIfUnavailable } from './errors.ts';

/**
 * After a write to the -wal file, `PRAGMA data_version` is read after each of these delays. A single read might come
 * too early, because the file is written before the commit takes effect.
 */
const pollDelaysMs = [1, 1, 2, 4, 8, 16, 32, 64];

export class Wake {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  readonly #otherListeners = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #dataVersion = 0;
  #commitsSignalled = 0;
  #cancelPoll = (): void => {};

  constructor(connection: Connection, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  listen(call: () => void): () => void {
    return this.#listenIn(this.#listeners, call);
  }

  /** Registers a function to call when another connection has committed, but not when this one has. */
  listenToOthers(call: () => void): () => void {
    return this.#listenIn(this.#otherListeners, call);
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

  #listenIn(listeners: Set<() => void>, call: () => void): () => void {
    listeners.add(call);
    this.#watch();
    return () => {
      listeners.delete(call);
      if (this.#listeners.size + this.#otherListeners.size === 0) this.close();
    };
  }

  #wakeOwn(): void {
    for (const call of this.#listeners) call();
  }

  #wakeIfOthersWrote(): void {
    if (!this.#othersWrote()) return;
    this.#wakeOwn();
    for (const call of this.#otherListeners) call();
  }

  /**
   * Changes the modification time of the -shm file, at most once per transaction. Watchers of the folder notice this;
   * SQLite ignores it.
   */
  #touchShared(): void {
    if (this.#path === ':memory:' || this.#commitsSignalled === this.#connection.commits) return;
    this.#commitsSignalled = this.#connection.commits;
    const now = systemClock.now() / 1000;
    try {
      utimesSync(`${this.#path}-shm`, now, now);
    } catch {
      // The -shm file belongs to another user. Watchers notice the write to the -wal file instead.
    }
  }

  #watch(): void {
    if (this.#watcher || this.#path === ':memory:') return;
    const [shared, log] = [`${basename(this.#path)}-shm`, `${basename(this.#path)}-wal`];
    this.#watcher = watch(dirname(this.#path), { persistent: false }, (_, name) => {
      if (name === shared) this.#wakeIfOthersWrote();
      if (name === log) this.#poll(pollDelaysMs);
    });
    this.#watcher.on('error', () => this.close());
  }

  /**
   * Checks now and after each of the delays whether another connection has committed; if so, wakes listeners. Continues
   * after it has seen a commit, because the write to the -wal file may belong to the next commit. A newer write to the
   * file starts the delays again.
   */
  #poll([nextMs, ...others]: readonly number[]): void {
    this.#cancelPoll();
    if (nextMs !== undefined) this.#cancelPoll = systemClock.after(nextMs, () => this.#poll(others));
    this.#wakeIfOthersWrote();
  }

  /**
   * Whether another connection has committed since the last call; true at the first call, and if the file cannot be
   * read. Commits of other connections change `PRAGMA data_version`; commits of this connection do not.
   */
  #othersWrote(): boolean {
    if (!this.#connection.db.isOpen) return false;
    const read = (): number => this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
    const version = orIfUnavailable(read, null);
    if (version === null) return true;
    const moved = version !== this.#dataVersion;
    this.#dataVersion = version;
    return moved;
  }
}
