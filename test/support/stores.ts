// Every store there is, to run one example on all of them: each world has a store of its own and a clock that we move.
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../src/store/memory.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Clock } from '../../src/time/clock.ts';

/** A way to an empty, migrated store. */
export interface StoreKind {
  readonly name: string;
  open(clock: Clock): Promise<OpenStore>;
}

export interface OpenStore {
  readonly store: Store;
  /** A second connection to the same data. */
  again(): Promise<Store>;
  /** Begins a transaction of the caller's own on the same data; left out: the store takes part in none. */
  begin?(): Promise<CallersTransaction>;
  close(): Promise<void>;
}

export interface CallersTransaction {
  /** What `within` takes. */
  readonly transaction: unknown;
  /** Something of the caller's own, to see that it shares the fate of the jobs. */
  write(text: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

const memory: StoreKind = {
  name: 'memory',
  async open(clock) {
    const store = new MemoryStore(clock);
    return { store, again: async () => store, close: () => store.close() };
  },
};

const sqlite: StoreKind = {
  name: 'SQLite',
  async open(clock) {
    const folder = await mkdtemp(join(tmpdir(), 'stint-test-'));
    const path = join(folder, 'jobs.db');
    const opened: Store[] = [];
    const again = async (): Promise<Store> => {
      const store = new SqliteStore(path, { clock, durability: 'normal' });
      opened.push(store);
      return store;
    };
    const store = await again();
    await store.migrate();
    return {
      store,
      again,
      begin: async () => beginSqlite(path),
      close: async () => {
        for (const each of opened) await each.close();
        await rm(folder, { recursive: true });
      },
    };
  },
};

function beginSqlite(path: string): CallersTransaction {
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE IF NOT EXISTS own(text TEXT)');
  db.exec('BEGIN');
  const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    db.exec(how);
    db.close();
  };
  return {
    transaction: db,
    write: async (text) => void db.prepare('INSERT INTO own(text) VALUES(?)').run(text),
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}

export const stores: readonly StoreKind[] = [memory, sqlite];
