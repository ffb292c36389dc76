/** The built-in type `http`: calls a URL. Network errors, 5xx, 408, 425 and 429 are retried; other 4xx fail the job. */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Context } from '../engine/handler/context.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { Fail, RetryAfter, TimedOut } from '../engine/handler/errors.ts';
import { systemClock } from '../time/clock.ts';
import { retryAfterMs } from '../time/retry-after.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { Reach } from './address.ts';
import { checkUrl, guardedRequest, systemResolve, type Outgoing, type RequestRoute, type Resolve } from './guarded-request.ts';
import { httpTypeName } from './type-names.ts';

export interface HttpTypeOptions {
  /** Addresses and ranges that may be called although they are not public, such as 10.0.0.0/8. Default: none. */
  readonly allow?: readonly string[];
  readonly resolve?: Resolve;
}

export interface HttpResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed value of a complete JSON response; otherwise the text of the response. */
  readonly body: unknown;
  /** Whether the response was longer than 64 KiB. If so, `body` is the text of the first 64 KiB. */
  readonly isCut: boolean;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const headersMax = 50;
const timeoutDefault: Duration = '30s';
const timeoutMaxMs = 3_600_000;
const bodyKeptMax = 65_536;
const retryAfterMaxMs = 86_400_000;
/** Headers that the input may not set: they could change the host, or split the request in two (request smuggling). */
const ownHeaders: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
];

const HttpInput = z.strictObject({
  url: z.string().min(1).max(8192),
  method: z.enum(methods).default('GET'),
  headers: z
    .record(
      z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/),
      z
        .string()
        .max(8192)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/),
    )
    .refine((headers) => Object.keys(headers).length <= headersMax, `at most ${headersMax} headers`)
    .refine(
      (headers) => Object.keys(headers).every((name) => !ownHeaders.includes(name.toLowerCase())),
      `not ${ownHeaders.join(', ')}`,
    )
    .default({}),
  /** A string is sent unchanged; other values are sent as JSON. */
  body: z.unknown().optional(),
  timeout: z.union([z.string().max(64), z.number()]).default(timeoutDefault),
});
export type HttpInput = z.input<typeof HttpInput>;


export function httpType({ allow = [], resolve = systemResolve }: HttpTypeOptions = {}): JobType<
  HttpInput,
  HttpResult
> {
  const reach = new Reach(allow);
  return jobType(httpTypeName, {
    input: HttpInput,
    retry: { attempts: 5, backoff: 'exponential', base: '2s', max: '10m' },
    run: (context) => call(context, context.input, { reach, resolve }),
  });
}

type HttpRequestInput = z.output<typeof HttpInput>;

interface HttpRoute {
  readonly reach: Reach;
  readonly resolve: Resolve;
}

async function call(context: Context, given: HttpRequestInput, route: HttpRoute): Promise<HttpResult> {
  const url = checkUrl(given.url);
  const timeoutMs = Math.min(durationMs(given.timeout as Duration), timeoutMaxMs);
  const request = { method: given.method, url, ...contentOf(given, context) };
  const onResponse = (status: number): void =>
    context.log.info(`${given.method} ${url.host}${url.pathname} responded with ${status}`);
  return exchange(request, { ...route, signal: context.signal, timeoutMs }, onResponse);
}

/** Sends a request and reads the response. Throws if it has not come within `timeoutMs`, or if its status is an error. */
export async function exchange(
  request: Outgoing,
  { timeoutMs, signal: given, ...route }: RequestRoute & { readonly timeoutMs: number },
  onResponse: (status: number) => void = () => {},
): Promise<HttpResult> {
  const late = new AbortController();
  const stopTimer = systemClock.after(timeoutMs, () =>
    late.abort(new TimedOut(`no complete response within ${timeoutMs} ms`)),
  );
  const signal = AbortSignal.any([given, late.signal]);
  try {
    const result = await resultOf(await guardedRequest(request, { ...route, signal }));
    onResponse(result.status);
    return judged(result, request.url);
  } catch (error) {
    // On abort, Node throws a generic AbortError; signal.reason says why: timeout, cancel, lost lease.
    throw signal.aborted ? signal.reason : error;
  } finally {
    stopTimer();
  }
}

function contentOf(
  { headers, body }: HttpRequestInput,
  { idempotencyKey }: Context,
): { headers: Record<string, string>; body: string | null } {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const own: Record<string, string> = {
    'user-agent': 'stint',
    'idempotency-key': idempotencyKey,
    ...(text === null || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
  };
  const added = Object.entries(own).filter(([name]) => !names.includes(name));
  return { headers: { ...headers, ...Object.fromEntries(added) }, body: text };
}

async function resultOf(answer: IncomingMessage): Promise<HttpResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    // Leaving the loop destroys the response, so that the rest is not received.
    if (size > bodyKeptMax) break;
  }
  const isCut = size > bodyKeptMax;
  const text = Buffer.concat(chunks).subarray(0, bodyKeptMax).toString('utf8');
  const isJson = /[/+]json\b/.test(answer.headers['content-type'] ?? '');
  return {
    status: answer.statusCode!,
    headers: headersOf(answer),
    body: isJson && !isCut ? parsed(text) : text,
    isCut,
  };
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== 'set-cookie')
      .map(([name, value]) => [name, String(value)]),
  );

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function judged(result: HttpResult, { host }: URL): HttpResult {
  const { status, headers } = result;
  if (status < 400) return result;
  const message = `${host} responded with ${status}`;
  const isTransient = status >= 500 || status === 429 || status === 408 || status === 425;
  if (!isTransient) throw new Fail(message, { data: { status, body: result.body } });
  const askedMs = retryAfterMs(headers['retry-after'], systemClock.now());
  if (askedMs !== null) {
    const waitMs = Math.min(askedMs, retryAfterMaxMs);
    throw new RetryAfter(`${waitMs}ms`, `${message} and asks to wait ${Math.ceil(waitMs / 1000)} s`);
  }
  throw Object.assign(new Error(message), { data: { status, body: result.body } });
}
