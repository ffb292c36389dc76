/** Listens on a port for the HTTP server, with limits on headers, time and connections. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { answerUnreadableRequests } from './unreadable-request.ts';

export type Fetch = (request: Request, env?: Partial<HttpBindings>) => Promise<Response>;

export interface ListenOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 7070. 0 selects a free port. */
  readonly port?: number;
  /** Key and certificate as PEM text. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Whether a proxy in front of the server terminates TLS. */
  readonly isBehindTls?: boolean;
  /** Whether other machines may connect without TLS. */
  readonly isInsecure?: boolean;
}

export interface Listening {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

const limits = {
  maxHeaderSize: 16_384,
  // Longer than the 60 seconds of most proxies: one that reuses a connection while the server closes it answers 502.
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};
const headersMax = 64;
const connectionsMax = 5_000;

export async function listen(fetch: Fetch, host: string, port: number, tls: ListenOptions['tls']): Promise<Listening> {
  const kind = tls
    ? { createServer: createTlsServer, serverOptions: { ...limits, ...tls } }
    : { serverOptions: limits };
  const answer = (request: Request, env: unknown): Promise<Response> => fetch(request, env as HttpBindings);
  // The default of `overrideGlobalObjects` would replace the global Request and Response of the whole program.
  const server = createAdaptorServer({ fetch: answer, overrideGlobalObjects: false, ...kind }) as Server;
  server.maxHeadersCount = headersMax;
  server.maxConnections = connectionsMax;
  answerUnreadableRequests(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls ? 'https' : 'http'}://${shown}:${bound}`,
    host,
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
