/** The API client: one call for each route that the dashboard uses. The contract's types check names and paths. */
import { signal } from '@preact/signals';
import type { Answer, RouteName, Routes, RequestArguments } from '../../src/http/contract.ts';
import { parseExact } from './exact-json.ts';
import { ApiProblem, problemOf, unreachable } from './problem.ts';
import { root } from './router.ts';
import { syncClock } from './state/clock.ts';

/** Every route that the dashboard uses, by its name in the contract. */
const routes = {
  health: 'get /health',
  signIn: 'post /api/v1/session',
  signOut: 'delete /api/v1/session',
  me: 'get /api/v1/me',
  listTokens: 'get /api/v1/tokens',
  listRuns: 'get /api/v1/runs',
  countRuns: 'get /api/v1/runs/count',
  createRun: 'post /api/v1/runs',
  getRun: 'get /api/v1/runs/{id}',
  editRun: 'patch /api/v1/runs/{id}',
  deleteRun: 'delete /api/v1/runs/{id}',
  listTasks: 'get /api/v1/runs/{id}/tasks',
  getMatrix: 'get /api/v1/runs/{id}/matrix',
  listEvents: 'get /api/v1/runs/{id}/events',
  getProgress: 'get /api/v1/runs/{id}/progress',
  getLog: 'get /api/v1/runs/{id}/log',
  getSteps: 'get /api/v1/runs/{id}/steps',
  answerRun: 'post /api/v1/runs/{id}/answer',
  listQuestions: 'get /api/v1/questions',
  getLinkQuestion: 'post /api/v1/answers/question',
  answerByLink: 'post /api/v1/answers',
  getRunStats: 'get /api/v1/runs/{id}/stats',
  explainRun: 'get /api/v1/runs/{id}/explain',
  cancelRun: 'post /api/v1/runs/{id}/cancel',
  stopRun: 'post /api/v1/runs/{id}/stop',
  retryRun: 'post /api/v1/runs/{id}/retry',
  completeRun: 'post /api/v1/runs/{id}/complete',
  failRun: 'post /api/v1/runs/{id}/fail',
  pauseRun: 'post /api/v1/runs/{id}/pause',
  resumeRun: 'post /api/v1/runs/{id}/resume',
  bulk: 'post /api/v1/bulk',
  audit: 'get /api/v1/audit',
  listFlows: 'get /api/v1/flows',
  getFlow: 'get /api/v1/flows/{id}',
  getFlowGraph: 'get /api/v1/flows/{id}/graph',
  cancelFlow: 'post /api/v1/flows/{id}/cancel',
  stopFlow: 'post /api/v1/flows/{id}/stop',
  retryFlow: 'post /api/v1/flows/{id}/retry',
  listOperations: 'get /api/v1/operations',
  listFailures: 'get /api/v1/failures',
  listDefs: 'get /api/v1/defs',
  createDef: 'post /api/v1/defs',
  exportDefs: 'get /api/v1/definitions/export',
  applyDefs: 'post /api/v1/definitions/apply',
  switchDefs: 'post /api/v1/definitions/switch',
  cloneDef: 'post /api/v1/defs/{name}/clone',
  renameDef: 'post /api/v1/defs/{name}/rename',
  getDef: 'get /api/v1/defs/{name}',
  overrideDef: 'patch /api/v1/defs/{name}',
  resetDef: 'delete /api/v1/defs/{name}/override',
  deleteDef: 'delete /api/v1/defs/{name}',
  enableDef: 'post /api/v1/defs/{name}/enable',
  disableDef: 'post /api/v1/defs/{name}/disable',
  runDef: 'post /api/v1/defs/{name}/run',
  listTicks: 'get /api/v1/defs/{name}/ticks',
  listPastTicks: 'get /api/v1/defs/{name}/past-ticks',
  backfillDef: 'post /api/v1/defs/{name}/backfill',
  calendar: 'get /api/v1/calendar',
  previewDef: 'get /api/v1/defs/{name}/preview',
  previewSchedule: 'post /api/v1/schedules/preview',
  listTypes: 'get /api/v1/types',
  getType: 'get /api/v1/types/{name}',
  pauseType: 'post /api/v1/types/{name}/pause',
  resumeType: 'post /api/v1/types/{name}/resume',
  listPauses: 'get /api/v1/pauses',
  listQueues: 'get /api/v1/queues',
  listInbox: 'get /api/v1/inbox',
  retryInboxRequest: 'post /api/v1/inbox/{id}/retry',
  removeInboxRequest: 'delete /api/v1/inbox/{id}',
  listAlerts: 'get /api/v1/alerts',
  createAlert: 'post /api/v1/alerts',
  editAlert: 'patch /api/v1/alerts/{name}',
  deleteAlert: 'delete /api/v1/alerts/{name}',
  resetAlert: 'delete /api/v1/alerts/{name}/override',
  testAlert: 'post /api/v1/alerts/{name}/test',
  listAlertMessages: 'get /api/v1/alerts/{name}/messages',
  listViews: 'get /api/v1/views',
  saveView: 'put /api/v1/views/{name}',
  renameView: 'post /api/v1/views/{name}/rename',
  deleteView: 'delete /api/v1/views/{name}',
  listLimits: 'get /api/v1/limits',
  createLimit: 'post /api/v1/limits',
  deleteLimit: 'delete /api/v1/limits/{name}',
  overrideLimit: 'put /api/v1/limits/{name}/override',
  pauseLimit: 'post /api/v1/limits/{name}/pause',
  resumeLimit: 'post /api/v1/limits/{name}/resume',
  reopenLimit: 'post /api/v1/limits/{name}/reopen',
  resetLimit: 'delete /api/v1/limits/{name}/override',
  listInstances: 'get /api/v1/instances',
  drainInstance: 'post /api/v1/instances/{id}/drain',
  resumeInstance: 'post /api/v1/instances/{id}/resume',
  stats: 'get /api/v1/stats',
  storeHealth: 'get /api/v1/store',
  series: 'get /api/v1/series',
} as const satisfies { readonly [N in RouteName]?: `${Routes[N]['method']} ${Routes[N]['path']}` };

