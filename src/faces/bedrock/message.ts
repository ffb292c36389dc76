/**
 * Bedrock's messages: a method line, header lines, a blank line and, with Content-Length, a body. The reader takes bytes
 * as they come and gives whole requests; what it cannot read it refuses once, and the connection ends there.
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

export interface Limits {
  readonly lineBytes: number;
  readonly headerBytes: number;
  readonly headerLines: number;
  readonly bodyBytes: number;
}

export const defaultLimits: Limits = { lineBytes: 4096, headerBytes: 1_048_576, headerLines: 64, bodyBytes: 1_048_576 };

/** Why the connection must end; null as status: without a word, since whoever speaks here is not a Bedrock client. */
export class Unreadable extends Error {
  readonly status: string | null;

  constructor(status: string | null, message: string) {
    super(message);
    this.status = status;
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const browserLine = /^(?:get|post|put|head|delete|options|patch|connect|trace) \S+ http\/\d/i;
const browserHeaders = ['host', 'origin', 'sec-fetch-site', 'user-agent'];
const healthLine = /^get \/status\/handlingcommands http\/1\.[01]$/i;

/** Whether the line asks for the health that load balancers look at: the one thing of HTTP that Bedrock answers. */
export const asksForHealth = (line: string): boolean => healthLine.test(line);

export class MessageReader {
  readonly #limits: Limits;
  #buffer: Buffer = Buffer.alloc(0);
  #head: Head | null = null;
  #scanned = 0;

  constructor(limits: Limits = defaultLimits) {
    this.#limits = limits;
  }

  /** Whether a request has begun and is not whole yet. */
  get isInside(): boolean {
    return this.#head !== null || this.#buffer.length > 0;
  }

  /** Takes bytes and gives the requests that are whole now. Throws Unreadable; after that the reader is of no use. */
  *read(bytes: Buffer): Generator<Request> {
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
    for (;;) {
      this.#head ??= this.#readHead();
      if (this.#head === null || this.#buffer.length < this.#head.bodyBytes) return;
      // No command has a use for its body.
      this.#buffer = this.#buffer.subarray(this.#head.bodyBytes);
      const { request } = this.#head;
      this.#head = null;
      yield request;
    }
  }

  #readHead(): Head | null {
    this.#skipBlankLines();
    const end = this.#endOfHead();
    if (end === null) return null;
    const lines = splitLines(this.#buffer.subarray(0, end));
    this.#buffer = this.#buffer.subarray(end);
    this.#scanned = 0;
    return this.#headOf(lines);
  }

  #skipBlankLines(): void {
    let start = 0;
    while (this.#buffer[start] === newline || (this.#buffer[start] === carriageReturn && this.#buffer[start + 1] === newline)) {
      start += this.#buffer[start] === newline ? 1 : 2;
    }
    this.#buffer = this.#buffer.subarray(start);
  }

  /** Where the blank line ends, or null while it has not come. Bytes that were looked at are not looked at again. */
  #endOfHead(): number | null {
    for (let at = this.#buffer.indexOf(newline, this.#scanned); at !== -1; at = this.#buffer.indexOf(newline, at + 1)) {
      const next = this.#buffer[at + 1];
      if (next === newline) return at + 2;
      if (next === carriageReturn && this.#buffer[at + 2] === newline) return at + 3;
    }
    this.#checkUnfinished();
    this.#scanned = Math.max(0, this.#buffer.length - 3);
    return null;
  }

  #checkUnfinished(): void {
    const { lineBytes, headerBytes } = this.#limits;
    const firstEnd = this.#buffer.indexOf(newline);
    if (firstEnd === -1 && this.#buffer.length > lineBytes) throw tooLarge();
    if (this.#buffer.length > lineBytes + headerBytes) throw tooLarge();
    if (firstEnd !== -1) refuseBrowsers(this.#buffer.subarray(0, firstEnd).toString('latin1').trim());
  }

  #headOf([first = '', ...rest]: readonly string[]): Head {
    const { lineBytes, headerBytes, headerLines, bodyBytes } = this.#limits;
    const line = trimSpaces(first);
    refuseBrowsers(line);
    if (Buffer.byteLength(first) > lineBytes || rest.length > headerLines) throw tooLarge();
    if (rest.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > headerBytes) throw tooLarge();
    const headers = readHeaders(rest);
    const length = contentLength(headers);
    if (length > bodyBytes) throw tooLarge();
    if (headers.has('transfer-encoding')) throw new Unreadable('400 Bad Request', 'Transfer-Encoding is not taken');
    if (!asksForHealth(line) && browserHeaders.some((name) => headers.has(name))) throw new Unreadable(null, 'a browser speaks');
    const [verb = ''] = line.split(' ');
    return { request: { line, verb: verb.toLowerCase(), headers }, bodyBytes: length };
  }
}

/** Content-Length is always there and always last. */
export function writeResponse({ status, headers = {}, body = '' }: Response): string {
  const names = Object.keys(headers).sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const lines = names.map((name) => `${name}: ${escapeValue(headers[name]!)}\r\n`);
  return `${status}\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface Head {
  readonly request: Request;
  readonly bodyBytes: number;
}

function splitLines(head: Buffer): string[] {
  const text = decode(head);
  if (text.includes('\u0000')) throw new Unreadable('400 Bad Request', 'a NUL is in the request');
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.some((line) => line.includes('\r'))) throw new Unreadable('400 Bad Request', 'a carriage return stands alone');
  return lines.slice(0, -2);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unreadable('400 Bad Request', 'the request is not UTF-8');
  }
}

function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  let last: string | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line) && last !== null) {
      headers.set(last, headers.get(last)! + line);
      continue;
    }
    const colon = line.indexOf(':');
    last = trimSpaces(colon === -1 ? line : line.slice(0, colon)).toLowerCase();
    if (last === 'content-length' && headers.has(last)) throw new Unreadable('400 Bad Request', 'Content-Length is said twice');
    headers.set(last, colon === -1 ? '' : unescapeValue(trimSpaces(line.slice(colon + 1))));
  }
  return headers;
}

function contentLength(headers: ReadonlyMap<string, string>): number {
  const said = headers.get('content-length');
  if (said === undefined) return 0;
  if (!/^\d{1,15}$/.test(said)) throw new Unreadable('400 Bad Request', 'Content-Length is not a number');
  return Number(said);
}

function refuseBrowsers(line: string): void {
  if (browserLine.test(line) && !asksForHealth(line)) throw new Unreadable(null, 'a browser speaks');
}

/** Only spaces: tabs are part of the value. By steps, since a regular expression would take the square of a long run. */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start++;
  while (end > start && text[end - 1] === ' ') end--;
  return text.slice(start, end);
}

const tooLarge = (): Unreadable => new Unreadable('413 Request too large', 'the request is too large');
