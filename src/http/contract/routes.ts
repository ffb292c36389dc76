/** The routes: method, path, roles, request and response of each. */
import { z } from 'zod';
import {
  Act, BulkRequest, CancelRequest, DefCreation, DefOverride, DefParams, DefRunRequest, duration, flag, HandOffFailure,
  HandOffResult, InstanceParams, listOf, name, pageFields, ReasonQuery, RetryRequest, RunRequest, RunEdit, RunFailure,
  RunFilter, RunListQuery, RunParams, RunResult, ScheduleRequest, time, whole,
} from './requests.ts';
import {
  count, EventView, instant, LogLineView, pageOf, ProgressView, ReasonView, RunCreated, RunDetail, RunPage, RunStats,
  RunView,
} from './run-views.ts';
import {
  AuditView, BulkStarted, DefPage, DefView, FailureGroupView, Health, InstanceView, MatrixView, Me, Nothing,
  OperationView, Ordered, PreviewTick, QueueView, seriesRanges, SeriesView, StatsView, StoreView, TickView, TokenView,
  TypeDetail, TypeView,
} from './views.ts';
import { apiPath, kindWords, type Role, roles } from './words.ts';
import {
  ChildrenRequest, WorkClaimRequest, ClaimedView, CompleteRequest, FailRequest, HeartbeatRequest, HeartbeatReply,
  LogLinesRequest, ProgressRequest, ReleaseRequest, WorkReply,
} from './work.ts';

export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** The caller needs one of these roles; null: the route is open to everyone. */
  readonly roles: readonly Role[] | null;
  readonly summary: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** The format of the response, if not JSON. */
  readonly as?: 'events' | 'text';
  /** Default: 200. */
  readonly status?: 201 | 202 | 204;
}

const readers: readonly Role[] = ['viewer'];
const produce: readonly Role[] = ['producer'];
const readersAndProducers: readonly Role[] = ['viewer', 'producer'];
const operate: readonly Role[] = ['operator'];
/** For producers, the handler also checks that the producer has created the run. */
const operateOrOwn: readonly Role[] = ['operator', 'producer'];
const work: readonly Role[] = ['worker'];
const administer: readonly Role[] = ['admin'];

