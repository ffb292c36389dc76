/** The guard: checks host, origin and size of a request before its body is read, and defines the security headers. */
import { isUtf8 } from 'node:buffer';
import { isLoopbackName } from './access.ts';
import { HttpRefusal } from '../problems.ts';

export interface GuardOptions {
  /** Accepted host names besides loopback names. Default: any name if `isPublic`; otherwise none. */
  readonly hosts?: readonly string[] | undefined;
  readonly isPublic: boolean;
}

const bodyMax = 1_048_576;
/** How much of a body is received before its connection is closed. */
const receivedMax = 16 * bodyMax;
const urlMax = 16_384;

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses unknown host names. This prevents DNS rebinding, where another site points its own host name at this server,
 * so that the browser lets pages of the other site call this server.
 */
export function checkHost(request: Request, { hosts, isPublic }: GuardOptions): void {
  const given = request.headers.get('host') ?? new URL(request.url).host;
  const name = given.replace(/:\d{1,5}$/, '').toLowerCase();
  if (hosts?.some((host) => host.toLowerCase() === name)) return;
  if (isLoopbackName(name) || (isPublic && hosts === undefined)) return;
  throw new HttpRefusal('wrong.host', 'this host name is not configured on this server; see the option hosts');
}

/** Prevents cross-site request forgery: refuses changes that a browser sends from a page of another site. */
export function checkOrigin(request: Request): void {
  if (safe.has(request.method)) return;
  const site = request.headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') throw crossOrigin();
  const origin = request.headers.get('origin');
  if (origin === null) return;
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (!URL.canParse(origin) || new URL(origin).host !== host) throw crossOrigin();
}

const crossOrigin = (): HttpRefusal =>
  new HttpRefusal('cross.origin', 'requests from pages of other sites must not change anything');

export function checkSize(request: Request): void {
  if (request.url.length > urlMax) throw new HttpRefusal('too.large', `the URL is longer than ${urlMax} characters`);
  const length = Number(request.headers.get('content-length') ?? 0);
  if (length > bodyMax) throw tooLarge();
}

/**
 * Reads the body; refuses it if it exceeds `bodyMax`, because `checkSize` knows only the declared length. The rest of it is
 * received and dropped: it is in the way of the next request of the connection, which would get no answer.
 */
export async function bodyText(request: Request): Promise<string> {
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(request.body)) {
    size += chunk.byteLength;
    if (size <= bodyMax) chunks.push(chunk);
    else chunks.length = 0;
    if (size > receivedMax) throw tooLarge({ connection: 'close' });
  }
  if (size > bodyMax) throw tooLarge();
  const bytes = Buffer.concat(chunks);
  // Decoding would replace each wrong byte, and the caller would find another text in the store than it sent.
  if (!isUtf8(bytes)) throw new HttpRefusal('malformed.request', 'the body is not UTF-8: encode the JSON as UTF-8');
  return bytes.toString('utf8');
}

/**
 * Returns the chunks of a body. A client that disconnects before the end is refused; it is not an error of the server.
 */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>;
  } catch {
    throw new HttpRefusal('malformed.request', 'the connection ended before the end of the body');
  }
}

const tooLarge = (headers?: Readonly<Record<string, string>>): HttpRefusal =>
  new HttpRefusal('too.large', `the body is larger than ${bodyMax} bytes`, headers);

const csp = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': csp,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};
