/** Opens a store by its URL; the only file that imports the adapters to choose one. */
import { Refusal } from '../refusal.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import { SqliteStore } from '../store/sqlite/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';

export function openStore(url: string, { clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  return openStoreAt({ url, options: clock === systemClock ? {} : { clock } });
}

/** Opens a store with the options of its adapter, as another thread has opened it. */
export function openStoreAt({ url, options }: StoreAddress): Store {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case 'memory':
      return new MemoryStore((options['clock'] as Clock | undefined) ?? systemClock);
    case 'sqlite':
    case 'file':
      return new SqliteStore(rest.replace(/^\/\//, ''), options);
    case 'postgres':
    case 'postgresql':
      return new PostgresStore(url, options);
    default:
      throw new Refusal('malformed.store', 'a store URL must start with sqlite:, postgres:// or memory:', {
        scheme: scheme.slice(0, 20),
      });
  }
}

/** The URL that was passed, else that of the environment, else a file in the working directory. */
export const storeUrl = (url?: string): string =>
  url ?? process.env['STINT_DATABASE_URL'] ?? process.env['DATABASE_URL'] ?? 'sqlite:.stint/jobs.db';
