/** Wakes listeners when jobs may have become claimable: at once for this process, by watching the WAL file for others. */
import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Connection } from './connection.ts';

export class Wake {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #dataVersion = 0;

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

  now(): void {
    for (const call of this.#listeners) call();
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #watch(): void {
    if (this.#watcher || this.#path === ':memory:') return;
    const log = `${basename(this.#path)}-wal`;
    this.#watcher = watch(dirname(this.#path), { persistent: false }, (_, name) => {
      if (name === log && this.#othersWrote()) this.now();
    });
    this.#watcher.on('error', () => this.close());
  }

  /** The data version moves only with the commits of other connections. */
  #othersWrote(): boolean {
    if (!this.#connection.db.isOpen) return false;
    const version = this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
    const moved = version !== this.#dataVersion;
    this.#dataVersion = version;
    return moved;
  }
}
