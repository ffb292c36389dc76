/** The HTTP server of an engine: `fetch` mounts it in any server, `listen` opens a port. */
import { fileURLToPath } from 'node:url';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { EngineCore } from '../engine/engine.ts';
import { silent, type Logger } from '../logger.ts';
import { packagedUrl } from '../packaged-file.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { Access, checkBind, isLoopbackName, type AccessOptions, type Credentials } from './access/access.ts';
import { WorkSignal } from './work-signal.ts';
import { JobCounts } from './metrics/job-counts.ts';
import { apiPath, routes, type Route, type RouteName } from './contract.ts';
import { dispatch, problem } from './dispatch.ts';
import { EventFeed } from './events/feed.ts';
import { OpenStreams, type StreamLimits } from './events/open-streams.ts';
import { RunTurns } from './events/run-turns.ts';
import { SharedReads } from './events/shared-reads.ts';
import { HealthCheck } from './health-check.ts';
import { Counting } from './metrics/counting.ts';
import { DefinitionMetrics } from './metrics/definition-metrics.ts';
import { Metrics } from './metrics/metrics.ts';
import { observeMetrics, type MetricsMeter } from './metrics/observe-metrics.ts';
import { checkHost, checkOrigin, checkSize, securityHeaders, type GuardOptions } from './access/guard.ts';
import type { PriorityLimits } from './access/priority.ts';
import type { HttpServices, RouteHandlers } from './handler.ts';
import { StaticFiles } from './static-files.ts';
import { HttpRefusal } from './problems.ts';
import { RemoteWorkers } from './remote-workers.ts';
import { auditRoutes } from './routes/audit.ts';
import { flowRoutes } from './routes/flows.ts';
import { inboxRoutes } from './routes/inbox.ts';
import { alertRoutes } from './routes/alerts.ts';
import { limitRoutes } from './routes/limits.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { defDocumentRoutes } from './routes/def-documents.ts';
import { defRoutes } from './routes/defs.ts';
import { failureRoutes } from './routes/failures.ts';
import { instanceRoutes } from './routes/instances.ts';
import { operationRoutes } from './routes/operations.ts';
import { overviewRoutes } from './routes/overview.ts';
import { queueRoutes } from './routes/queues.ts';
import { questionRoutes } from './routes/questions.ts';
import { runRoutes } from './routes/runs.ts';
import { savedViewRoutes } from './routes/saved-views.ts';
import { seriesRoutes } from './routes/series.ts';
import { selfRoutes } from './routes/self.ts';
import { streamRoutes } from './routes/streams.ts';
import { typeRoutes } from './routes/types.ts';
import { workRoutes } from './routes/work.ts';
import { TimeSeries } from './metrics/time-series.ts';
import { DurationTracker } from './metrics/durations.ts';
import { listen, type Fetch, type ListenOptions, type Listening } from './listen.ts';

export interface HttpOptions {
  /** The engine that is served. The server neither resumes nor closes it. */
  readonly engine: EngineCore;
  /** Default: no tokens, and only callers on this machine have access. */
  readonly access?: AccessOptions;
  /**
   * Host names that clients may use in URLs, besides loopback names. Default: any name if the server listens beyond
   * this machine; otherwise none. Needed if a proxy in front of this server, or a server that mounts it, has its own
   * name.
   */
  readonly hosts?: readonly string[];
  /** The folder of the built dashboard; null: no dashboard. */
  readonly dashboard?: string | null;
  /** The highest priority that each role may give. A token can have a bound of its own. */
  readonly priorities?: PriorityLimits;
  /** How many event streams may be open at once. */
  readonly streams?: StreamLimits;
  /**
   * A meter of OpenTelemetry, such as `metrics.getMeter('stint')` of `@opentelemetry/api`: gets the metrics of `/metrics`, too.
   * Default: none.
   */
  readonly meter?: MetricsMeter;
  /**
   * How many definitions have a label of their own in the metrics, from 0 to 10,000; all others are "other definitions".
   * Default: 500.
   */
  readonly metricDefinitionsMax?: number;
  /** Receives warnings and unexpected errors of the server. */
  readonly logger?: Logger;
  /** For tests. */
  readonly clock?: Clock;
}

export interface Http {
  readonly fetch: Fetch;
  listen(options?: ListenOptions): Promise<Listening>;
  /** Ends all streams and stops listening. The engine keeps running. */
  close(): Promise<void>;
}

const handlers: RouteHandlers<RouteName> = {
  ...selfRoutes, ...runRoutes, ...questionRoutes, ...auditRoutes, ...bulkRoutes, ...defRoutes, ...defDocumentRoutes, ...failureRoutes,
  ...flowRoutes, ...inboxRoutes, ...limitRoutes, ...alertRoutes, ...instanceRoutes, ...operationRoutes, ...overviewRoutes, ...seriesRoutes,
  ...queueRoutes, ...savedViewRoutes, ...streamRoutes,
  ...typeRoutes, ...workRoutes,
};

