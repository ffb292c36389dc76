/** Opens a store on PostgreSQL by its URL. */
import { connectMaxMs } from '../store/postgres/sql/clients.ts';
import { parsePostgresUrl } from '../store/postgres/sql/url.ts';
import { PostgresStore } from '../store/postgres/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
import type { OpenerOptions } from './opener.ts';
import { withVariables, type UrlVariables } from './url-variables.ts';

const variables: UrlVariables = {
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

export function openPostgres({ url, options }: StoreAddress, { isPatient = true }: OpenerOptions): Store {
  const address = withVariables(url, variables);
  return new PostgresStore(address, isPatient ? options : { ...patienceForOneTry(address), ...options });
}

/** Returns the time in which each host of the URL is tried once, unless the URL sets the time. */
function patienceForOneTry(address: string): { readonly patienceMs?: number } {
  const { hosts, options } = parsePostgresUrl(address);
  return 'patienceMs' in options ? {} : { patienceMs: (hosts.length - 1) * connectMaxMs };
}
