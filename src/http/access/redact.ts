/** Redaction: what of a payload its reader may see: all of it, all but secrets, or only its shape. */
import { isExactNumber } from '../../model/json.ts';

export type Sight = 'full' | 'redacted' | 'shape';

const secretNames = /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|(api|private)[-_]?key|credential|cookie/i;
const depthMax = 64;

/** A name under which secrets are kept. */
export const isSecretName = (name: string): boolean => secretNames.test(name);

export function redact(value: unknown, sight: Sight, depth = 0): unknown {
  if (sight === 'full') return value;
  if (depth > depthMax) return '…';
  if (isExactNumber(value)) return sight === 'redacted' ? value : '[number]';
  if (Array.isArray(value)) return value.map((item) => redact(item, sight, depth + 1));
  if (typeof value === 'object' && value !== null) {
    const shown = (name: string, item: unknown): unknown =>
      isSecretName(name) ? '[redacted]' : redact(item, sight, depth + 1);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(name, item)]));
  }
  return sight === 'redacted' || value === null || value === undefined ? value : `[${typeof value}]`;
}

// The name with its sign, then the value, quoted or not; of "Authorization: Bearer x" only the x, which went before.
const secretSaid = new RegExp(
  String.raw`(\b\w{0,40}(?:password|passwd|secret|token|api[-_]?key|authorization)["']?\s{0,4}[=:]\s{0,4})` +
    String.raw`["']?(?!bearer\b|basic\b)[^\s"',;&}]{1,500}["']?`,
  'gi',
);

/** Secrets in a sentence: `password=…`, `Bearer …`, `scheme://user:password@…`. */
export function redactText(text: string, sight: Sight): string {
  if (sight === 'full') return text;
  return text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]')
    .replace(secretSaid, '$1[redacted]')
    .replace(/(\/\/[^\s/:@]{1,200}:)[^\s/@]{1,200}@/g, '$1[redacted]@');
}
