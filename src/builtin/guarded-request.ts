/**
 * Sends a request to an allowed address only. The host name is resolved once, all its addresses are checked, and the
 * connection is made to a checked address. So a DNS entry that changes between the check and the connection has no
 * effect.
 */
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Fail } from '../engine/handler/errors.ts';
import type { Reach } from './address.ts';

/** Returns all addresses of a host name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface RequestRoute {
  readonly reach: Reach;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
  /** Whether a redirect that would turn the request into a GET without its body is refused. */
  readonly keepsBody?: boolean;
}

const redirectsMax = 5;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];

/** Sends the request and follows redirects, each checked like the first URL. Returns the last response. */
export async function guardedRequest(outgoing: Outgoing, route: RequestRoute): Promise<IncomingMessage> {
  let next = outgoing;
  for (let redirects = 0; ; redirects++) {
    const answer = await send(next, route);
    const { location } = answer.headers;
    if (!redirectStatuses.includes(answer.statusCode!) || location === undefined) return answer;
    answer.destroy();
    if (redirects === redirectsMax) throw new Fail(`${outgoing.url.host} redirects more than ${redirectsMax} times`);
    const redirectedTo = redirected(next, location, answer.statusCode!);
    if (route.keepsBody && redirectedTo.body !== next.body) {
      throw new Fail(`${next.url.host} redirects with ${answer.statusCode}, which drops the message: give the URL that it redirects to`);
    }
    next = redirectedTo;
  }
}

/**
 * Parses a URL. Throws Fail if its scheme is not http or https, or if it contains a user or password, because URLs
 * appear in logs.
 */
export function checkUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Fail('the URL must begin with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fail('a URL must not contain a user and password: use a header');
  }
  return url;
}

async function send({ method, url, headers, body }: Outgoing, route: RequestRoute): Promise<IncomingMessage> {
  const name = nameOf(url);
  const address = await checkedAddress(name, route);
  // Loaded when it is needed: 10 MB in each process.
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request({
      agent: false,
      host: address,
      port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
      path: url.pathname + url.search,
      method,
      headers: { ...headers, host: url.host },
      signal: route.signal,
      ...(isIP(name) === 0 ? { servername: name } : {}),
    });
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end(body ?? undefined);
  });
}

/**
 * Returns the first address of the host. Throws Fail if even one of its addresses is not allowed. If only the first
 * address were checked, the order of the addresses would decide whether the request is allowed, and the owner of the
 * name chooses this order.
 */
export async function checkedAddress(
  name: string, { reach, resolve, signal }: Pick<RequestRoute, 'reach' | 'resolve' | 'signal'>,
): Promise<string> {
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  signal.throwIfAborted();
  const closed = addresses.find((address) => !reach.includes(address));
  if (closed !== undefined) {
    const hint = 'allow it with --http-allow if that is intended';
    throw new Fail(`${name} has the address ${closed}, which is not public: ${hint}`);
  }
  if (addresses.length === 0) throw new Error(`${name} has no address`);
  return addresses[0]!;
}

const nameOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const secretHeaders: readonly string[] = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];

function redirected({ method, url, headers, body }: Outgoing, location: string, status: number): Outgoing {
  const target = checkUrl(location, url);
  if (url.protocol === 'https:' && target.protocol === 'http:') throw new Fail(`${url.host} redirects to plain HTTP`);
  const becomesGet = status === 303 || (status < 303 && method === 'POST');
  return {
    method: becomesGet && method !== 'HEAD' ? 'GET' : method,
    url: target,
    headers: without(headers, [
      ...(target.origin === url.origin ? [] : secretHeaders),
      ...(becomesGet ? ['content-type'] : []),
    ]),
    body: becomesGet ? null : body,
  };
}

const without = (headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())));
