/**
 * Bedrock's messages: a method line, header lines, a blank line and, with Content-Length, a body. The reader takes
 * bytes as they come and gives whole requests; what it cannot read it refuses once, and the connection ends there.
 */
import { escapeValue, unescapeValue } from './escape.ts';

export interface Request {
  /** The whole method line, trimmed. */
  readonly line: string;
  /** What comes before the first space, in lower case. */
  readonly verb: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface Response {
  /** `200 OK` */
  readonly status: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface MessageLimits {
  readonly lineBytes: number;
  readonly headerBytes: number;
  readonly headerLines: number;
  readonly bodyBytes: number;
}

export const defaultLimits: MessageLimits = { lineBytes: 4096, headerBytes: 1_048_576, headerLines: 64, bodyBytes: 1_048_576 };

/** Why the connection must end; null as status: without a word, since whoever speaks here is not a Bedrock client. */
export class UnreadableMessage extends Error {
  readonly status: string | null;

  constructor(status: string | null, message: string) {
    super(message);
    this.status = status;
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const nothing = Buffer.alloc(0);
/** Of a line, at most. */
const endingBytes = 2;
const browserLine = /^(?:get|post|put|head|delete|options|patch|connect|trace) \S+ http\/\d/i;
const browserHeaders = ['host', 'origin', 'sec-fetch-site', 'user-agent'];
const healthLine = /^get \/status\/handlingcommands http\/1\.[01]$/i;

/** Whether the line asks for the health that load balancers look at: the one thing of HTTP that Bedrock answers. */
export const asksForHealth = (line: string): boolean => healthLine.test(line);

/** Where a reader stands: between requests, before the blank line, or in a body. */
export type ParsePhase = 'idle' | 'head' | 'body';

export class MessageReader {
  readonly #limits: MessageLimits;
  readonly #bytes = new Bytes();
  /** Whose body has not come as a whole yet. */
  #request: Request | null = null;
  #bodyLeft = 0;
  #scanned = 0;
  #isLineChecked = false;

  constructor(limits: MessageLimits = defaultLimits) {
    this.#limits = limits;
  }

  get phase(): ParsePhase {
    if (this.#request !== null) return 'body';
    return this.#bytes.length > 0 ? 'head' : 'idle';
  }

  /** Takes bytes and gives the requests that are whole now. Throws Unreadable; after that the reader is of no use. */
  *read(bytes: Buffer): Generator<Request> {
    this.#bytes.add(bytes);
    for (;;) {
      this.#request ??= this.#readHead();
      if (this.#request === null || !this.#skipBody()) return;
      const request = this.#request;
      this.#request = null;
      yield request;
    }
  }

  /** No command has a use for its body. */
  #skipBody(): boolean {
    const skipped = Math.min(this.#bodyLeft, this.#bytes.length);
    this.#bytes.drop(skipped);
    this.#bodyLeft -= skipped;
    return this.#bodyLeft === 0;
  }

  #readHead(): Request | null {
    this.#skipBlankLines();
    if (!this.#isLineChecked) this.#checkLine();
    const end = this.#endOfHead();
    const { lineBytes, headerBytes, headerLines } = this.#limits;
    const bytesMax = lineBytes + headerBytes + endingBytes * (headerLines + 2);
    if ((end ?? this.#bytes.length) > bytesMax) throw tooLarge();
    if (end === null) return null;
    const lines = splitLines(this.#bytes.first(end));
    this.#bytes.drop(end);
    [this.#scanned, this.#isLineChecked] = [0, false];
    return this.#requestOf(lines);
  }

  #skipBlankLines(): void {
    const { view } = this.#bytes;
    let start = 0;
    while (view[start] === newline || (view[start] === carriageReturn && view[start + 1] === newline)) {
      start += view[start] === newline ? 1 : 2;
    }
    this.#bytes.drop(start);
  }

  /** Where the blank line ends, or null while it has not come. Bytes that were looked at are not looked at again. */
  #endOfHead(): number | null {
    const { view } = this.#bytes;
    for (let at = view.indexOf(newline, this.#scanned); at !== -1; at = view.indexOf(newline, at + 1)) {
      const next = view[at + 1];
      if (next === newline) return at + 2;
      if (next === carriageReturn && view[at + 2] === newline) return at + 3;
    }
    this.#scanned = Math.max(0, view.length - 2);
    return null;
  }

  /** As soon as it is there: nothing is gathered of which it is clear that it will not be taken. */
  #checkLine(): void {
    const { view } = this.#bytes;
    const end = view.indexOf(newline);
    const line = end === -1 ? view : view.subarray(0, end);
    if (line.length > this.#limits.lineBytes + 1) throw tooLarge();
    if (line.includes(0)) throw badRequest('a NUL is in the request');
    if (end === -1) return;
    refuseBrowsers(line.toString('latin1').trim());
    this.#isLineChecked = true;
  }

  #requestOf([first = '', ...rest]: readonly string[]): Request {
    const { lineBytes, headerBytes, headerLines, bodyBytes } = this.#limits;
    const line = trimSpaces(first);
    if (Buffer.byteLength(first) > lineBytes || rest.length > headerLines) throw tooLarge();
    if (rest.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > headerBytes) throw tooLarge();
    const headers = readHeaders(rest);
    const isBrowser = browserHeaders.some((name) => headers.has(name));
    if (isBrowser && !asksForHealth(line)) throw new UnreadableMessage(null, 'a browser speaks');
    if (headers.has('transfer-encoding')) throw badRequest('Transfer-Encoding is not taken');
    this.#bodyLeft = contentLength(headers);
    if (this.#bodyLeft > bodyBytes) throw tooLarge();
    const [verb = ''] = line.split(' ');
    return { line, verb: verb.toLowerCase(), headers };
  }
}

/** What has come and is not read yet. It grows by doubling: what comes byte by byte must not be copied each time. */
class Bytes {
  #buffer: Buffer = nothing;
  #start = 0;
  #end = 0;
  /** The bytes of the socket are not ours to write behind. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  get view(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  first(count: number): Buffer {
    return this.#buffer.subarray(this.#start, this.#start + count);
  }

  add(bytes: Buffer): void {
    if (this.length === 0) {
      [this.#buffer, this.#start, this.#end, this.#isOwn] = [bytes, 0, bytes.length, false];
      return;
    }
    if (!this.#isOwn || this.#end + bytes.length > this.#buffer.length) this.#grow(bytes.length);
    bytes.copy(this.#buffer, this.#end);
    this.#end += bytes.length;
  }

  drop(count: number): void {
    this.#start += count;
    if (this.length === 0) [this.#buffer, this.#start, this.#end, this.#isOwn] = [nothing, 0, 0, false];
  }

  #grow(more: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * (this.length + more));
    this.view.copy(grown);
    [this.#end, this.#start, this.#buffer, this.#isOwn] = [this.length, 0, grown, true];
  }
}

/** Content-Length is always there and always last. */
export function writeResponse({ status, headers = {}, body = '' }: Response): string {
  const names = Object.keys(headers).sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const lines = names.map((name) => `${name}: ${escapeValue(headers[name]!)}\r\n`);
  return `${status}\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function splitLines(head: Buffer): string[] {
  const text = decode(head);
  if (text.includes('\u0000')) throw badRequest('a NUL is in the request');
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.some((line) => line.includes('\r'))) throw badRequest('a carriage return stands alone');
  return lines.slice(0, -2);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('the request is not UTF-8');
  }
}

function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  let last: string | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line)) {
      if (last === null) throw badRequest('a line continues none');
      headers.set(last, headers.get(last)! + line);
      continue;
    }
    const colon = line.indexOf(':');
    last = trimSpaces(colon === -1 ? line : line.slice(0, colon)).toLowerCase();
    if (last === 'content-length' && headers.has(last)) throw badRequest('Content-Length is said twice');
    headers.set(last, colon === -1 ? '' : unescapeValue(trimSpaces(line.slice(colon + 1))));
  }
  return headers;
}

function contentLength(headers: ReadonlyMap<string, string>): number {
  const text = headers.get('content-length');
  if (text === undefined) return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest('Content-Length is not a number');
  return Number(text);
}

function refuseBrowsers(line: string): void {
  if (browserLine.test(line) && !asksForHealth(line)) throw new UnreadableMessage(null, 'a browser speaks');
}

/** Only spaces: tabs are part of the value. By steps: a regular expression would take the square of a long run. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start++;
  while (end > start && text[end - 1] === ' ') end--;
  return text.slice(start, end);
}

const badRequest = (why: string): UnreadableMessage => new UnreadableMessage('400 Bad Request', why);

const tooLarge = (): UnreadableMessage => new UnreadableMessage('413 Request too large', 'the request is too large');
