/** The log of a job for its handler: each call writes one entry, and converts a value of any type to text. */
import type { LogLine } from '../../store/store.ts';
import type { JobLog } from './context.ts';
import { plainText } from './plain-text.ts';

export type LogLevel = LogLine['level'];

/** The maximum size of a log entry in UTF-8. Longer text is truncated. */
export const logLineBytesMax = 8_192;

/** A plain object, so that handlers can take functions from it, spread it, and replace its functions. */
export function jobLog(write: (level: LogLevel, text: string) => void): JobLog {
  return {
    debug: (text) => write('debug', plainText(text, logLineBytesMax)),
    info: (text) => write('info', plainText(text, logLineBytesMax)),
    warn: (text) => write('warn', plainText(text, logLineBytesMax)),
    error: (text) => write('error', plainText(text, logLineBytesMax)),
  };
}
