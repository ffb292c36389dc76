/** The guard: what every request must be before anyone reads it, and what every answer says to browsers. */
import { isLoopbackName } from './access.ts';
import { HttpRefusal } from '../problems.ts';

export interface GuardOptions {
  /** Names under which this server is reached; left out: those of this machine alone if it listens there alone. */
  readonly hosts?: readonly string[] | undefined;
  readonly isPublic: boolean;
}

const bodyMax = 1_048_576;
const urlMax = 16_384;

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page elsewhere must not reach this server by a name of its own making (DNS rebinding). */
export function checkHost(request: Request, { hosts, isPublic }: GuardOptions): void {
  const given = request.headers.get('host') ?? new URL(request.url).host;
  const name = given.replace(/:\d{1,5}$/, '').toLowerCase();
  if (hosts?.some((host) => host.toLowerCase() === name)) return;
  if (isLoopbackName(name) || (isPublic && hosts === undefined)) return;
  throw new HttpRefusal('wrong.host', 'this server does not answer to that name');
}

/** A browser must prove that what changes something comes from our own pages. */
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
  new HttpRefusal('cross.origin', 'a page of another site cannot change anything here');

export function checkSize(request: Request): void {
  if (request.url.length > urlMax) throw new HttpRefusal('too.large', `a URL has at most ${urlMax} characters`);
  const length = Number(request.headers.get('content-length') ?? 0);
  if (length > bodyMax) throw tooLarge();
}

/** The body as text, counted while it comes in. */
export async function bodyText(request: Request): Promise<string> {
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > bodyMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const tooLarge = (): HttpRefusal => new HttpRefusal('too.large', `a body has at most ${bodyMax} bytes`);

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
