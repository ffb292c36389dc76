/** The type of the handler of a route: its parameters and its return value. */
import type { EngineCore } from '../engine/engine.ts';
import type { Clock } from '../time/clock.ts';
import type { Access, Credentials } from './access/access.ts';
import type { WorkSignal } from './work-signal.ts';
import type { JobCounts } from './metrics/job-counts.ts';
import type { Answer, ParsedRequest, RouteName } from './contract.ts';
import type { EventFeed } from './events/feed.ts';
import type { OpenStreams } from './events/open-streams.ts';
import type { RunTurns } from './events/run-turns.ts';
import type { SharedReads } from './events/shared-reads.ts';
import type { HealthCheck } from './health-check.ts';
import type { Counting } from './metrics/counting.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Principal } from './access/principal.ts';
import type { PriorityLimits } from './access/priority.ts';
import type { RemoteWorkers } from './remote-workers.ts';
import type { TimeSeries } from './metrics/time-series.ts';

/** The parts of a server that its handlers share. */
export interface HttpServices {
  readonly engine: EngineCore;
  readonly access: Access;
  readonly clock: Clock;
  readonly counting: Counting;
  readonly feed: EventFeed;
  readonly openStreams: OpenStreams;
  readonly runTurns: RunTurns;
  readonly sharedReads: SharedReads;
  readonly workSignal: WorkSignal;
  readonly metrics: Metrics;
  readonly timeSeries: TimeSeries;
  readonly remoteWorkers: RemoteWorkers;
  readonly jobCounts: JobCounts;
  readonly priorities: PriorityLimits;
  readonly healthCheck: HealthCheck;
}

/** The parts that handlers need which use only the store. Commands call them without a server. */
export interface StoreServices extends Pick<HttpServices, 'engine' | 'jobCounts' | 'priorities'> {
  readonly access: Pick<Access, 'withSecret'>;
}

export interface HttpCall {
  /** The caller. On routes that are open to everyone, the placeholder `anyone`. */
  readonly principal: Principal;
  readonly request: Request;
  readonly credentials: Credentials;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Whether the caller still has the access that it had when the request began. */
  isAllowed(): Promise<boolean>;
  /** Headers to add to the response. */
  readonly headers: Headers;
  /** The HTTP status of the response. The handler sets it only if it differs from the `status` of the route. */
  status?: number;
}

export type RouteHandler<N extends RouteName, Services = HttpServices> = (
  services: Services,
  request: ParsedRequest<N>,
  call: HttpCall,
) => Promise<Answer<N> | Response>;

export type RouteHandlers<N extends RouteName, Services = HttpServices> = { readonly [R in N]: RouteHandler<R, Services> };

export type StoreRouteHandlers<N extends RouteName> = RouteHandlers<N, StoreServices>;
