/** Opens a store on PostgreSQL by its URL. */
import { connectMaxMs } from '../store/postgres/sql/clients.ts';
import { parsePostgresUrl } from '../store/postgres/sql/url.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import type { OpenerOptions } from './opener.ts';
import { variablesOf, withVariables } from './url-variables.ts';

export function openPostgres({ url, options }: StoreAddress, { isPatient = true }: OpenerOptions): Store {
  const address = withVariables(url, variablesOf('postgres'));
  return new PostgresStore(address, isPatient ? options : { ...patienceForOneTry(address), ...options });
}

/** Returns the time in which each host of the URL is tried once, unless the URL sets the time. */
function patienceForOneTry(address: string): { readonly patienceMs?: number } {
  const { hosts, options } = parsePostgresUrl(address);
  return 'patienceMs' in options ? {} : { patienceMs: (hosts.length - 1) * connectMaxMs };
}
