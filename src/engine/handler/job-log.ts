/** The log of a job as its handler uses it: one line per call, of any value. */
import type { LogLine } from '../../store/store.ts';
import type { JobLog } from './context.ts';
import { plainText } from './plain-text.ts';

export type LogLevel = LogLine['level'];

/** The size limit of a line, in UTF-8. */
export const logLineBytesMax = 8_192;

export function jobLog(write: (level: LogLevel, text: string) => void): JobLog {
  return {
    debug: (text) => write('debug', plainText(text, logLineBytesMax)),
    info: (text) => write('info', plainText(text, logLineBytesMax)),
    warn: (text) => write('warn', plainText(text, logLineBytesMax)),
    error: (text) => write('error', plainText(text, logLineBytesMax)),
  };
}
