/** Opens a store in a SQLite file by its URL. */
import { Refusal } from '../refusal.ts';
import { SqliteStore } from '../store/sqlite/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import { oneOf, readOptions, type OptionReaders } from '../store/url-options.ts';
import type { OpenerOptions } from './opener.ts';
import { splitOnce, variablesOf, withVariables } from './url-variables.ts';

const urlOptions: OptionReaders = { durability: oneOf('full', 'normal') };

export function openSqlite({ url, options }: StoreAddress, { create }: OpenerOptions): Store {
  const [, file = ''] = splitOnce(url, ':');
  const [path = '', query = ''] = splitOnce(withVariables(file.replace(/^\/\//, ''), variablesOf('sqlite')), '?');
  if (path === '') throw new Refusal('malformed.store', 'the store URL names no file: write sqlite:FILE', {});
  const texts = Object.fromEntries(new URLSearchParams(query));
  return new SqliteStore(path, { ...options, create, ...readOptions('SQLite', urlOptions, texts) });
}
