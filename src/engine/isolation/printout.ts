/** The printout of a child process: its console output as lines. After each call the child prints a mark. */
import type { Readable } from 'node:stream';
import type { LogLevel } from '../handler/job-log.ts';

/** Text of this many characters without a line end is delivered as a line, so that it does not fill the memory. */
const lineMax = 10_000;
/**
 * Text without a line end is cut at `lineMax` only if more than this many characters remain after the cut. A mark is
 * shorter, so a mark at the end of the text is never divided.
 */
const markRoom = 64;

/** Splits text that arrives in pieces into lines, and leaves out empty lines. */
export class Lines {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#deliver(line);
    while (this.#rest.length > lineMax + markRoom) {
      this.#deliver(this.#rest.slice(0, lineMax));
      this.#rest = this.#rest.slice(lineMax);
    }
  }

  /** Delivers the last line if it has no line end. */
  end(): void {
    this.#deliver(this.#rest);
    this.#rest = '';
  }

  #deliver(line: string): void {
    if (line !== '') this.#onLine(line);
  }
}

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

  /**
   * Sets the mark of the next call. The child prints it on both stdout and stderr, since data of the two pipes can
   * arrive in any order.
   */
  expect(mark: string): void {
    this.#mark = mark;
    this.#unmarked = 2;
    this.#passed = Promise.withResolvers();
  }

  /** Resolves when both streams have been read up to the mark. */
  get passed(): Promise<void> {
    return this.#passed.promise;
  }

  /**
   * Delivers a line. If the line ends with the mark, removes the mark and delivers the rest, if any. There is a rest if
   * the last output of a call has no line end: then the mark follows it on the same line.
   */
  #take(line: string, level: LogLevel): void {
    const isMarked = this.#unmarked > 0 && line.endsWith(this.#mark);
    const text = isMarked ? line.slice(0, -this.#mark.length) : line;
    if (text !== '') this.#onLine(level, text);
    if (isMarked && --this.#unmarked === 0) this.#passed.resolve();
  }
}
