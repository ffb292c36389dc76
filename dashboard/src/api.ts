/** The API: one call for each route of the contract, whose types also check the paths below. */
import { signal } from '@preact/signals';
import type { Answer, RouteName, Routes, Saying } from '../../src/http/contract.ts';
import { parseExact } from './exact-json.ts';
import { ApiProblem, problemOf, unreachable } from './problem.ts';
import { root } from './router.ts';
import { tellServerTime } from './state/clock.ts';

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
  getRunStats: 'get /api/v1/runs/{id}/stats',
  explainRun: 'get /api/v1/runs/{id}/explain',
  cancelRun: 'post /api/v1/runs/{id}/cancel',
  stopRun: 'post /api/v1/runs/{id}/stop',
  retryRun: 'post /api/v1/runs/{id}/retry',
  pauseRun: 'post /api/v1/runs/{id}/pause',
  resumeRun: 'post /api/v1/runs/{id}/resume',
  bulk: 'post /api/v1/bulk',
  audit: 'get /api/v1/audit',
  listOperations: 'get /api/v1/operations',
  listFailures: 'get /api/v1/failures',
  listDefs: 'get /api/v1/defs',
  createDef: 'post /api/v1/defs',
  getDef: 'get /api/v1/defs/{name}',
  overrideDef: 'patch /api/v1/defs/{name}',
  resetDef: 'delete /api/v1/defs/{name}/override',
  deleteDef: 'delete /api/v1/defs/{name}',
  enableDef: 'post /api/v1/defs/{name}/enable',
  disableDef: 'post /api/v1/defs/{name}/disable',
  runDef: 'post /api/v1/defs/{name}/run',
  listTicks: 'get /api/v1/defs/{name}/ticks',
  previewDef: 'get /api/v1/defs/{name}/preview',
  previewSchedule: 'post /api/v1/schedules/preview',
  listTypes: 'get /api/v1/types',
  getType: 'get /api/v1/types/{name}',
  listQueues: 'get /api/v1/queues',
  listInstances: 'get /api/v1/instances',
  drainInstance: 'post /api/v1/instances/{id}/drain',
  resumeInstance: 'post /api/v1/instances/{id}/resume',
  stats: 'get /api/v1/stats',
  series: 'get /api/v1/series',
} as const satisfies { readonly [N in RouteName]?: `${Routes[N]['method']} ${Routes[N]['path']}` };

export type Callable = keyof typeof routes;

type Scalar = string | number | boolean;
type Sayable = Scalar | readonly Scalar[] | null | undefined;

export interface Said {
  readonly params?: Readonly<Record<string, Scalar>>;
  readonly query?: Readonly<Record<string, Sayable>>;
  readonly body?: unknown;
}

type Args<N extends Callable> = {} extends Saying<N>
  ? [ask?: Saying<N>, signal?: AbortSignal]
  : [ask: Saying<N>, signal?: AbortSignal];

/** Whoever asks must show a token first. */
export const isStranger = signal(false);

const keyed: ReadonlySet<Callable> = new Set<Callable>(['createRun', 'runDef']);

export async function call<N extends Callable>(name: N, ...[ask, signal]: Args<N>): Promise<Answer<N>> {
  const said = (ask ?? {}) as Said;
  const [method, path] = routes[name].split(' ') as [string, string];
  const response = await fetch(addressOf(path, said), {
    method: method.toUpperCase(),
    headers: headersOf(name, said),
    ...(signal === undefined ? {} : { signal }),
    ...(said.body === undefined ? {} : { body: JSON.stringify(said.body) }),
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : unreachable();
  });
  tellServerTime(response.headers.get('date'));
  if (response.ok) return parseExact(await response.text()) as Answer<N>;
  if (response.status === 401) isStranger.value = true;
  throw await problemOf(response);
}

/** The address of a route that is not asked for by `call`, such as a stream. */
export function addressOf(path: string, { params = {}, query = {} }: Said = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(params[part])));
  const text = queryText(query);
  return root + filled.slice(1) + (text === '' ? '' : `?${text}`);
}

export { ApiProblem };

function headersOf(name: Callable, { body }: Said): Record<string, string> {
  return {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    // Tried again by hand after an answer that was lost on its way, it is still one run.
    ...(keyed.has(name) ? { 'idempotency-key': randomKey() } : {}),
  };
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Lists have commas; tags, which may have some in them, stand one by one. */
function queryText(query: NonNullable<Said['query']>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    if (name === 'tag' && Array.isArray(value)) for (const one of value) params.append(name, String(one));
    else params.append(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  return params.toString();
}
