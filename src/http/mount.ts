/** Mounts the HTTP server below a path of an existing server: one of `node:http`, or Express with `app.use`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Refusal } from '../refusal.ts';
import { createHttp, type HttpOptions } from './server.ts';

export interface MountOptions extends HttpOptions {
  /** The path of the dashboard and the API, such as `/jobs`. */
  readonly path: string;
}

export interface Mounted {
  /** Responds to a request below the path. False: the request has another path, and your server must respond. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Ends all streams. The engine keeps running. */
  close(): Promise<void>;
}

export function mountHttp({ path, ...options }: MountOptions): Mounted {
  checkPath(path);
  const http = createHttp(options);
  // The default of `overrideGlobalObjects` would replace the global Request and Response of the whole program.
  const answer = getRequestListener((request, env) => http.fetch(request, env as never), {
    overrideGlobalObjects: false,
  });
  return {
    handle(request, response) {
      const { url = '/' } = request;
      if (!isBelow(path, url)) return false;
      if (isRoot(path, url)) response.writeHead(308, { location: `${path}/${url.slice(path.length)}` }).end();
      else void answer(Object.assign(request, { url: url.slice(path.length) }), response);
      return true;
    },
    close: () => http.close(),
  };
}

const isBelow = (path: string, url: string): boolean =>
  url.startsWith(path) && /^([/?]|$)/.test(url.slice(path.length));

/**
 * Whether the URL is the path without a slash at the end. If so, `handle` redirects to the path with a slash, because
 * the dashboard's relative URLs need the slash.
 */
const isRoot = (path: string, url: string): boolean => url.split('?')[0] === path;

function checkPath(path: string): void {
  if (/^(\/[\w.~-]+)+$/.test(path)) return;
  throw new Refusal('malformed.option', 'the path of a mount begins with a slash and ends without one, like /jobs', {});
}
