/** The printout: what a process writes to its console, as lines, and when all of a call has been read. */
import type { Readable } from 'node:stream';
import type { LogLevel } from '../../handler/job-log.ts';
import { Lines } from './lines.ts';

export class Printout {
  readonly #onLine: (level: LogLevel, text: string) => void;
  #mark = '';
  #unmarked = 0;
  #passed = Promise.withResolvers<void>();

  constructor(onLine: (level: LogLevel, text: string) => void) {
    this.#onLine = onLine;
  }

  read(stream: Readable, level: LogLevel): void {
    const lines = new Lines((line) => this.#take(line, level));
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    stream.once('end', () => lines.end());
  }

  /** The child prints this on both streams when the call is over: pipes do not keep their order among each other. */
  expect(mark: string): void {
    this.#mark = mark;
    this.#unmarked = 2;
    this.#passed = Promise.withResolvers();
  }

  /** Resolves when both streams have been read up to the mark. */
  get passed(): Promise<void> {
    return this.#passed.promise;
  }

  /** The mark stands behind whatever the handler left without an end of line. */
  #take(line: string, level: LogLevel): void {
    const isMarked = this.#unmarked > 0 && line.endsWith(this.#mark);
    const text = isMarked ? line.slice(0, -this.#mark.length) : line;
    if (text !== '') this.#onLine(level, text);
    if (isMarked && --this.#unmarked === 0) this.#passed.resolve();
  }
}
