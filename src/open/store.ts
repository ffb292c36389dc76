/** Opens a store by its URL. */
import type { Store } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { openMemory } from './open-memory.ts';
import { openPostgres } from './open-postgres.ts';
import { openSqlite } from './open-sqlite.ts';
import type { Opener } from './opener.ts';
import { schemeOf, type StoreScheme } from './scheme.ts';

export interface OpenStoreOptions {
  readonly clock?: Clock;
  /** Whether a SQLite file that does not exist is created. Default: true. */
  readonly create?: boolean;
}

const openers: Readonly<Record<StoreScheme, Opener>> = {
  memory: openMemory,
  sqlite: openSqlite,
  postgres: openPostgres,
};

export function openStore(url: string, { clock = systemClock, create = true }: OpenStoreOptions = {}): Store {
  const options = clock === systemClock ? {} : { clock };
  return openers[schemeOf(url)]({ url, options }, { create });
}
