/** The log of a job as its handler sees it: a line for whatever it is given. */
import type { LogLine } from '../../store/store.ts';
import type { JobLog } from '../work/context.ts';
import { plainText } from '../work/plain-text.ts';

export type LogLevel = LogLine['level'];

/** In UTF-8. */
export const logLineBytesMax = 8_192;

export function jobLog(write: (level: LogLevel, text: string) => void): JobLog {
  const at = (level: LogLevel) => (text: unknown) => write(level, plainText(text, logLineBytesMax));
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
