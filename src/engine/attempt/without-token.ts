/**
 * Removes the token of a link from what `notify` has thrown, before it is stored or logged: libraries put the request that
 * failed into their errors, and who reads the error could answer the question.
 */
import { inspect } from 'node:util';
import { jsonText } from '../../model/json.ts';
import { isA, messageOf, storedError } from './stored-error.ts';

/** How deep the parts of an error are searched; deeper ones are neither stored nor logged. Long texts and lists are read whole. */
const searched = { depth: 10, maxStringLength: null, maxArrayLength: null } as const;
const placeholder = '[token]';

/** Returns the error without the token. It is the same object, so that its class counts, unless it cannot be changed. */
export function withoutToken(error: unknown, token: string): unknown {
  const secret = token.slice(token.indexOf('.') + 1);
  const clean = (text: string): string => text.replaceAll(secret, placeholder);
  if (!isA(Error, error)) return shows(error, secret) ? cleanCopy(error, clean) : error;
  cleanError(error, clean, new Set());
  if (!shows(error, secret) && !jsonText(storedError(error)).includes(secret)) return error;
  return new Error(clean(messageOf(error)));
}

/** The fields that are stored although they may not be enumerable or not the error's own. */
const storedFields = ['message', 'stack', 'name', 'code', 'data', 'detail'];

function cleanError(error: Error, clean: (text: string) => string, seen: Set<Error>): void {
  if (seen.has(error)) return;
  seen.add(error);
  const { cause, errors } = error as { cause?: unknown; errors?: unknown };
  const inner: readonly unknown[] = [cause, ...(Array.isArray(errors) ? (errors as unknown[]) : [])];
  for (const one of inner) if (isA(Error, one)) cleanError(one, clean, seen);
  const fields = error as unknown as Record<string, unknown>;
  for (const name of new Set([...storedFields, 'cause', ...Object.keys(error)])) {
    const value = fields[name];
    const isShown = !isA(Error, value) && shown(value) !== clean(shown(value));
    if (isShown) Reflect.set(error, name, cleanCopy(value, clean));
  }
}

function cleanCopy(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  try {
    return JSON.parse(clean(jsonText(value))) as unknown;
  } catch {
    return '[left out: it contains the token of the question]';
  }
}

const shown = (value: unknown): string => inspect(value, searched);

const shows = (value: unknown, secret: string): boolean => shown(value).includes(secret);
