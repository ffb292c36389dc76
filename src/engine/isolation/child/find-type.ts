/** Finds a job type by its name in the module that exports it. */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Refusal } from '../../../refusal.ts';
import type { JobType } from '../../declare/job-type.ts';

/** Refuses with `unknown.type` if the module or the type does not exist. Throws errors of the module unchanged. */
export async function findType(module: string, name: string): Promise<JobType> {
  const url = isAbsolute(module) ? pathToFileURL(module).href : module;
  const exported = await load(url, name);
  const found = candidates(exported).find((value) => isJobType(value) && value.name === name);
  if (found) return found as JobType;
  throw unknownType(`${url} exports no job type ${name}: export it there`, name, url);
}

async function load(url: string, name: string): Promise<object> {
  try {
    return (await import(url)) as object;
  } catch (error) {
    // Node also throws `ERR_MODULE_NOT_FOUND` if the module exists but imports a missing module. In that case
    // `error.url` is the URL of the missing module.
    if (!isMissing(error) || (error.url !== undefined && error.url !== url)) throw error;
    throw unknownType(`module ${url} of job type ${name} does not exist`, name, url);
  }
}

const unknownType = (message: string, type: string, module: string): Refusal =>
  new Refusal('unknown.type', message, { type, module });

const isMissing = (error: unknown): error is { readonly code: string; readonly url?: string } =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/** Returns the exported values, and the members of exported arrays and plain objects. */
const candidates = (exported: object): unknown[] =>
  Object.values(exported).flatMap((value) => [value, ...membersOf(value)]);

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || isJobType(value)) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.values(value) : [];
}

const isJobType = (value: unknown): value is JobType =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string' &&
  'options' in value && typeof value.options === 'object' && value.options !== null;
