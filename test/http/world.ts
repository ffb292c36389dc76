// A server with an engine on a fresh SQLite file (or another store), on a free port of this machine.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cron, Engine, jobDef, jobType, openStore, type EngineOptions } from '../../src/index.ts';
import { routes, type Route, type RouteName } from '../../src/http/contract.ts';
import { createHttp, type Http, type HttpOptions } from '../../src/http/server.ts';
import type { Listening } from '../../src/http/listen.ts';
import { newToken } from '../../src/http/access/tokens.ts';
import type { Store } from '../../src/store/store.ts';
import { waitMs } from '../support/patience.ts';

export interface World {
  readonly engine: Engine;
  readonly http: Http;
  readonly url: string;
  get(path: string, init?: RequestInit): Promise<Reply>;
  send(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Reply>;
  post(path: string, body?: unknown, init?: RequestInit): Promise<Reply>;
  close(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what is answered is what the tests look at
  readonly body: any;
}

export const echo = jobType('echo', { run: async ({ input, log }) => {
  log.info('heard');
  return input ?? null;
} });
export const broken = jobType('broken', { run: async () => { throw new Error('it broke: password=hunter2'); } });
export const patient = jobType('patient', {
  run: ({ signal }) => new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason as Error)); }),
});
export const parts = jobType('parts', {
  taskDetails: () => [1, 2, 3],
  taskResults: ({ task }: { task: number }) => task * 2,
  jobResults: ({ counts }) => counts.succeeded,
});
export const nightly = jobDef('nightly', echo, { params: { a: 1 }, schedules: [cron('30 2 * * *')] });

export interface WorldOptions extends Partial<Omit<HttpOptions, 'engine'>> {
  readonly store?: string;
  readonly engine?: EngineOptions;
  /** Whether the engine executes no jobs. */
  readonly isIdle?: boolean;
}

export async function world(
  { store, engine: engineOptions, isIdle = false, ...options }: WorldOptions = {},
): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-http-'));
  const engine = new Engine({
    store: store ?? `sqlite:${join(folder, 'jobs.db')}`,
    types: [echo, broken, patient, parts],
    defs: [nightly],
    ...engineOptions,
  });
  if (isIdle) await engine.ready();
  else await engine.resume();
  const http = createHttp({ engine, dashboard: null, ...options });
  const listening: Listening = await http.listen({ port: 0 });
  const send: World['send'] = async (method, path, body, init = {}) => {
    const headers = new Headers(init.headers);
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await fetch(listening.url + path, {
      ...init, method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    engine,
    http,
    url: listening.url,
    send,
    get: (path, init) => send('GET', path, undefined, init),
    post: (path, body = {}, init) => send('POST', path, body, init),
    async close() {
      await http.close();
      await engine.close({ patience: '1s' });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A store in memory; the methods whose names are in `failing` fail. */
export function shakyStore(failing: Set<string>): Store {
  return new Proxy(openStore('memory:'), {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) =>
        failing.has(String(name)) ? Promise.reject(new Error('the store is away')) : member.apply(target, given) as unknown;
    },
  });
}

export { newToken };
export const api = '/api/v1';

/** One token per role, and a second worker. */
export const tokens = {
  viewer: newToken({ name: 'vera', role: 'viewer' }),
  producer: newToken({ name: 'paul', role: 'producer' }),
  worker: newToken({ name: 'wanda', role: 'worker' }),
  otherWorker: newToken({ name: 'wim', role: 'worker' }),
  operator: newToken({ name: 'olga', role: 'operator' }),
  admin: newToken({ name: 'ada', role: 'admin' }),
};
export const records = Object.values(tokens).map(({ record }) => record);
export const as = (who: keyof typeof tokens): { headers: Record<string, string> } => ({
  headers: { authorization: `Bearer ${tokens[who].token}` },
});

export const everyRoute = Object.entries(routes) as [RouteName, Route][];
/** A path that matches the route. */
export const pathOf = ({ path }: Route): string => path.replace('{id}', '999999').replace('{name}', 'nobody');

export async function ended(world: World, id: number): Promise<Reply['body']> {
  let reply: Reply;
  await until(async () => {
    reply = await world.get(`${api}/runs/${id}`);
    return reply.body.state === 'ended';
  });
  return reply!.body;
}

/** Polls until it is so. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it has not happened in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a gauge of the server has this value. */
export const untilGauge = (server: World, name: string, value: number, options: RequestInit = {}): Promise<void> =>
  until(async () => (await server.get('/metrics', options)).body.split('\n').includes(`${name} ${value}`));
