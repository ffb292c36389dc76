/** The body of a request. No command uses a body: its bytes are dropped as they arrive; only its end is detected. */
import type { ReceivedBytes } from './bytes.ts';
import { badRequest, tooLarge } from './unreadable.ts';

export interface RequestBody {
  /** Drops the bytes of the body that have arrived; returns whether the body is complete. Throws UnreadableMessage. */
  drop(bytes: ReceivedBytes): boolean;
}

const chunked = /^chunked$/i;

export function bodyOf(headers: ReadonlyMap<string, string>, bytesMax: number): RequestBody {
  const encoding = headers.get('transfer-encoding');
  if (encoding === undefined) return new SizedBody(contentLength(headers), bytesMax);
  if (headers.has('content-length')) throw badRequest('Content-Length beside Transfer-Encoding');
  if (!chunked.test(encoding)) throw badRequest('Transfer-Encoding is not chunked');
  return new ChunkedBody(bytesMax);
}

function contentLength(headers: ReadonlyMap<string, string>): number {
  const text = headers.get('content-length');
  if (text === undefined) return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest('Content-Length is not a number');
  return Number(text);
}

class SizedBody implements RequestBody {
  #left: number;

  constructor(length: number, bytesMax: number) {
    if (length > bytesMax) throw tooLarge();
    this.#left = length;
  }

  drop(bytes: ReceivedBytes): boolean {
    this.#left -= bytes.drop(this.#left);
    return this.#left === 0;
  }
}

/** The maximum length of a chunk's size line with its extensions, and of a trailer; a longer line is refused. */
const lineMax = 1024;
const trailersMax = 64;
const newline = 0x0a;

/**
 * A body of chunks. Before each chunk, a line gives the size of the chunk in hexadecimal. The last chunk has size 0;
 * trailers and a blank line follow it.
 */
class ChunkedBody implements RequestBody {
  readonly #bytesMax: number;
  #bytes = 0;
  #expects: 'size' | 'data' | 'end of data' | 'trailer' = 'size';
  #left = 0;
  #trailers = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  drop(bytes: ReceivedBytes): boolean {
    for (;;) {
      if (this.#expects === 'data') {
        this.#left -= bytes.drop(this.#left);
        if (this.#left > 0) return false;
        this.#expects = 'end of data';
      }
      const line = takeLine(bytes);
      if (line === null) return false;
      if (this.#expects === 'trailer' && line === '') return true;
      this.#read(line);
    }
  }

  #read(line: string): void {
    switch (this.#expects) {
      case 'size':
        return this.#begin(sizeOf(line));
      case 'trailer':
        if (++this.#trailers > trailersMax) throw tooLarge();
        return;
      default:
        if (line !== '') throw badRequest('a chunk is longer than its size');
        this.#expects = 'size';
    }
  }

  #begin(size: number): void {
    this.#bytes += size;
    if (this.#bytes > this.#bytesMax) throw tooLarge();
    [this.#left, this.#expects] = [size, size === 0 ? 'trailer' : 'data'];
  }
}

function sizeOf(line: string): number {
  const [, digits] = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
  if (digits === undefined) throw badRequest('the size of a chunk is not a number');
  return parseInt(digits, 16);
}

/** Removes the next line and returns it without its ending; null: the end of the line has not arrived. */
function takeLine(bytes: ReceivedBytes): string | null {
  const end = bytes.first(Math.min(bytes.length, lineMax)).indexOf(newline);
  if (end === -1 && bytes.length >= lineMax) throw tooLarge();
  if (end === -1) return null;
  const line = bytes.first(end).toString('latin1');
  bytes.drop(end + 1);
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