const Items = <S extends z.ZodType>(id: string, one: S) => z.object({ items: z.array(one) }).meta({ id });
const text = z.string();
/** Prefixes a path with `apiPath`. The result is a literal type, so that the compiler checks the dashboard's paths. */
const at = <const P extends string>(path: P): `${typeof apiPath}${P}` => `${apiPath}${path}`;
const define = <const R extends Record<string, Route>>(table: R): R => table;

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

  listRuns: {
    method: 'get', path: at('/runs'), roles: readers, summary: 'List runs that match a filter', query: RunListQuery,
    answer: RunPage,
  },
  countRuns: {
    method: 'get', path: at('/runs/count'), roles: readers,
    summary: 'Count jobs that match a filter, by type and standing',
    query: RunFilter,
    answer: z
      .object({
        total: count,
        items: StatsView.shape.types,
        isCut: z.boolean().meta({
          description: 'whether older matches were not counted: a caller who sees redacted texts and searches a text',
        }),
      })
      .meta({ id: 'RunCount' }),
  },
  createRun: {
    method: 'post', path: at('/runs'), roles: produce, status: 201,
    summary: 'Create a run of a type or definition; with the header Idempotency-Key, only once', body: RunRequest,
    answer: RunCreated,
  },
  getRun: {
    method: 'get', path: at('/runs/{id}'), roles: readersAndProducers,
    summary: 'Get a run with input, result and attempts',
    params: RunParams, answer: RunDetail,
  },
  editRun: {
    method: 'patch', path: at('/runs/{id}'), roles: operate, summary: 'Change priority, due time or tags of a run',
    params: RunParams, body: RunEdit, answer: RunView,
  },
  deleteRun: {
    method: 'delete', path: at('/runs/{id}'), roles: operate, summary: 'Delete an ended run',
    params: RunParams, query: ReasonQuery, answer: Nothing,
  },
  listTasks: {
    method: 'get', path: at('/runs/{id}/tasks'), roles: readers, summary: 'List the tasks of a run', params: RunParams,
    query: z.strictObject({ ...pageFields, state: RunFilter.shape.state }).meta({ id: 'TaskListQuery' }),
    answer: RunPage,
  },
  getMatrix: {
    method: 'get', path: at('/runs/{id}/matrix'), roles: readers,
    summary: 'Get state and duration of every task of a run, in a compact form',
    params: RunParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 20_000).optional() }).meta({ id: 'MatrixQuery' }),
    answer: MatrixView,
  },
  listEvents: {
    method: 'get', path: at('/runs/{id}/events'), roles: readers,
    summary: 'List the events of a run', params: RunParams,
    query: z.strictObject({
      from: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      limit: whole(1, 1000).optional() }).meta({ id: 'EventListQuery',
    }),
    answer: pageOf('EventPage', EventView),
  },
  getProgress: {
    method: 'get', path: at('/runs/{id}/progress'), roles: readers, summary: 'Get the progress tree of a run',
    params: RunParams,
    answer: z.object({ progress: ProgressView.nullable() }).meta({ id: 'ProgressAnswer' }),
  },
  getLog: {
    method: 'get', path: at('/runs/{id}/log'), roles: readers, summary: 'Get the log of a run', params: RunParams,
    query: z.strictObject({
      after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit: whole(1, 1000).optional() }).meta({ id: 'LogQuery',
    }),
    answer: pageOf('LogPage', LogLineView),
  },
  getRunStats: {
    method: 'get', path: at('/runs/{id}/stats'), roles: readers, summary: 'Get statistics of a run and its tasks',
    params: RunParams, answer: RunStats,
  },
  explainRun: {
    method: 'get', path: at('/runs/{id}/explain'), roles: readers,
    summary: 'Explain why a run is not running', params: RunParams,
    answer: Items('Reasons', ReasonView),
  },
  streamRun: {
    method: 'get', path: at('/runs/{id}/stream'), roles: readers,
    summary: 'Stream server-sent events `run`, `progress` and `log` until the run has ended',
    params: RunParams, answer: text,
    as: 'events',
  },
  cancelRun: {
    method: 'post', path: at('/runs/{id}/cancel'), roles: operateOrOwn,
    summary: 'Ask a run to stop; its handler can clean up. A producer can cancel the runs that it has created',
    params: RunParams,
    body: CancelRequest, answer: RunView,
  },
  stopRun: {
    method: 'post', path: at('/runs/{id}/stop'), roles: operate, summary: 'Stop a run immediately', params: RunParams,
    body: Act,
    answer: z.object({ run: RunView, how: z.enum(['terminated', 'disowned', 'idle']) }).meta({ id: 'Stopped' }),
  },
  retryRun: {
    method: 'post', path: at('/runs/{id}/retry'), roles: operate, summary: 'Run an ended run again',
    params: RunParams, body: RetryRequest, answer: RunView,
  },
  pauseRun: {
    method: 'post', path: at('/runs/{id}/pause'), roles: operate, summary: 'Pause a pending run',
    params: RunParams, body: Act, answer: RunView,
  },
  resumeRun: {
    method: 'post', path: at('/runs/{id}/resume'), roles: operate, summary: 'Resume a paused run',
    params: RunParams, body: Act, answer: RunView,
  },
  bulk: {
    method: 'post', path: at('/bulk'), roles: operate, status: 202,
    summary: 'Act on all runs that match a filter, in a run that shows the progress', body: BulkRequest,
    answer: BulkStarted,
  },
  completeRun: {
    method: 'post', path: at('/runs/{id}/complete'), roles: operate,
    summary: 'Complete a run that was handed off, in place of the system that has its token', params: RunParams,
    body: RunResult, answer: RunView,
  },
  failRun: {
    method: 'post', path: at('/runs/{id}/fail'), roles: operate,
    summary: 'Fail a run that was handed off, in place of the system that has its token', params: RunParams,
    body: RunFailure, answer: RunView,
  },
  completeHandOff: {
    method: 'post', path: at('/handoffs/complete'), roles: null,
    summary: 'Complete a job with the token with which it was handed off', body: HandOffResult, answer: WorkReply,
  },
  failHandOff: {
    method: 'post', path: at('/handoffs/fail'), roles: null,
    summary: 'Fail a job with the token with which it was handed off', body: HandOffFailure, answer: WorkReply,
  },
  listOperations: {
    method: 'get', path: at('/operations'), roles: readers, summary: 'List bulk operations, newest first',
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 200).optional() }).meta({ id: 'OperationQuery' }),
    answer: pageOf('OperationPage', OperationView),
  },
  listFailures: {
    method: 'get', path: at('/failures'), roles: readers,
    summary: 'List the newest failures, grouped by type, code and message',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'FailureQuery' }),
    answer: z
      .object({
        items: z.array(FailureGroupView),
        since: instant,
        bucketMs: z.number(),
        scanned: count.meta({ description: 'number of jobs scanned' }),
        isCut: z.boolean().meta({ description: 'whether older failures were not scanned' }),
      })
      .meta({ id: 'Failures' }),
  },

  listDefs: {
    method: 'get', path: at('/defs'), roles: readers, summary: 'List definitions',
    query: z
      .strictObject({
        after: pageFields.after, limit: whole(1, 1000).optional(), q: z.string().max(255).optional(),
        type: name.optional(),
      })
      .meta({ id: 'DefListQuery' }),
    answer: DefPage,
  },
  createDef: {
    method: 'post', path: at('/defs'), roles: operate, status: 201, summary: 'Create a definition', body: DefCreation,
    answer: DefView,
  },
  getDef: {
    method: 'get', path: at('/defs/{name}'), roles: readers,
    summary: 'Get a definition', params: DefParams, answer: DefView,
  },
  overrideDef: {
    method: 'patch', path: at('/defs/{name}'), roles: operate,
    summary: 'Override declared settings of a definition',
    params: DefParams, body: DefOverride, answer: DefView,
  },
  resetDef: {
    method: 'delete', path: at('/defs/{name}/override'), roles: operate, summary: 'Remove the override of a definition',
    params: DefParams, query: ReasonQuery, answer: DefView,
  },
  deleteDef: {
    method: 'delete', path: at('/defs/{name}'), roles: operate, summary: 'Delete a definition; its runs stay',
    params: DefParams, query: ReasonQuery, answer: Nothing,
  },
  enableDef: {
    method: 'post', path: at('/defs/{name}/enable'), roles: operate, summary: 'Resume the schedules of a definition',
    params: DefParams, body: Act, answer: DefView,
  },
  disableDef: {
    method: 'post', path: at('/defs/{name}/disable'), roles: operate, summary: 'Suspend the schedules of a definition',
    params: DefParams, body: Act, answer: DefView,
  },
  runDef: {
    method: 'post', path: at('/defs/{name}/run'), roles: produce, status: 201, summary: 'Create a run of a definition',
    params: DefParams, body: DefRunRequest, answer: RunCreated,
  },
  listTicks: {
    method: 'get', path: at('/defs/{name}/ticks'), roles: readers,
    summary: 'List past ticks and their outcome, newest first',
    params: DefParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 1000).optional() }).meta({ id: 'TickListQuery' }),
    answer: pageOf('TickPage', TickView),
  },
  previewDef: {
    method: 'get', path: at('/defs/{name}/preview'), roles: readers,
    summary: 'Preview the next ticks of all its schedules',
    params: DefParams,
    query: z
      .strictObject({
        count: whole(1, 1000).optional(),
        runLasts: duration.optional().meta({ description: 'assumed duration of each run' }),
        gap: z.enum(['next', 'shift', 'skip']).optional()
          .meta({ description: 'use this policy instead of the one of the schedules' }),
        overlap: z.enum(['first', 'last', 'both']).optional(),
      })
      .meta({ id: 'DefPreviewQuery' }),
    answer: Items(
      'DefPreview',
      PreviewTick.extend({ schedule: count, does: z.enum(['runs', 'is skipped', 'waits', 'replaces']) }),
    ),
  },
  previewSchedule: {
    method: 'post', path: at('/schedules/preview'), roles: readers,
    summary: 'Preview the next ticks of any schedule',
    body: z
      .strictObject({
        schedule: ScheduleRequest, count: whole(1, 1000).optional(), from: time.optional(), name: name.optional(),
      })
      .meta({ id: 'PreviewRequest' }),
    answer: z.object({ words: z.string(), ticks: z.array(PreviewTick) }).meta({ id: 'Preview' }),
  },

  listTypes: {
    method: 'get', path: at('/types'), roles: readers,
    summary: 'List the job types of the catalogue, of live instances and of open jobs',
    answer: Items('Types', TypeView),
  },
  getType: {
    method: 'get', path: at('/types/{name}'), roles: readers, summary: 'Get a job type with the schema of its input',
    params: DefParams, answer: TypeDetail,
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
  stats: {
    method: 'get', path: at('/stats'), roles: readers, summary: 'Get statistics of all jobs and instances',
    query: z.strictObject({ ended: flag.optional() }).meta({ id: 'StatsQuery' }), answer: StatsView,
  },
  series: {
    method: 'get', path: at('/series'), roles: readers, summary: 'Get time series of events and durations',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'SeriesQuery' }),
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

  claim: {
    method: 'post', path: at('/work/claim'), roles: work,
    summary: 'Claim jobs, or wait for some', body: WorkClaimRequest,
    answer: Items('ClaimedJobs', ClaimedView),
  },
  heartbeat: {
    method: 'post', path: at('/work/{id}/heartbeat'), roles: work,
    summary: 'Extend the lease; the reply reports a cancel',
    params: RunParams, body: HeartbeatRequest, answer: HeartbeatReply,
  },
  tellProgress: {
    method: 'post', path: at('/work/{id}/progress'), roles: work, summary: 'Report progress', params: RunParams,
    body: ProgressRequest, answer: WorkReply,
  },
  tellLog: {
    method: 'post', path: at('/work/{id}/log'), roles: work, summary: 'Write to the log', params: RunParams,
    body: LogLinesRequest, answer: WorkReply,
  },
  createChildren: {
    method: 'post', path: at('/work/{id}/children'), roles: work, status: 201,
    summary: 'Create children, which become due when their parent completes',
    params: RunParams, body: ChildrenRequest,
    answer: Items('ChildIds', z.object({ id: z.number().int(), key: z.string().nullable() })),
  },
  complete: {
    method: 'post', path: at('/work/{id}/complete'), roles: work, summary: 'Complete a job', params: RunParams,
    body: CompleteRequest, answer: WorkReply,
  },
  fail: {
    method: 'post', path: at('/work/{id}/fail'), roles: work, summary: 'Fail an attempt', params: RunParams,
    body: FailRequest, answer: WorkReply,
  },
  release: {
    method: 'post', path: at('/work/{id}/release'), roles: work,
    summary: 'Return a job to the queue; the attempt does not count',
    params: RunParams, body: ReleaseRequest, answer: WorkReply,
  },
});

export type Routes = typeof routes;
export type RouteName = keyof Routes;

type RoutePart<R, K extends string> = R extends Readonly<Record<K, infer S extends z.ZodType>> ? S : never;
type Read<R, K extends string> = [RoutePart<R, K>] extends [never] ? undefined : z.output<RoutePart<R, K>>;
type ArgumentPart<R, K extends string> = [RoutePart<R, K>] extends [never] ? {} : { readonly [P in K]: z.output<RoutePart<R, K>> };

export interface ParsedRequest<N extends RouteName> {
  readonly params: Read<Routes[N], 'params'>;
  readonly query: Read<Routes[N], 'query'>;
  readonly body: Read<Routes[N], 'body'>;
}

/** The path parameters, query and body that a call of the client takes. */
export type RequestArguments<N extends RouteName> =
  ArgumentPart<Routes[N], 'params'> & Partial<ArgumentPart<Routes[N], 'query'>> & ArgumentPart<Routes[N], 'body'>;

export type Answer<N extends RouteName> = z.output<Routes[N]['answer']>;
