/** The default URL of the store. This file does not import the adapters, which take long to load. */
import { readFileSync } from 'node:fs';
import { Refusal } from '../refusal.ts';

/** The variables that set the URL; the first that is set counts. */
export const urlVariables = ['STINT_DATABASE_URL', 'STINT_DATABASE_URL_FILE', 'DATABASE_URL'] as const;

type UrlVariable = (typeof urlVariables)[number];

/** Returns the given URL, or else that of the environment, or else that of a file in the working directory. */
export function storeUrl(url?: string): string {
  const variable = urlVariable();
  return url ?? (variable === undefined ? 'sqlite:.stint/jobs.db' : urlIn(variable));
}

/** Returns the variable that sets the URL. An empty variable counts as not set. */
export const urlVariable = (): UrlVariable | undefined =>
  urlVariables.find((name) => (process.env[name] ?? '') !== '');

function urlIn(variable: UrlVariable): string {
  const value = process.env[variable]!;
  return variable === 'STINT_DATABASE_URL_FILE' ? readUrl(variable, value) : value;
}

/** Reads a secret as container platforms and systemd provide it: a file with one line. */
function readUrl(variable: UrlVariable, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new Refusal('malformed.store', `cannot read the file that ${variable} names: ${code}`, { variable, code });
  }
}
