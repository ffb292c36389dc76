/** The routes: each with its path, who may call it, what it takes and what it answers. */
import { z } from 'zod';
import {
  Act, BulkRequest, CancelRequest, DefCreation, DefOverride, DefParams, DefRunRequest, duration, flag, InstanceParams,
  listOf, name, pageFields, ReasonQuery, RetryRequest, RunRequest, RunEdit, RunFilter, RunListQuery, RunParams,
  ScheduleRequest, time, whole,
} from './requests.ts';
import {
  count, EventView, instant, LogLine, pageOf, ProgressView, ReasonView, RunCreated, RunDetail, RunPage, RunStats,
  RunView,
} from './run-views.ts';
import {
  AuditView, BulkStarted, DefPage, DefView, FailureGroupView, Health, InstanceView, MatrixView, Me, Nothing,
  OperationView, Ordered, PreviewTick, QueueView, seriesRanges, SeriesView, StatsView, TickView, TokenView,
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
  /** Any of them will do; null: open to everyone. */
  readonly roles: readonly Role[] | null;
  readonly summary: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** What is answered, if not JSON. */
  readonly as?: 'events' | 'text';
  /** If not 200. */
  readonly status?: 201 | 202 | 204;
}

const readers: readonly Role[] = ['viewer'];
const produce: readonly Role[] = ['producer'];
const readersAndProducers: readonly Role[] = ['viewer', 'producer'];
const operate: readonly Role[] = ['operator'];
const work: readonly Role[] = ['worker'];
const administer: readonly Role[] = ['admin'];

const Items = <S extends z.ZodType>(id: string, one: S) => z.object({ items: z.array(one) }).meta({ id });
const text = z.string();
/** The path as a type too: whoever has only the types of this file can still not misspell one. */
const at = <const P extends string>(path: P): `${typeof apiPath}${P}` => `${apiPath}${path}`;
const define = <const R extends Record<string, Route>>(table: R): R => table;

