/**
 * Bedrock's messages: a method line, header lines, a blank line and sometimes a body. The reader parses requests
 * incrementally. After an unreadable message, the connection must be closed.
 */
import { bodyOf, type RequestBody } from './body.ts';
import { ReceivedBytes } from './bytes.ts';
import { escapeValue, unescapeValue } from './escape.ts';
import { badRequest, tooLarge, UnreadableMessage } from './unreadable.ts';

export interface BedrockRequest {
  /** The whole method line, trimmed. */
  readonly line: string;
  /** The part of the line before the first space, in lower case. */
  readonly verb: string;
  /** The values of the headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface Response {
  /** For example `200 OK`. */
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

/**
 * Bedrock itself has no limits; these bound the memory of a connection. 1 MiB of data, the most that a job can have,
 * needs up to 2 MiB of header, because escaping doubles backslashes.
 */
export const defaultLimits: MessageLimits = {
  lineBytes: 4096, headerBytes: 4_194_304, headerLines: 1000, bodyBytes: 16_777_216,
};

const newline = 0x0a;
const carriageReturn = 0x0d;
/** The maximum length of a line ending: CR and LF. */
const endingBytes = 2;
/**
 * A web page can make a browser send commands to this port, so requests of browsers are refused. They are recognized
 * by the method line (`browserLine`) or by a header (`browserHeaders`).
 */
const browserLine = /^(?:get|post|put|head|delete|options|patch|connect|trace) \S+ http\/\d/i;
const browserHeaders = ['host', 'origin', 'sec-fetch-site', 'user-agent'];
const healthLine = /^get \/status\/handlingcommands http\/1\.[01]$/i;

/** Whether the line is the health check of load balancers, the only HTTP request that Bedrock answers. */
export const isHealthCheck = (line: string): boolean => healthLine.test(line);

/** Where a reader is: between requests, in a head (before its blank line), or in a body. */
export type ParsePhase = 'idle' | 'head' | 'body';

interface IncomingRequest {
  readonly message: BedrockRequest;
  readonly body: RequestBody;
}

export class MessageReader {
  readonly #limits: MessageLimits;
  readonly #bytes = new ReceivedBytes();
  /** The request whose body is being received; null: no body is being received. */
  #request: IncomingRequest | null = null;
  /** The offset before which `#endOfHead` need not search again. */
  #scanned = 0;
  #isLineChecked = false;

  constructor(limits: MessageLimits = defaultLimits) {
    this.#limits = limits;
  }

  get phase(): ParsePhase {
    if (this.#request !== null) return 'body';
    return this.#bytes.length > 0 ? 'head' : 'idle';
  }

  /** Adds bytes; yields the requests that are complete. Throws UnreadableMessage; do not use the reader after that. */
  *read(bytes: Buffer): Generator<BedrockRequest> {
    this.#bytes.add(bytes);
    for (;;) {
      this.#request ??= this.#readHead();
      if (this.#request === null || !this.#request.body.drop(this.#bytes)) return;
      const { message } = this.#request;
      this.#request = null;
      yield message;
    }
  }

  #readHead(): IncomingRequest | null {
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

  /** Returns the offset after the blank line; null: the blank line has not arrived. */
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

  /** Checks the method line as soon as it has arrived, so that the rest of an invalid request is not buffered. */
  #checkLine(): void {
    const { view } = this.#bytes;
    const end = view.indexOf(newline);
    const line = end === -1 ? view : view.subarray(0, end);
    if (line.length > this.#limits.lineBytes + 1) throw tooLarge();
    if (line.includes(0)) throw badRequest('the request contains NUL');
    if (end === -1) return;
    refuseBrowsers(line.toString('latin1').trim());
    this.#isLineChecked = true;
  }

  #requestOf([first = '', ...rest]: readonly string[]): IncomingRequest {
    const { lineBytes, headerBytes, headerLines, bodyBytes } = this.#limits;
    const line = trimSpaces(first);
    if (Buffer.byteLength(first) > lineBytes || rest.length > headerLines) throw tooLarge();
    if (rest.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > headerBytes) throw tooLarge();
    const headers = readHeaders(rest);
    const isBrowser = browserHeaders.some((name) => headers.has(name));
    if (isBrowser && !isHealthCheck(line)) throw new UnreadableMessage(null, 'the client is a browser');
    const [verb = ''] = line.split(' ');
    return { message: { line, verb: verb.toLowerCase(), headers }, body: bodyOf(headers, bodyBytes) };
  }
}

/** Returns the text of a response. As in Bedrock, Content-Length is always present and always the last header. */
export function writeResponse({ status, headers = {}, body = '' }: Response): string {
  const names = Object.keys(headers).sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const lines = names.map((name) => `${name}: ${escapeValue(headers[name]!)}\r\n`);
  return `${status}\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function splitLines(head: Buffer): string[] {
  const text = decode(head);
  if (text.includes('\u0000')) throw badRequest('the request contains NUL');
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.some((line) => line.includes('\r'))) throw badRequest('a carriage return without a line feed');
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
      if (last === null) throw badRequest('a continuation line without a header');
      headers.set(last, headers.get(last)! + line);
      continue;
    }
    const colon = line.indexOf(':');
    last = trimSpaces(colon === -1 ? line : line.slice(0, colon)).toLowerCase();
    if (last === 'content-length' && headers.has(last)) throw badRequest('Content-Length occurs twice');
    headers.set(last, colon === -1 ? '' : unescapeValue(trimSpaces(line.slice(colon + 1))));
  }
  return headers;
}

function refuseBrowsers(line: string): void {
  if (browserLine.test(line) && !isHealthCheck(line)) throw new UnreadableMessage(null, 'the client is a browser');
}

/**
 * Trims only spaces: tabs are part of the value. Uses a loop, because a regular expression would take quadratic time on
 * a long run of spaces.
 */
function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start++;
  while (end > start && text[end - 1] === ' ') end--;
  return text.slice(start, end);
}
