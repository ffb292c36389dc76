/** The log of a job for its handler: each call writes one entry, and converts a value of any type to text. */
import type { LogLine } from '../../store/store.ts';
import type { JobLog } from './context.ts';
import { plainText } from './plain-text.ts';

export type LogLevel = LogLine['level'];

/** The maximum size of a log entry in UTF-8. Longer text is truncated. */
export const logLineBytesMax = 8_192;

type WriteLine = (level: LogLevel, text: string) => void;

export const jobLog = (write: WriteLine): JobLog => new WrittenLog(write);

/**
 * Every attempt has a log, and few write to it: so each function is made when it is read. Handlers can take it from the
 * log (`const { info } = log`).
 */
class WrittenLog implements JobLog {
  readonly #write: WriteLine;

  constructor(write: WriteLine) {
    this.#write = write;
  }

  get debug(): JobLog['debug'] {
    return this.#at('debug');
  }

  get info(): JobLog['info'] {
    return this.#at('info');
  }

  get warn(): JobLog['warn'] {
    return this.#at('warn');
  }

  get error(): JobLog['error'] {
    return this.#at('error');
  }

  #at(level: LogLevel): (text: string) => void {
    return (text) => this.#write(level, plainText(text, logLineBytesMax));
  }
}
