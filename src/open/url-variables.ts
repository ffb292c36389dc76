/**
 * Environment variables that set options of a store URL, unless the query of the URL sets the option. An empty variable
 * counts as not set.
 */

import type { StoreScheme } from './scheme.ts';

/** Each variable with the option that it sets. */
type UrlVariables = Readonly<Record<string, string>>;

const variables: Readonly<Record<StoreScheme, UrlVariables>> = {
  memory: {},
  sqlite: { STINT_DURABILITY: 'durability' },
  postgres: {
    STINT_SCHEMA: 'schema',
    STINT_POOL_MAX: 'max',
    STINT_PREPARE: 'prepare',
    STINT_NOTIFY: 'notify',
    STINT_LISTEN_URL: 'listenUrl',
    STINT_STATEMENT_TIMEOUT_MS: 'statementTimeoutMs',
    STINT_SILENCE_MS: 'silenceMs',
    STINT_PATIENCE_MS: 'patienceMs',
    STINT_SSLMODE: 'sslmode',
    STINT_TARGET_SESSION_ATTRS: 'target_session_attrs',
  },
};

export const variablesOf = (scheme: StoreScheme): UrlVariables => variables[scheme];

/** The names of the variables of all stores. */
export const storeVariables: readonly string[] = Object.values(variables).flatMap((some) => Object.keys(some));

export function withVariables(url: string, variables: UrlVariables): string {
  const [address = '', query = ''] = splitOnce(url, '?');
  const options = new URLSearchParams(query);
  for (const [variable, option] of Object.entries(variables)) {
    const value = process.env[variable];
    if (value !== undefined && value !== '' && !options.has(option)) options.set(option, value);
  }
  return options.size === 0 ? address : `${address}?${options.toString()}`;
}

export function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
