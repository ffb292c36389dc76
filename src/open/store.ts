/** Opens a store by its URL; the only file that imports the adapters to choose one. */
import { Refusal } from '../refusal.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import { SqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';

export function openStore(url: string, { clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  const options = clock === systemClock ? {} : { clock };
  switch (scheme) {
    case 'memory':
      return new MemoryStore(clock);
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