export const routes = define({
  health: {
    method: 'get', path: '/health', roles: null, summary: 'Whether the server lives and reaches its store',
    answer: Health,
  },
  metrics: {
    method: 'get', path: '/metrics', roles: readers, summary: 'Figures for Prometheus', answer: text, as: 'text',
  },
  openapi: {
    method: 'get', path: at('/openapi.json'), roles: readers, summary: 'This API as an OpenAPI document',
    answer: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApi' }),
  },
  signIn: {
    method: 'post', path: at('/session'), roles: null, summary: 'Begins a session of the browser with a token',
    body: z.strictObject({ token: z.string().min(1).max(500) }).meta({ id: 'SignIn' }), answer: Me,
  },
  signOut: {
    method: 'delete', path: at('/session'), roles, summary: 'Ends the session', answer: Nothing,
  },
  listTokens: {
    method: 'get', path: at('/tokens'), roles: administer, summary: 'Who may ask, as what and until when; no secrets',
    answer: Items('Tokens', TokenView),
  },
  me: { method: 'get', path: at('/me'), roles, summary: 'Who is asking, and what they may do', answer: Me },

  listRuns: {
    method: 'get', path: at('/runs'), roles: readers, summary: 'Runs that fit a filter', query: RunListQuery,
    answer: RunPage,
  },
  countRuns: {
    method: 'get', path: at('/runs/count'), roles: readers, summary: 'How many jobs fit a filter, by type and standing',
    query: RunFilter,
    answer: z.object({ total: count, items: StatsView.shape.types }).meta({ id: 'RunCount' }),
  },
  createRun: {
    method: 'post', path: at('/runs'), roles: produce, status: 201,
    summary: 'Creates a run of a type or definition; with the header Idempotency-Key, once only', body: RunRequest,
    answer: RunCreated,
  },
  getRun: {
    method: 'get', path: at('/runs/{id}'), roles: readersAndProducers, summary: 'All that is known of a run',
    params: RunParams, answer: RunDetail,
  },
  editRun: {
    method: 'patch', path: at('/runs/{id}'), roles: operate, summary: 'Changes priority, due time or tags',
    params: RunParams, body: RunEdit, answer: RunView,
  },
  deleteRun: {
    method: 'delete', path: at('/runs/{id}'), roles: operate, summary: 'Removes a run that has ended',
    params: RunParams, query: ReasonQuery, answer: Nothing,
  },
  listTasks: {
    method: 'get', path: at('/runs/{id}/tasks'), roles: readers, summary: 'The tasks of a run', params: RunParams,
    query: z.strictObject({ ...pageFields, state: RunFilter.shape.state }).meta({ id: 'TaskListQuery' }),
    answer: RunPage,
  },
  getMatrix: {
    method: 'get', path: at('/runs/{id}/matrix'), roles: readers, summary: 'How each task of a run stands, in short',
    params: RunParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 20_000).optional() }).meta({ id: 'MatrixQuery' }),
    answer: MatrixView,
  },
  listEvents: {
    method: 'get', path: at('/runs/{id}/events'), roles: readers, summary: 'The history of a run', params: RunParams,
    query: z.strictObject({
      from: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      limit: whole(1, 1000).optional() }).meta({ id: 'EventListQuery',
    }),
    answer: pageOf('EventPage', EventView),
  },
  getProgress: {
    method: 'get', path: at('/runs/{id}/progress'), roles: readers, summary: 'The tree of progress of a run',
    params: RunParams,
    answer: z.object({ progress: ProgressView.nullable() }).meta({ id: 'ProgressAnswer' }),
  },
  getLog: {
    method: 'get', path: at('/runs/{id}/log'), roles: readers, summary: 'The log of a run', params: RunParams,
    query: z.strictObject({
      after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit: whole(1, 1000).optional() }).meta({ id: 'LogQuery',
    }),
    answer: pageOf('LogPage', LogLine),
  },
  getRunStats: {
    method: 'get', path: at('/runs/{id}/stats'), roles: readers, summary: 'Figures of a run and its tasks',
    params: RunParams, answer: RunStats,
  },
  explainRun: {
    method: 'get', path: at('/runs/{id}/explain'), roles: readers, summary: 'Why it is not running', params: RunParams,
    answer: Items('Reasons', ReasonView),
  },
  streamRun: {
    method: 'get', path: at('/runs/{id}/stream'), roles: readers,
    summary: 'Server-sent events `run`, `progress` and `log` until the run has ended', params: RunParams, answer: text,
    as: 'events',
  },
  cancelRun: {
    method: 'post', path: at('/runs/{id}/cancel'), roles: operate, summary: 'Asks a run to give up', params: RunParams,
    body: CancelRequest, answer: RunView,
  },
  stopRun: {
    method: 'post', path: at('/runs/{id}/stop'), roles: operate, summary: 'Ends a run now', params: RunParams,
    body: Act,
    answer: z.object({ run: RunView, how: z.enum(['terminated', 'disowned', 'idle']) }).meta({ id: 'Stopped' }),
  },
  retryRun: {
    method: 'post', path: at('/runs/{id}/retry'), roles: operate, summary: 'Opens an ended run again',
    params: RunParams, body: RetryRequest, answer: RunView,
  },
  pauseRun: {
    method: 'post', path: at('/runs/{id}/pause'), roles: operate, summary: 'Keeps a pending run from being claimed',
    params: RunParams, body: Act, answer: RunView,
  },
  resumeRun: {
    method: 'post', path: at('/runs/{id}/resume'), roles: operate, summary: 'Lets a paused run go on',
    params: RunParams, body: Act, answer: RunView,
  },
  bulk: {
    method: 'post', path: at('/bulk'), roles: operate, status: 202,
    summary: 'Does one thing to all runs that fit a filter, as a run of its own that shows its progress', body: BulkRequest,
    answer: BulkStarted,
  },
  listOperations: {
    method: 'get', path: at('/operations'), roles: readers, summary: 'Bulk operations, newest first',
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 200).optional() }).meta({ id: 'OperationQuery' }),
    answer: pageOf('OperationPage', OperationView),
  },
  listFailures: {
    method: 'get', path: at('/failures'), roles: readers, summary: 'The newest failures, grouped by what went wrong',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'FailureQuery' }),
    answer: z
      .object({
        items: z.array(FailureGroupView),
        since: instant,
        bucketMs: z.number(),
        scanned: count.meta({ description: 'how many jobs were looked at' }),
        isCut: z.boolean().meta({ description: 'there are more, older ones' }),
      })
      .meta({ id: 'Failures' }),
  },

  listDefs: {
    method: 'get', path: at('/defs'), roles: readers, summary: 'Definitions',
    query: z
      .strictObject({
        after: pageFields.after, limit: whole(1, 1000).optional(), q: z.string().max(255).optional(),
        type: name.optional(),
      })
      .meta({ id: 'DefListQuery' }),
    answer: DefPage,
  },
  createDef: {
    method: 'post', path: at('/defs'), roles: operate, status: 201, summary: 'Creates a definition', body: DefCreation,
    answer: DefView,
  },
  getDef: {
    method: 'get', path: at('/defs/{name}'), roles: readers, summary: 'A definition', params: DefParams, answer: DefView,
  },
  overrideDef: {
    method: 'patch', path: at('/defs/{name}'), roles: operate,
    summary: "Lays an operator's word over what the code says",
    params: DefParams, body: DefOverride, answer: DefView,
  },
  resetDef: {
    method: 'delete', path: at('/defs/{name}/override'), roles: operate, summary: "Takes the operator's word back",
    params: DefParams, query: ReasonQuery, answer: DefView,
  },
  deleteDef: {
    method: 'delete', path: at('/defs/{name}'), roles: operate, summary: 'Ends a definition; its runs stay',
    params: DefParams, query: ReasonQuery, answer: Nothing,
  },
  enableDef: {
    method: 'post', path: at('/defs/{name}/enable'), roles: operate, summary: 'Lets its schedules go on',
    params: DefParams, body: Act, answer: DefView,
  },
  disableDef: {
    method: 'post', path: at('/defs/{name}/disable'), roles: operate, summary: 'Suspends its schedules',
    params: DefParams, body: Act, answer: DefView,
  },
  runDef: {
    method: 'post', path: at('/defs/{name}/run'), roles: produce, status: 201, summary: 'Runs a definition by hand',
    params: DefParams, body: DefRunRequest, answer: RunCreated,
  },
  listTicks: {
    method: 'get', path: at('/defs/{name}/ticks'), roles: readers, summary: 'What became of its occurrences, newest first',
    params: DefParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 1000).optional() }).meta({ id: 'TickListQuery' }),
    answer: pageOf('TickPage', TickView),
  },
  previewDef: {
    method: 'get', path: at('/defs/{name}/preview'), roles: readers, summary: 'The next occurrences of all its schedules',
    params: DefParams,
    query: z
      .strictObject({
        count: whole(1, 1000).optional(),
        runLasts: duration.optional().meta({ description: 'how long each run is taken to last' }),
        gap: z.enum(['next', 'shift', 'skip']).optional().meta({ description: "tried instead of the schedules' own" }),
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
    summary: 'The next occurrences of a schedule that need not exist',
    body: z
      .strictObject({
        schedule: ScheduleRequest, count: whole(1, 1000).optional(), from: time.optional(), name: name.optional(),
      })
      .meta({ id: 'PreviewRequest' }),
    answer: z.object({ words: z.string(), ticks: z.array(PreviewTick) }).meta({ id: 'Preview' }),
  },

  listTypes: {
    method: 'get', path: at('/types'), roles: readers, summary: 'Job types that this server or a living instance knows',
    answer: Items('Types', TypeView),
  },
  getType: {
    method: 'get', path: at('/types/{name}'), roles: readers, summary: 'A job type, with the schema of its input',
    params: DefParams, answer: TypeDetail,
  },
  listQueues: {
    method: 'get', path: at('/queues'), roles: readers, summary: 'What is open of each type, and the limits it waits at',
    answer: Items('Queues', QueueView),
  },
  listInstances: {
    method: 'get', path: at('/instances'), roles: readers, summary: 'Instances and remote workers',
    answer: Items('Instances', InstanceView),
  },
  drainInstance: {
    method: 'post', path: at('/instances/{id}/drain'), roles: operate,
    summary: 'Asks an instance to take no more work; what it runs goes on', params: InstanceParams, body: Act,
    answer: Ordered,
  },
  resumeInstance: {
    method: 'post', path: at('/instances/{id}/resume'), roles: operate, summary: 'Asks an instance to take work again',
    params: InstanceParams, body: Act, answer: Ordered,
  },
  stats: {
    method: 'get', path: at('/stats'), roles: readers, summary: 'Figures of the whole',
    query: z.strictObject({ ended: flag.optional() }).meta({ id: 'StatsQuery' }), answer: StatsView,
  },
  series: {
    method: 'get', path: at('/series'), roles: readers, summary: 'What happened over time, in buckets',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'SeriesQuery' }),
    answer: SeriesView,
  },
  audit: {
    method: 'get', path: at('/audit'), roles: operate, summary: 'What operators did, newest first',
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
    summary: 'Server-sent events `change`, resumable by Last-Event-ID',
    query: z
      .strictObject({
        run: whole(1, Number.MAX_SAFE_INTEGER).optional(), type: listOf(name).optional(),
        kind: listOf(z.enum(kindWords)).optional(), after: z.string().max(300).optional(),
      })
      .meta({ id: 'StreamQuery' }),
    answer: text, as: 'events',
  },

  claim: {
    method: 'post', path: at('/work/claim'), roles: work, summary: 'Takes work, or waits for some', body: WorkClaimRequest,
    answer: Items('ClaimedJobs', ClaimedView),
  },
  heartbeat: {
    method: 'post', path: at('/work/{id}/heartbeat'), roles: work, summary: 'Keeps the lease; tells of a cancel',
    params: RunParams, body: HeartbeatRequest, answer: HeartbeatReply,
  },
  tellProgress: {
    method: 'post', path: at('/work/{id}/progress'), roles: work, summary: 'Tells steps of progress', params: RunParams,
    body: ProgressRequest, answer: WorkReply,
  },
  tellLog: {
    method: 'post', path: at('/work/{id}/log'), roles: work, summary: 'Writes to the log', params: RunParams,
    body: LogLinesRequest, answer: WorkReply,
  },
  createChildren: {
    method: 'post', path: at('/work/{id}/children'), roles: work, status: 201,
    summary: 'Creates children, let go when their parent completes',
    params: RunParams, body: ChildrenRequest,
    answer: Items('ChildIds', z.object({ id: z.number().int(), key: z.string().nullable() })),
  },
  complete: {
    method: 'post', path: at('/work/{id}/complete'), roles: work, summary: 'The work is done', params: RunParams,
    body: CompleteRequest, answer: WorkReply,
  },
  fail: {
    method: 'post', path: at('/work/{id}/fail'), roles: work, summary: 'The try failed', params: RunParams,
    body: FailRequest, answer: WorkReply,
  },
  release: {
    method: 'post', path: at('/work/{id}/release'), roles: work, summary: 'Gives the job back without losing a try',
    params: RunParams, body: ReleaseRequest, answer: WorkReply,
  },
});

export type Routes = typeof routes;
export type RouteName = keyof Routes;

type RoutePart<R, K extends string> = R extends Readonly<Record<K, infer S extends z.ZodType>> ? S : never;
type Read<R, K extends string> = [RoutePart<R, K>] extends [never] ? undefined : z.output<RoutePart<R, K>>;
type ArgumentPart<R, K extends string> = [RoutePart<R, K>] extends [never] ? {} : { readonly [P in K]: z.output<RoutePart<R, K>> };

/** What a handler gets, once it was checked. */
export interface Asked<N extends RouteName> {
  readonly params: Read<Routes[N], 'params'>;
  readonly query: Read<Routes[N], 'query'>;
  readonly body: Read<Routes[N], 'body'>;
}

/** What a client says. */
export type Saying<N extends RouteName> =
  ArgumentPart<Routes[N], 'params'> & Partial<ArgumentPart<Routes[N], 'query'>> & ArgumentPart<Routes[N], 'body'>;

export type Answer<N extends RouteName> = z.output<Routes[N]['answer']>;
