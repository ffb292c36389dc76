/** Dispatch: authorizes and validates a request, calls the handler of its route, and makes the response. */
import type { z } from 'zod';
import type { Logger } from '../logger.ts';
import { systemRandom } from '../random.ts';
import { checkJsonText, parseJson } from '../model/json.ts';
import { isRefusal } from '../refusal.ts';
import { mayUse, type Credentials } from './access/access.ts';
import { routes, type ParsedRequest, type Problem, type Route, type RouteName } from './contract.ts';
import { bodyText } from './access/guard.ts';
import type { HttpCall, HttpServices, RouteHandler, RouteHandlers } from './handler.ts';
import type { Principal } from './access/principal.ts';
import { HttpRefusal, problemOfFault, problemOfHttp, problemOfRefusal } from './problems.ts';

/** The caller of routes that are open to everyone, where no token is checked. */
const anyone: Principal = { name: 'anyone', role: 'viewer', isLocal: false, visibility: 'shape', expires: null };

export interface Incoming {
  readonly request: Request;
  readonly credentials: Credentials;
  readonly params: Readonly<Record<string, string>>;
}

export async function dispatch<N extends RouteName>(
  services: HttpServices,
  handlers: RouteHandlers<RouteName>,
  name: N,
  { request, credentials, params }: Incoming,
): Promise<Response> {
  const route: Route = routes[name];
  const principal = route.roles === null ? anyone : await services.access.identify(request, credentials);
  if (!mayUse(principal.role, route)) {
    const needed = route.roles!.join(' or ');
    const message = `the role ${principal.role} of ${principal.name} is not allowed to do this; it needs ${needed}`;
    throw new HttpRefusal('forbidden', message);
  }
  const checked = await read<N>(route, request, params);
  const call: HttpCall = {
    principal,
    request,
    credentials,
    signal: request.signal,
    isAllowed: () => services.access.isUnchanged(principal, request, credentials),
    headers: new Headers(),
  };
  const answer = await (handlers[name] as RouteHandler<N>)(services, checked, call);
  const response = answer instanceof Response ? answer : json(answer, call.status ?? route.status ?? 200);
  for (const [header, value] of call.headers) response.headers.append(header, value);
  return response;
}

async function read<N extends RouteName>(
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
): Promise<ParsedRequest<N>> {
  return {
    params: route.params && fit(route.params, params, 'path'),
    query: fitQuery(route, request),
    body: route.body && fit(route.body, await bodyOf(request), 'body'),
  } as ParsedRequest<N>;
}

function fitQuery(route: Route, request: Request): unknown {
  const given = queryOf(request.url);
  if (route.query !== undefined) return fit(route.query, given, 'query');
  const [unknown] = Object.keys(given);
  if (unknown === undefined) return undefined;
  const shown = JSON.stringify(unknown.slice(0, 40));
  throw new HttpRefusal('malformed.request', `unknown query parameter ${shown}`);
}

/** Returns the query parameters by name. A name that occurs several times has an array of values. */
function queryOf(url: string): Record<string, unknown> {
  const { searchParams } = new URL(url);
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

async function bodyOf(request: Request): Promise<unknown> {
  const text = await bodyText(request);
  if (text === '') return {};
  const media = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (media !== 'application/json') throw new HttpRefusal('unknown.media', 'send the body as application/json');
  return parseJson(checkJsonText(text));
}

const issuesMax = 5;

function fit(schema: z.ZodType, value: unknown, where: string): unknown {
  const outcome = schema.safeParse(value);
  if (outcome.success) return outcome.data;
  const issues = outcome.error.issues.slice(0, issuesMax);
  const problems = issues.map(({ path, message }) => `${[where, ...path].join('.')}: ${message}`).join('; ');
  throw new HttpRefusal('malformed.request', problems.slice(0, 2000));
}

export const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });

/** Turns any error into a problem response. An unexpected error is logged; the response has only its trace id. */
export function problem(error: unknown, logger: Logger): Response {
  if (isRefusal(error)) return problemResponse(problemOfRefusal(error));
  if (error instanceof HttpRefusal) return problemResponse(problemOfHttp(error), error.headers);
  const trace = systemRandom.hex(6);
  logger.error(`request failed (trace ${trace})`, { trace, error });
  return problemResponse(problemOfFault(trace));
}

const problemResponse = (body: Problem, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), {
    status: body.status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  });
