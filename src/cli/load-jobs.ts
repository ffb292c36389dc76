/** Loads job types and definitions from the files that `--jobs` names. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyJobDef } from '../engine/declare/job-def.ts';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import { Refusal } from '../refusal.ts';

export interface LoadedJobs {
  readonly types: readonly AnyJobType[];
  readonly defs: readonly AnyJobDef[];
}

export async function loadJobs(files: readonly string[]): Promise<LoadedJobs> {
  const exported = (await Promise.all(files.map(exportsOf))).flat();
  return { types: exported.filter(isType), defs: exported.filter(isDef) };
}

/** What a module exports, and what stands in the lists and objects that it exports. */
async function exportsOf(file: string): Promise<unknown[]> {
  const module = await importOf(file);
  const values = Object.values(module);
  const found = values.flatMap((value) => (isType(value) || isDef(value) ? [value] : Object.values(value ?? {})));
  if (found.some((value) => isType(value) || isDef(value))) return [...new Set(found)];
  throw new Refusal('malformed.option', `${file} exports no job types: export what jobType() and jobDef() give`, {
    file,
  });
}

async function importOf(file: string): Promise<Record<string, unknown>> {
  if (!existsSync(file)) {
    throw new Refusal('malformed.option', `there is no file ${file} here to load jobs from`, { file });
  }
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  } catch (error) {
    throw new Refusal(
      'malformed.option',
      `${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      { file },
    );
  }
}

const isType = (value: unknown): value is AnyJobType =>
  typeof value === 'object' && value !== null && 'options' in value && typeof (value as AnyJobType).name === 'string';

const isDef = (value: unknown): value is AnyJobDef =>
  typeof value === 'object' && value !== null && 'spec' in value && 'type' in value;