// This path is correct for src/http and for the build in dist/http: both are two folders below the package root.
const builtDashboard = fileURLToPath(packagedUrl('../../dist/dashboard', import.meta.url));
const defaultPort = 7070;

export function createHttp(options: HttpOptions): Http {
  const { access = {}, hosts, dashboard = builtDashboard, logger = silent, clock = systemClock } = options;
  const services = servicesOf(options, new Access(access, clock, options.engine.jobs), clock, logger);
  const guard: { isPublic: boolean; hosts: GuardOptions['hosts'] } = { isPublic: false, hosts };
  const app = router(services, new StaticFiles(dashboard), guard, logger);
  const stopObserving = options.meter && observeMetrics(options.meter, services.metrics);
  const open = new Set<Listening>();
  const fetch: Fetch = async (request, env = {}) => app.fetch(request, env);

  return {
    fetch,
    async listen({ host = '127.0.0.1', port = defaultPort, tls, isBehindTls = false, isInsecure = false } = {}) {
      checkBind({ host, isSetUp: services.access.isSetUp, hasTls: tls !== undefined || isBehindTls, isInsecure });
      guard.isPublic ||= !isLoopbackName(host);
      await services.feed.start();
      const listening = await listen(fetch, host, port, tls);
      open.add(listening);
      return listening;
    },
    async close() {
      stopObserving?.();
      services.workSignal.close();
      services.openStreams.close();
      await services.feed.close();
      await services.counting.close();
      await Promise.all([...open].map((listening) => listening.close()));
      services.metrics.close();
    },
  };
}

function servicesOf(
  { engine, streams, metricDefinitionsMax, priorities = {} }: HttpOptions,
  access: Access,
  clock: Clock,
  logger: Logger,
): HttpServices {
  const { store } = engine.jobs;
  const feed: EventFeed = new EventFeed({
    catchUpFrom: () => counting.begin(),
    store,
    read: (cursor, limit) => engine.jobs.events(cursor, limit),
    readMemory: (cursor, limit) => engine.eventsInMemory(cursor, limit),
    clock,
    logger,
  });
  const openStreams = new OpenStreams(clock, streams);
  const runTurns = new RunTurns(feed, clock);
  const sharedReads = new SharedReads(engine);
  const workSignal = new WorkSignal(store, clock);
  const jobCounts = new JobCounts(engine, clock);
  const definitions = new DefinitionMetrics(metricDefinitionsMax);
  const metrics = new Metrics(engine, jobCounts, definitions);
  const timeSeries = new TimeSeries(engine, engine.now());
  const counting = new Counting({ engine, timeSeries, definitions, feed: () => feed, clock, logger });
  const durations = new DurationTracker();
  feed.follow(({ position, event }) => {
    const jobDurations = durations.endedBy(event);
    definitions.note(event);
    const isInMemory = position === null;
    if (isInMemory || (feed.isLive && counting.isHere)) metrics.countEvent(event, jobDurations);
    if (!isInMemory) timeSeries.add(event, jobDurations);
  }, false);
  metrics.addGauges(() => ({
    stint_counting: Number(counting.isHere),
    stint_stream_readers: openStreams.count,
    stint_workers_waiting: workSignal.waiting,
  }));
  const remoteWorkers = new RemoteWorkers(store, clock);
  const healthCheck = new HealthCheck(store, clock);
  return {
    engine, access, clock, counting, feed, openStreams, runTurns, sharedReads, workSignal, metrics, timeSeries,
    remoteWorkers, jobCounts, healthCheck, priorities,
  };
}

type Env = { Bindings: Partial<HttpBindings> };

function router(services: HttpServices, staticFiles: StaticFiles, guard: GuardOptions, logger: Logger): Hono<Env> {
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
      const incoming = { request, credentials: credentialsOf(request, context.env), params: context.req.param() };
      const response = await dispatch(services, handlers, name, incoming).catch((error: unknown) =>
        problem(error, logger));
      services.metrics.countRequest(name, response.status);
      return response;
    });
  }
  app.notFound(async (context) => {
    const { path, method } = context.req;
    const page = path.startsWith(apiPath) || (method !== 'GET' && method !== 'HEAD') ? null : staticFiles.answer(path);
    if (page) return page;
    // Without this check, unauthenticated callers could find out which routes exist.
    await services.access.identify(context.req.raw, credentialsOf(context.req.raw, context.env));
    throw new HttpRefusal('unknown.route', `no such route: ${method} ${path.slice(0, 200)}`);
  });
  app.onError((error) => problem(error, logger));
  return app;
}

const credentialsOf = (request: Request, env: Partial<HttpBindings>): Credentials => ({
  authorization: request.headers.get('authorization') ?? undefined,
  cookie: request.headers.get('cookie') ?? undefined,
  address: env.incoming?.socket.remoteAddress ?? null,
});
