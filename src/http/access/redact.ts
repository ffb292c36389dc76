/** Redaction: reduces a payload to what its reader may see: all, all but secrets, or only its shape. */
import { isExactNumber } from '../../model/json.ts';

export type Visibility = 'full' | 'redacted' | 'shape';

const secretNames = /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|(api|private)[-_]?key|credential|cookie/i;
const depthMax = 64;

/** Whether a field of this name usually holds a secret. */
export const isSecretName = (name: string): boolean => secretNames.test(name);

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

// A name, `=` or `:`, and a value, quoted or not. The lookahead leaves "Bearer …" to the replacement before.
const secretAssignment = new RegExp(
  String.raw`(\b\w{0,40}(?:password|passwd|secret|token|api[-_]?key|authorization)["']?\s{0,4}[=:]\s{0,4})` +
    String.raw`["']?(?!bearer\b|basic\b)[^\s"',;&}]{1,500}["']?`,
  'gi',
);

/** Redacts secrets in a text: `password=…`, `Bearer …`, `scheme://user:password@…`. */
export function redactText(text: string, visibility: Visibility): string {
  if (visibility === 'full') return text;
  return text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]')
    .replace(secretAssignment, '$1[redacted]')
    .replace(/(\/\/[^\s/:@]{1,200}:)[^\s/@]{1,200}@/g, '$1[redacted]@');
}