export type Callable = keyof typeof routes;

type Scalar = string | number | boolean;

/** Path parameters, query and body of a request. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, Scalar>>;
  readonly query?: Readonly<Record<string, Scalar | readonly Scalar[] | null | undefined>>;
  readonly body?: unknown;
}

type Args<N extends Callable> = {} extends RequestArguments<N>
  ? [parts?: RequestArguments<N>, signal?: AbortSignal]
  : [parts: RequestArguments<N>, signal?: AbortSignal];

/** Whether the sign-in form is shown: true after a response with the status 401. */
export const needsSignIn = signal(false);

const idempotentRoutes: ReadonlySet<Callable> = new Set<Callable>(['createRun', 'runDef']);

export async function call<N extends Callable>(name: N, ...[given, signal]: Args<N>): Promise<Answer<N>> {
  const parts = (given ?? {}) as RequestParts;
  const [method, path] = routes[name].split(' ') as [string, string];
  const response = await fetch(urlOf(path, parts), {
    method: method.toUpperCase(),
    headers: headersOf(name, parts),
    ...(signal === undefined ? {} : { signal }),
    ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : unreachable();
  });
  syncClock(response.headers.get('date'));
  if (response.ok) return parseExact(await response.text()) as Answer<N>;
  if (response.status === 401) needsSignIn.value = true;
  throw await problemOf(response);
}

/** Builds the URL of a route. Exported for routes that are not requested by `call`, such as streams. */
export function urlOf(path: string, { params = {}, query = {} }: RequestParts = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(params[part])));
  const text = queryText(query);
  return root + filled.slice(1) + (text === '' ? '' : `?${text}`);
}

export { ApiProblem };

function headersOf(name: Callable, { body }: RequestParts): Record<string, string> {
  return {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    // If the browser repeats a request whose response was lost, the server still creates only one run.
    ...(idempotentRoutes.has(name) ? { 'idempotency-key': randomKey() } : {}),
  };
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Joins lists with commas. Tags may contain commas, so each tag is a separate parameter. */
function queryText(query: NonNullable<RequestParts['query']>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    if (name === 'tag' && Array.isArray(value)) for (const one of value) params.append(name, String(one));
    else params.append(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return params.toString();
}
