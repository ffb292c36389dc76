/** Loads job types, definitions and alerts from the files given with `--jobs`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { JobAlert } from '../engine/declare/alert.ts';
import type { AnyJobDef } from '../engine/declare/job-def.ts';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import { Refusal } from '../refusal.ts';

export interface LoadedJobs {
  readonly types: readonly AnyJobType[];
  readonly defs: readonly AnyJobDef[];
  readonly alerts: readonly JobAlert[];
}

export async function loadJobs(files: readonly string[]): Promise<LoadedJobs> {
  const exported = (await Promise.all(files.map(exportsOf))).flat();
  return { types: exported.filter(isType), defs: exported.filter(isDef), alerts: exported.filter(isAlert) };
}

/**
 * Returns the exports of a module. An exported array or object that is no job type, definition or alert is replaced by its
 * members. Refuses a module in which none of them is found.
 */
async function exportsOf(file: string): Promise<unknown[]> {
  const module = await importOf(file);
  const values = Object.values(module);
  const found = values.flatMap((value) => (isType(value) || isDef(value) || isAlert(value) ? [value] : Object.values(value ?? {})));
  if (found.some((value) => isType(value) || isDef(value) || isAlert(value))) return [...new Set(found)];
  throw refused(file, 'it exports no job types; export the results of jobType() and jobDef()');
}

async function importOf(file: string): Promise<Record<string, unknown>> {
  if (!existsSync(file)) throw refused(file, 'no such file');
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  } catch (error) {
    throw refused(file, error instanceof Error ? explained(error) : String(error));
  }
}

/** Returns the message and location of an import error, with advice if Node does not support the TypeScript syntax. */
function explained(error: Error): string {
  const location = locationOf(error);
  const isTypeScript = (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  const todo = isTypeScript
    ? '. Node removes types only: write enums, namespaces and parameter properties in another way, or compile the file'
    : '';
  return `${error.message.split('\n')[0]}${location === null ? '' : ` (${location})`}${todo}`;
}

/**
 * Returns `file:line` of an error; null: the stack contains no location. The stack of a syntax error begins with the
 * location; other stacks have it in their first frame outside Stint.
 */
function locationOf({ stack = '' }: Error): string | null {
  const frames = stack.matchAll(/(?:^|\(|at )(?:file:\/\/)?(\/?[^\s():]+\.[cm]?[jt]sx?):(\d+)/gm);
  const [, path, line] = frames.find(([, file]) => !file!.startsWith(ownFolder)) ?? [];
  return path === undefined ? null : `${path}:${line}`;
}

/** The folder of Stint's own modules. */
const ownFolder = fileURLToPath(new URL('..', import.meta.url));

const refused = (file: string, why: string): Refusal =>
  new Refusal('malformed.option', `cannot load jobs from ${file}: ${why}`, { file });

const isType = (value: unknown): value is AnyJobType =>
  typeof value === 'object' && value !== null && 'options' in value && typeof (value as AnyJobType).name === 'string';

const isDef = (value: unknown): value is AnyJobDef =>
  typeof value === 'object' && value !== null && 'spec' in value && 'type' in value;

const isAlert = (value: unknown): value is JobAlert =>
  typeof value === 'object' && value !== null && 'spec' in value && !('type' in value) && typeof value.spec === 'object';
