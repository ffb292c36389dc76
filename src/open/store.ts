/** Opens a store by its URL: the only place that names adapters. */
import { Refusal } from '../refusal.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import { SqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';

/** The store that a URL names. */
export function openStore(url: string, { clock = systemClock }: { readonly clock?: Clock } = {}): Store {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  const given = clock === systemClock ? {} : { clock };
  switch (scheme) {
    case 'memory':
      return new MemoryStore(clock);
    case 'sqlite':
    case 'file':
      return new SqliteStore(rest.replace(/^\/\//, ''), given);
    case 'postgres':
    case 'postgresql':
      return new PostgresStore(url, given);
    default:
      throw new Refusal('malformed.store', 'a store URL must start with sqlite:, postgres:// or memory:', { scheme: scheme.slice(0, 20) });
  }
}

/** What is said, else what the environment says, else a file beside the program. */
export const storeUrl = (url?: string): string =>
  url ?? process.env['STINT_DATABASE_URL'] ?? process.env['DATABASE_URL'] ?? 'sqlite:.stint/jobs.db';
