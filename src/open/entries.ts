/** The entries: the files that an engine starts as threads and processes. A bundle of one file does not contain them. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkFields } from '../jobs/checks/values.ts';
import { Refusal } from '../refusal.ts';

/** Files of a bundle, as URLs or paths. Default: the files of the package. */
export interface EngineEntries {
  /** Built from `stint/heartbeat-thread`: renews the lease while a handler blocks the event loop. */
  readonly heartbeat?: URL | string;
  /** Built from `stint/isolated-handlers`: calls the handlers of job types with `isolate`. */
  readonly isolation?: URL | string;
}

type EntryUrls = Readonly<Record<keyof EngineEntries, URL>>;

/** Returns the URLs of the files that the program has given, and of the files of the package for the others. */
export function entryUrls(given: EngineEntries, packaged: EntryUrls): EntryUrls {
  checkFields('entries', given, Object.keys(packaged));
  const { heartbeat, isolation } = given;
  return {
    heartbeat: heartbeat === undefined ? packaged.heartbeat : urlOfFile('entries.heartbeat', heartbeat),
    isolation: isolation === undefined ? packaged.isolation : urlOfFile('entries.isolation', isolation),
  };
}

function urlOfFile(option: string, file: unknown): URL {
  const path = pathOf(file);
  if (path !== null && statSync(path, { throwIfNoEntry: false })?.isFile()) return pathToFileURL(path);
  const found = path === null ? 'it must be a path or a file URL' : `there is no file ${path}`;
  throw new Refusal('malformed.option', `${option}: ${found}`, { option });
}

/** Returns the path of a file URL or path; null: it is neither. */
function pathOf(file: unknown): string | null {
  try {
    if (file instanceof URL) return fileURLToPath(file);
    if (typeof file !== 'string' || file === '') return null;
    return file.startsWith('file:') ? fileURLToPath(file) : resolve(file);
  } catch {
    return null;
  }
}
