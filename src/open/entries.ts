/** The entries: the files that an engine starts as threads and processes. A bundle of one file does not contain them. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files of a bundle, as URLs or paths. Default: the files of the package. */
export interface EngineEntries {
  /** Built from `stint/heartbeat-thread`: renews the lease while a handler blocks the event loop. */
  readonly heartbeat?: URL | string;
  /** Built from `stint/isolated-handlers`: calls the handlers of job types with `isolate`. */
  readonly isolation?: URL | string;
}

export const entryNames = Object.keys({ heartbeat: 0, isolation: 0 } satisfies Record<keyof EngineEntries, 0>);

/** Returns the URL of a file that the program has given; without one, `own`, the file of the package. */
export function entryUrl(given: URL | string | undefined, own: URL): URL {
  if (given === undefined) return own;
  return given instanceof URL ? given : given.startsWith('file:') ? new URL(given) : pathToFileURL(resolve(given));
}

export const isFile = (url: URL): boolean => url.protocol !== 'file:' || existsSync(url);
