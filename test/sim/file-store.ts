// A store on a file, for simulations with transactions: a store in memory has one connection. Listeners are called at
// every commit after which a job is pending or a request waits; the store itself would watch the file, in real time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteDriver } from '../../src/store/sqlite/driver.ts';
import { SqliteStore, type SqliteOptions } from '../../src/store/sqlite/store.ts';
import type { Batch, Store } from '../../src/store/store.ts';

export type OnCommit = (batch: Batch, written: readonly boolean[]) => void;

export interface FileStore {
  readonly store: Store;
  /** Sets the function that is called at each commit, before listeners: they may claim what was written at once. */
  readonly onCommit: (call: OnCommit) => void;
  readonly path: string;
  readonly remove: () => void;
}

export function openFileStore(options: Pick<SqliteOptions, 'clock' | 'random'>, driver?: SqliteDriver): FileStore {
  const folder = mkdtempSync(join(tmpdir(), 'stint-sim-'));
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path, { ...options, durability: 'normal' }, driver);
  let onCommit: OnCommit = () => {};
  const watched = unwatched(store, (batch, written) => onCommit(batch, written));
  return { store: watched, onCommit: (call) => void (onCommit = call), path, remove: () => rmSync(folder, { recursive: true }) };
}

function unwatched(store: Store, onCommit: OnCommit): Store {
  const [listeners, inboxListeners] = [new Set<() => void>(), new Set<() => void>()];
  const listenIn = (set: Set<() => void>) => (call: () => void) => {
    set.add(call);
    return () => void set.delete(call);
  };
  const own: Partial<Store> = {
    onWake: listenIn(listeners),
    onInbox: listenIn(inboxListeners),
    enqueue: async (requests) => {
      const ids = await store.enqueue(requests);
      for (const call of inboxListeners) call();
      return ids;
    },
    commit: async (batch) => {
      const written = await store.commit(batch);
      onCommit(batch, written);
      if (mayWake(batch)) for (const call of listeners) call();
      return written;
    },
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof Store];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

const mayWake = ({ changes }: Batch): boolean => changes.some(({ after }) => after?.state === 'pending');
