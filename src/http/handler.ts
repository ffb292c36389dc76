/** Handling: what a route's handler is given besides the ask, and what it may answer. */
import type { EngineCore } from '../engine/engine.ts';
import type { Clock } from '../time/clock.ts';
import type { Access, Visit } from './access/access.ts';
import type { Bell } from './work-signal.ts';
import type { Census } from './metrics/job-counts.ts';
import type { Answer, Asked, RouteName } from './contract.ts';
import type { Feed } from './events/feed.ts';
import type { Figures } from './metrics/metrics.ts';
import type { Principal } from './access/principal.ts';
import type { Roster } from './remote-workers.ts';
import type { Series } from './metrics/time-series.ts';

/** The parts of a server that its handlers share. */
export interface Desk {
  readonly engine: EngineCore;
  readonly access: Access;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly bell: Bell;
  readonly figures: Figures;
  readonly series: Series;
  readonly roster: Roster;
  readonly census: Census;
}

export interface Call {
  /** Whoever asks; nobody in particular where a route is open to everyone. */
  readonly principal: Principal;
  readonly request: Request;
  readonly visit: Visit;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
  readonly headers: Headers;
  /** If not the route's own. */
  status?: number;
}

export type Handler<N extends RouteName> = (desk: Desk, ask: Asked<N>, call: Call) => Promise<Answer<N> | Response>;

/** A handler for every route that is named. */
export type Handling<N extends RouteName> = { readonly [R in N]: Handler<R> };
