/** The routes: method, path, roles, request and response of each. */
import { z } from 'zod';
import { defRouteTable } from './def-routes.ts';
import {
  Act, DefParams, flag, InstanceParams, listOf, name, pageFields, PauseRequest, ReasonQuery, ResumeRequest, RunParams,
  whole,
} from './requests.ts';
import { alertRouteTable } from './alert-routes.ts';
import { limitRouteTable } from './limit-routes.ts';
import { readers, operate, administer, Items, text, at, define } from './route.ts';
import { flowRouteTable } from './flow-routes.ts';
import { runRouteTable } from './run-routes.ts';
import { savedViewRouteTable } from './saved-view-routes.ts';
import { pageOf } from './run-views.ts';
import {
  AuditView, Health, InboxRequestView, inboxStandings, InstanceView, Me, Nothing, Ordered, PauseView, QueueView,
  seriesRanges, SeriesView, StatsView, StoreView, TokenView, TypeDetail, TypeView,
} from './views.ts';
import { kindWords, roles } from './words.ts';
import { workRouteTable } from './work-routes.ts';

export type { Route } from './route.ts';

export const routes = define({
  health: {
    method: 'get', path: '/health', roles: null, summary: 'Check that the server is up and its store takes writes',
    answer: Health,
  },
  metrics: {
    method: 'get', path: '/metrics', roles: readers, summary: 'Metrics for Prometheus', answer: text, as: 'text',
  },
  openapi: {
    method: 'get', path: at('/openapi.json'), roles: readers, summary: 'Get the OpenAPI document of this API',
    answer: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApi' }),
  },
  signIn: {
    method: 'post', path: at('/session'), roles: null, summary: 'Start a browser session with a token',
    body: z.strictObject({ token: z.string().min(1).max(500) }).meta({ id: 'SignIn' }), answer: Me,
  },
  signOut: {
    method: 'delete', path: at('/session'), roles, summary: 'End the browser session', answer: Nothing,
  },
  listTokens: {
    method: 'get', path: at('/tokens'), roles: administer,
    summary: 'List tokens with role and expiry, without their secrets',
    answer: Items('Tokens', TokenView),
  },
  me: { method: 'get', path: at('/me'), roles, summary: 'Get the name and role of the caller', answer: Me },

  ...runRouteTable,
  ...flowRouteTable,
  ...defRouteTable,
  ...limitRouteTable,
  ...alertRouteTable,
  ...savedViewRouteTable,

  listTypes: {
    method: 'get', path: at('/types'), roles: readers,
    summary: 'List the job types of the catalogue, of live instances and of open jobs',
    answer: Items('Types', TypeView),
  },
  getType: {
    method: 'get', path: at('/types/{name}'), roles: readers, summary: 'Get a job type with the schema of its input',
    params: DefParams, answer: TypeDetail,
  },
  pauseType: {
    method: 'post', path: at('/types/{name}/pause'), roles: operate,
    summary: 'Pause a job type, or one key of it: no instance claims its jobs; running jobs continue',
    params: DefParams, body: PauseRequest, answer: PauseView,
  },
  resumeType: {
    method: 'post', path: at('/types/{name}/resume'), roles: operate,
    summary: 'End the pause of a job type, or of one key of it, or the spread of its resume', params: DefParams, body: ResumeRequest, answer: Nothing,
  },
  listPauses: {
    method: 'get', path: at('/pauses'), roles: readers, summary: 'List the job types and keys that are paused, or whose resume is spread',
    answer: Items('Pauses', PauseView),
  },
  listQueues: {
    method: 'get', path: at('/queues'), roles: readers,
    summary: 'List the open jobs of each type and the limits in use',
    answer: Items('Queues', QueueView),
  },
  listInstances: {
    method: 'get', path: at('/instances'), roles: readers, summary: 'List instances and remote workers',
    answer: Items('Instances', InstanceView),
  },
  drainInstance: {
    method: 'post', path: at('/instances/{id}/drain'), roles: operate,
    summary: 'Ask an instance to claim no more jobs; running jobs continue', params: InstanceParams, body: Act,
    answer: Ordered,
  },
  resumeInstance: {
    method: 'post', path: at('/instances/{id}/resume'), roles: operate, summary: 'Ask an instance to claim jobs again',
    params: InstanceParams, body: Act, answer: Ordered,
  },
  listInbox: {
    method: 'get', path: at('/inbox'), roles: readers,
    summary: 'List the requests that programs have written in SQL and that have not become runs',
    query: z.strictObject({
      standing: z.enum(inboxStandings).optional(),
      limit: pageFields.limit,
      after: pageFields.after,
    }).meta({ id: 'InboxQuery' }),
    answer: pageOf('InboxPage', InboxRequestView),
  },
  retryInboxRequest: {
    method: 'post', path: at('/inbox/{id}/retry'), roles: operate, summary: 'Check a refused request of the inbox again',
    params: RunParams, body: Act, answer: Nothing,
  },
  removeInboxRequest: {
    method: 'delete', path: at('/inbox/{id}'), roles: operate, summary: 'Delete a request of the inbox without a run',
    params: RunParams, query: ReasonQuery, answer: Nothing,
  },
  stats: {
    method: 'get', path: at('/stats'), roles: readers, summary: 'Get statistics of all jobs and instances',
    query: z.strictObject({ ended: flag.optional() }).meta({ id: 'StatsQuery' }), answer: StatsView,
  },
  series: {
    method: 'get', path: at('/series'), roles: readers, summary: 'Get time series of events and durations',
    query: z
      .strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() })
      .meta({ id: 'SeriesQuery' }),
    answer: SeriesView,
  },
  storeHealth: {
    method: 'get', path: at('/store'), roles: readers,
    summary: 'Get the size of the store, its connections, and what keeps it from cleaning up', answer: StoreView,
  },
  audit: {
    method: 'get', path: at('/audit'), roles: operate, summary: 'List recorded operator actions, newest first',
    query: z.strictObject({
      ...pageFields,
      action: z.string().min(1).max(100).optional(),
      job: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      by: z.string().min(1).max(255).optional(),
    }).meta({ id: 'AuditQuery' }),
    answer: pageOf('AuditPage', AuditView),
  },
  stream: {
    method: 'get', path: at('/stream'), roles: readers,
    summary: 'Stream server-sent events `change`, resumable with Last-Event-ID',
    query: z
      .strictObject({
        run: whole(1, Number.MAX_SAFE_INTEGER).optional(), type: listOf(name).optional(),
        kind: listOf(z.enum(kindWords)).optional(), after: z.string().max(300).optional(),
      })
      .meta({ id: 'StreamQuery' }),
    answer: text, as: 'events',
  },

  ...workRouteTable,
});

export type Routes = typeof routes;
export type RouteName = keyof Routes;

type RoutePart<R, K extends string> = R extends Readonly<Record<K, infer S extends z.ZodType>> ? S : never;
type Read<R, K extends string> = [RoutePart<R, K>] extends [never] ? undefined : z.output<RoutePart<R, K>>;
type ArgumentPart<R, K extends string> =
  [RoutePart<R, K>] extends [never] ? {} : { readonly [P in K]: z.output<RoutePart<R, K>> };

export interface ParsedRequest<N extends RouteName> {
  readonly params: Read<Routes[N], 'params'>;
  readonly query: Read<Routes[N], 'query'>;
  readonly body: Read<Routes[N], 'body'>;
}

/** The path parameters, query and body that a call of the client takes. */
export type RequestArguments<N extends RouteName> =
  ArgumentPart<Routes[N], 'params'> & Partial<ArgumentPart<Routes[N], 'query'>> & ArgumentPart<Routes[N], 'body'>;

export type Answer<N extends RouteName> = z.output<Routes[N]['answer']>;
