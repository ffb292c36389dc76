/** The fingerprint of a failure: equal where type, code and the shape of the message are, whatever its numbers. */
import { createHash } from 'node:crypto';
import type { Job } from '../../model/job.ts';

const shapeMax = 300;
const digits = 16;

/** Null: nothing went wrong with it. */
export function fingerprintOf({ type, error }: Pick<Job, 'type' | 'error'>): string | null {
  if (error === null) return null;
  const text = JSON.stringify([type, error.code, shapeOf(error.message)]);
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** Its first line without what differs from case to case: ids, addresses in memory, numbers. */
export function shapeOf(message: string): string {
  const [line = ''] = message.slice(0, shapeMax).split('\n');
  return line
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#')
    .replace(/\b(0x)?(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, '#')
    .replace(/\d+([.,:]\d+)*/g, '#')
    .replace(/\s+/g, ' ')
    .trim();
}
