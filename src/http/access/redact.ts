/**
 * Redaction of payloads: by the `Visibility` of the reader, hides nothing, only the secrets, or all values except null.
 */
import { isExactNumber } from '../../model/json.ts';
import { isSecretName, withoutSecrets } from '../../model/secrets.ts';

export type Visibility = 'full' | 'redacted' | 'shape';

const depthMax = 64;

export function redact(value: unknown, visibility: Visibility, depth = 0): unknown {
  if (visibility === 'full') return value;
  if (depth > depthMax) return '…';
  if (isExactNumber(value)) return visibility === 'redacted' ? value : '[number]';
  if (Array.isArray(value)) return value.map((item) => redact(item, visibility, depth + 1));
  if (typeof value === 'object' && value !== null) {
    const shown = (name: string, item: unknown): unknown =>
      isSecretName(name) ? '[redacted]' : redact(item, visibility, depth + 1);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(name, item)]));
  }
  return visibility === 'redacted' || value === null || value === undefined ? value : `[${typeof value}]`;
}

/** Redacts secrets in a text: `password=…`, `Bearer …`, `scheme://user:password@…`. */
export const redactText = (text: string, visibility: Visibility): string =>
  visibility === 'full' ? text : withoutSecrets(text);

/** Redacts secrets in the reason of an action. */
export const redactWhy = <T extends { readonly why: string | null }>(action: T, visibility: Visibility): T =>
  ({ ...action, why: action.why === null ? null : redactText(action.why, visibility) });

/** Redacts secrets in every text of a value; property names and numbers stay. */
export function redactTexts<T>(value: T, visibility: Visibility): T {
  if (visibility === 'full') return value;
  if (typeof value === 'string') return withoutSecrets(value) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => redactTexts(item, visibility)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, redactTexts<unknown>(item, visibility)]);
  return Object.fromEntries(entries) as T;
}

/**
 * Redacts the values of tags that are named like a secret, such as `password`. Callers of all roles see the other tags,
 * because tags are made for searches.
 */
export const redactTags = (
  tags: Readonly<Record<string, string>> | null,
  visibility: Visibility,
): Record<string, string> =>
  (visibility === 'full' ? { ...tags } : (redact({ ...tags }, 'redacted') as Record<string, string>));
