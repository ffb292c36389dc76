/** Mounts the HTTP face below a path of a server that is there already: plain `node:http`, or Express by `app.use`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Refusal } from '../refusal.ts';
import { createHttp, type HttpOptions } from './server.ts';

export interface MountOptions extends HttpOptions {
  /** Below which the dashboard and the API are found: `/jobs`. */
  readonly path: string;
}

export interface Mounted {
  /** Answers what is below the path; false: it is not, and the request is still the caller's. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Ends streams; the engine goes on. */
  close(): Promise<void>;
}

export function mountHttp({ path, ...options }: MountOptions): Mounted {
  checkPath(path);
  const http = createHttp(options);
  // Whoever mounts an engine keeps the Request and Response of their own process.
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

const isBelow = (path: string, url: string): boolean => url.startsWith(path) && /^([/?]|$)/.test(url.slice(path.length));

/** The dashboard names its files relative to where it stands, which only works with the slash at the end. */
const isRoot = (path: string, url: string): boolean => url.split('?')[0] === path;

function checkPath(path: string): void {
  if (/^(\/[\w.~-]+)+$/.test(path)) return;
  throw new Refusal('malformed.option', 'the path of a mount is like /jobs: it begins with a slash and ends without', {});
}
