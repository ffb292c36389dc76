/** The keys of stored payloads: from the file of `--encryption-keys`, or from STINT_ENCRYPTION_KEYS. */
import { readFile } from 'node:fs/promises';
import { Refusal } from '../refusal.ts';
import type { Codec } from '../store/coded/codec.ts';
import type { EncryptionKeys } from '../store/coded/encrypt.ts';

const variable = 'STINT_ENCRYPTION_KEYS';

/** Returns the codec that encrypts with these keys; null: there are none, and payloads are stored as they are. */
export async function codecOf(path: string | undefined): Promise<Codec | null> {
  const given = path ?? process.env[variable] ?? '';
  if (given === '') return null;
  const isJson = path === undefined && given.trimStart().startsWith('{');
  const source = path !== undefined ? '--encryption-keys' : variable;
  const keys = keysOf(isJson ? given : await textOf(given, source), source);
  const { encrypt } = await import('../store/coded/encrypt.ts');
  return encrypt(keys);
}

async function textOf(path: string, source: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new Refusal('malformed.option', `cannot read the file of ${source}: ${code}`, { code });
  }
}

/** The refusal contains nothing of the text, which has secrets. */
function keysOf(text: string, source: string): EncryptionKeys {
  const value = parsed(text);
  if (isKeys(value)) return value;
  const shape = '{ "current": "2026-11", "keys": { "2026-11": "…" } }';
  throw new Refusal('malformed.option', `the keys of ${source} must be JSON of the form ${shape}`, {});
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isKeys(value: unknown): value is EncryptionKeys {
  const { current, keys } = (value ?? {}) as { current?: unknown; keys?: unknown };
  return typeof current === 'string' && typeof keys === 'object' && keys !== null &&
    Object.values(keys).every((secret) => typeof secret === 'string');
}
