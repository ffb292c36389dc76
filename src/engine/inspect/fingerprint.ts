/** The fingerprint of a failure: a hash of type, error code and the beginning of the message without its numbers. */
import { createHash } from 'node:crypto';
import type { Job } from '../../model/job.ts';
import { withoutSecrets } from '../../model/secrets.ts';

const shapeMax = 300;
/**
 * How many characters of a message are searched for secrets. More than `shapeMax`, so that a secret is recognized even
 * if it extends beyond `shapeMax`.
 */
const readMax = 1_000;
const digits = 16;

export function fingerprintOf({ type, error }: Pick<Job, 'type' | 'error'>): string | null {
  if (error === null) return null;
  const text = JSON.stringify([type, error.code, shapeOf(error.message)]);
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/**
 * The first line of a message, with ids, memory addresses and numbers replaced by `#`. Secrets are removed: the
 * fingerprint is public, and a short secret could be guessed from the hash.
 */
export function shapeOf(message: string): string {
  const [line = ''] = message.slice(0, readMax).split('\n');
  return withoutSecrets(line)
    .slice(0, shapeMax)
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#')
    .replace(/\b(0x)?(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, '#')
    .replace(/\d+([.,:]\d+)*/g, '#')
    .replace(/\s+/g, ' ')
    .trim();
}
