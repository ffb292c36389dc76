/** Opens a store by its URL; the only file that chooses an adapter by the scheme of a URL. */
import { Refusal } from '../refusal.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import { SqliteStore, type SqliteOptions } from '../store/sqlite/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import { oneOf, readOptions, type OptionReaders } from '../store/url-options.ts';
import { systemClock, type Clock } from '../time/clock.ts';

export interface OpenStoreOptions {
  readonly clock?: Clock;
  /** Whether a SQLite file that does not exist is created. Default: true. */
  readonly create?: boolean;
}

export function openStore(url: string, { clock = systemClock, create = true }: OpenStoreOptions = {}): Store {
  return openStoreAt({ url, options: clock === systemClock ? {} : { clock } }, { create });
}

/** Opens a store by its address. The heartbeat thread opens the same store as the main thread by this address. */
export function openStoreAt(
  { url, options }: StoreAddress,
  { create = true }: { readonly create?: boolean } = {},
): Store {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case 'memory':
      return new MemoryStore((options['clock'] as Clock | undefined) ?? systemClock);
    case 'sqlite':
    case 'file':
      return openSqlite(withVariables(rest.replace(/^\/\//, ''), sqliteVariables), { ...options, create });
    case 'postgres':
    case 'postgresql':
      return new PostgresStore(withVariables(url, postgresVariables), options);
    default:
      throw new Refusal('malformed.store', 'a store URL must start with sqlite:, postgres:// or memory:', {
        scheme: scheme.slice(0, 20),
      });
  }
}

function openSqlite(url: string, options: SqliteOptions): Store {
  const [path = '', query = ''] = splitOnce(url, '?');
  if (path === '') throw new Refusal('malformed.store', 'the store URL names no file: write sqlite:FILE', {});
  const texts = Object.fromEntries(new URLSearchParams(query));
  return new SqliteStore(path, { ...options, ...readOptions('SQLite', sqliteOptions, texts) });
}

const sqliteOptions: OptionReaders = { durability: oneOf('full', 'normal') };

/** Environment variables, each with the URL option that it sets, unless the query of the URL sets the option. */
const postgresVariables: Readonly<Record<string, string>> = {
  STINT_SCHEMA: 'schema',
  STINT_POOL_MAX: 'max',
  STINT_PREPARE: 'prepare',
  STINT_NOTIFY: 'notify',
  STINT_LISTEN_URL: 'listenUrl',
  STINT_STATEMENT_TIMEOUT_MS: 'statementTimeoutMs',
  STINT_SILENCE_MS: 'silenceMs',
  STINT_PATIENCE_MS: 'patienceMs',
  STINT_SSLMODE: 'sslmode',
};

const sqliteVariables: Readonly<Record<string, string>> = { STINT_DURABILITY: 'durability' };

function withVariables(url: string, variables: Readonly<Record<string, string>>): string {
  const [address = '', query = ''] = splitOnce(url, '?');
  const options = new URLSearchParams(query);
  for (const [variable, option] of Object.entries(variables)) {
    const value = process.env[variable];
    if (value !== undefined && !options.has(option)) options.set(option, value);
  }
  return options.size === 0 ? address : `${address}?${options.toString()}`;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
