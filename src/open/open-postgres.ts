/** Opens a store on PostgreSQL by its URL. */
import { PostgresStore } from '../store/postgres/store.ts';
import type { Store, StoreAddress } from '../store/store.ts';
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

export const openPostgres = ({ url, options }: StoreAddress): Store =>
  new PostgresStore(withVariables(url, variables), options);
