/** The HTTP server: an engine's face. Its `fetch` mounts in any server; `listen` opens one of its own. */
import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { EngineCore } from '../engine/engine.ts';
import { silent, type Logger } from '../logger.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { Access, checkBind, isLoopbackName, type AccessOptions, type Visit } from './access/access.ts';
import { Bell } from './work-signal.ts';
import { Census } from './metrics/job-counts.ts';
import { apiPath, routes, type Route, type RouteName } from './contract.ts';
import { dispatch, problem } from './dispatch.ts';
import { Feed } from './events/feed.ts';
import { Figures } from './metrics/metrics.ts';
import { checkHost, checkOrigin, checkSize, securityHeaders, type GuardOptions } from './access/guard.ts';
import type { Desk, Handling } from './handler.ts';
import { Pages } from './static-files.ts';
import { HttpRefusal } from './problems.ts';
import { Roster } from './remote-workers.ts';
import { auditRoutes } from './routes/audit.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { defRoutes } from './routes/defs.ts';
import { failureRoutes } from './routes/failures.ts';
import { instanceRoutes } from './routes/instances.ts';
import { operationRoutes } from './routes/operations.ts';
import { overviewRoutes } from './routes/overview.ts';
import { queueRoutes } from './routes/queues.ts';
import { runRoutes } from './routes/runs.ts';
import { selfRoutes } from './routes/self.ts';
import { streamRoutes } from './routes/streams.ts';
import { typeRoutes } from './routes/types.ts';
import { workRoutes } from './routes/work.ts';
import { Series } from './metrics/time-series.ts';
import { Spells } from './metrics/durations.ts';
import { listen, type Fetch, type ListenOptions, type Listening } from './listen.ts';

export interface HttpOptions {
  /** Stays the caller's to resume and to close. */
  readonly engine: EngineCore;
  /** Nothing set up: open to this machine alone. */
  readonly access?: AccessOptions;
  /** Names under which the server may be called; needed where a proxy has a name of its own. */
  readonly hosts?: readonly string[];
  /** The folder of the built dashboard; null: none. */
  readonly dashboard?: string | null;
  /** Hears of mistakes of the server's own. */
  readonly logger?: Logger;
  /** For tests. */
  readonly clock?: Clock;
}

export interface Http {
  readonly fetch: Fetch;
  listen(options?: ListenOptions): Promise<Listening>;
  /** Ends streams and listeners; the engine goes on. */
  close(): Promise<void>;
}

const handlers: Handling<RouteName> = {
  ...selfRoutes, ...runRoutes, ...auditRoutes, ...bulkRoutes, ...defRoutes, ...failureRoutes, ...instanceRoutes,
  ...operationRoutes, ...overviewRoutes, ...queueRoutes, ...streamRoutes, ...typeRoutes, ...workRoutes,
};

// The same from the sources and from the build.
const builtDashboard = join(import.meta.dirname, '..', '..', 'dist', 'dashboard');
const defaultPort = 7070;

export function createHttp(options: HttpOptions): Http {
  const { engine, access = {}, hosts, dashboard = builtDashboard, logger = silent, clock = systemClock } = options;
  const desk = deskOf(engine, new Access(access, clock), clock, logger);
  const guard: { isPublic: boolean; hosts: GuardOptions['hosts'] } = { isPublic: false, hosts };
  const app = router(desk, new Pages(dashboard), guard, logger);
  const open = new Set<Listening>();
  const fetch: Fetch = async (request, env = {}) => app.fetch(request, env);

  return {
    fetch,
    async listen({ host = '127.0.0.1', port = defaultPort, tls, isBehindTls = false, isInsecure = false } = {}) {
      checkBind({ host, isSetUp: desk.access.isSetUp, hasTls: tls !== undefined || isBehindTls, isInsecure });
      guard.isPublic ||= !isLoopbackName(host);
      await desk.feed.start();
      const listening = await listen(fetch, host, port, tls);
      open.add(listening);
      return listening;
    },
    async close() {
      desk.bell.close();
      await desk.feed.close();
      await Promise.all([...open].map((listening) => listening.close()));
      desk.figures.close();
    },
  };
}

function deskOf(engine: EngineCore, access: Access, clock: Clock, logger: Logger): Desk {
  const { store } = engine.jobs;
  const feed = new Feed({
    store,
    read: (cursor, limit) => engine.jobs.events(cursor, limit),
    readMemory: (cursor, limit) => engine.eventsInMemory(cursor, limit),
    clock,
    logger,
  });
  const bell = new Bell(store, clock);
  const census = new Census(engine, clock);
  const figures = new Figures(engine);
  const series = new Series(engine, engine.now());
  const spells = new Spells();
  feed.follow(({ event }) => {
    const spell = spells.endedBy(event);
    figures.saw(event, spell);
    series.saw(event, spell);
  }, false);
  figures.watch(() => ({ stint_stream_readers: feed.readers, stint_workers_waiting: bell.waiting }));
  return { engine, access, clock, feed, bell, figures, series, roster: new Roster(store, clock), census };
}

type Env = { Bindings: Partial<HttpBindings> };

function router(desk: Desk, pages: Pages, guard: GuardOptions, logger: Logger): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders)) context.res.headers.set(name, value);
  });
  app.use(async (context, next) => {
    checkHost(context.req.raw, guard);
    checkSize(context.req.raw);
    checkOrigin(context.req.raw);
    await next();
  });
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    app.on(route.method.toUpperCase(), route.path.replace(/\{(\w+)\}/g, ':$1'), async (context) => {
      const { raw: request } = context.req;
      const incoming = { request, visit: visitOf(request, context.env), params: context.req.param() };
      const response = await dispatch(desk, handlers, name, incoming).catch((error: unknown) => problem(error, logger));
      desk.figures.answered(name, response.status);
      return response;
    });
  }
  app.notFound(async (context) => {
    const { path, method } = context.req;
    const page = path.startsWith(apiPath) || (method !== 'GET' && method !== 'HEAD') ? null : pages.answer(path);
    if (page) return page;
    // Whoever is unknown learns nothing of what there is.
    await desk.access.who(context.req.raw, visitOf(context.req.raw, context.env));
    throw new HttpRefusal('unknown.route', `there is no ${method} ${path.slice(0, 200)}`);
  });
  app.onError((error) => problem(error, logger));
  return app;
}

const visitOf = (request: Request, env: Partial<HttpBindings>): Visit => ({
  authorization: request.headers.get('authorization') ?? undefined,
  cookie: request.headers.get('cookie') ?? undefined,
  address: env.incoming?.socket.remoteAddress ?? null,
});
