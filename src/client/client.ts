/**
 * The client of the HTTP API: calls every route by its name. It retries calls that are safe to repeat, and reconnects
 * event streams.
 */
import {
  routes, type Answer, type Changed, type Route, type RouteName, type RunView, type RequestArguments,
} from '../http/contract.ts';
import { systemRandom, type Random } from '../random.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { retryAfterMs } from '../time/retry-after.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { ProblemError, problemOf } from './problem-error.ts';
import { RemoteRun } from './remote-run.ts';

export interface ClientOptions {
  /** The URL of the server, such as `http://127.0.0.1:7070`. */
  readonly url: string;
  /** The access token, if the server requires one. */
  readonly token?: string;
  /**
   * The maximum number of retries of one call. Every call is retried if the server is overloaded. A call that is safe
   * to repeat is also retried after a network error, or if the server is unavailable. Default: 3.
   */
  readonly retries?: number;
  /** How long each attempt of a call waits for the response, in milliseconds. Default: 90,000. */
  readonly timeoutMs?: number;
  /** The function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** The function that parses the JSON of responses. Default: `JSON.parse`. */
  readonly parse?: (text: string) => unknown;
  /** Replaces the system clock in tests. */
  readonly clock?: Clock;
  /** Replaces the random numbers of this process in tests. */
  readonly random?: Random;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /**
   * The key of a call that creates a run: for a day, further calls with the same key create no other run. Ignored if
   * the request has `unique`. Default: a random key for each call.
   */
  readonly idempotencyKey?: string;
}

/** The arguments of a call. The request may be omitted if all of its parts are optional. */
export type Args<N extends RouteName> = {} extends RequestArguments<N>
  ? [request?: RequestArguments<N>, options?: CallOptions]
  : [request: RequestArguments<N>, options?: CallOptions];

interface CallArguments {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const keyed: readonly RouteName[] = ['createRun', 'runDef'];
/** The calls of workers that are safe to repeat: after the first, the server refuses them, or they do the same again. */
const fenced: readonly RouteName[] = ['heartbeat', 'complete', 'fail', 'release'];
const transientStatuses: readonly number[] = [502, 503, 504];
const retryBaseMs = 200;
const retryMaxMs = 10_000;

export class Client {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #retries: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;
  readonly #parse: (text: string) => unknown;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: ClientOptions) {
    const { url, token, retries = 3, timeoutMs = 90_000, fetch: ownFetch = fetch, clock = systemClock } = options;
    const { parse = JSON.parse as (text: string) => unknown, random = systemRandom } = options;
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
    this.#retries = retries;
    this.#timeoutMs = timeoutMs;
    this.#fetch = ownFetch;
    this.#parse = parse;
    this.#clock = clock;
    this.#random = random;
  }

  /** Calls a route by its name in the contract: `client.call('listRuns', { query: { state: ['failed'] } })`. */
  async call<N extends RouteName>(name: N, ...[request, options = {}]: Args<N>): Promise<Answer<N>> {
    const response = await this.#callWithRetry(name, request ?? {}, options);
    const route: Route = routes[name];
    const text = await response.text();
    return (route.as === undefined ? this.#parse(text) : text) as Answer<N>;
  }

  /** Creates a run. Retries of the call do not create another run. */
  async createRun(request: RequestArguments<'createRun'>['body'], options?: CallOptions): Promise<RemoteRun> {
    const { id } = await this.call('createRun', { body: request }, options);
    return this.run(id);
  }

  run(id: number): RemoteRun {
    return new RemoteRun(this, id, this.#clock);
  }

  /** Yields all matching runs; reads them page by page. */
  async *runs(filter: NonNullable<RequestArguments<'listRuns'>['query']> = {}): AsyncGenerator<RunView, void, undefined> {
    let { after } = filter;
    for (;;) {
      const page = await this.call('listRuns', { query: { ...filter, after } });
      yield* page.items;
      if (page.next === null) return;
      after = page.next;
    }
  }

  /**
   * Yields changes: with `after`, those after that position; without `after`, those from now on. Reconnects when the
   * connection is lost.
   */
  async *stream(
    { signal, ...query }: NonNullable<RequestArguments<'stream'>['query']> & { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Changed & { readonly place: string | null }, void, undefined> {
    for await (const { event, data, lastId } of this.events('stream', { query }, signal)) {
      if (event === 'change') yield { ...(data as Changed), place: lastId };
    }
  }

  /**
   * Yields the events of a streaming route. Reconnects when the connection is lost, and resumes after the last event
   * id. Throws if the server refuses the request, or if more than `retries` connections in a row fail without an event.
   */
  async *events(
    name: 'stream' | 'streamRun' | 'streamOutput',
    request: CallArguments,
    signal?: AbortSignal,
  ): AsyncGenerator<ServerEvent, void, undefined> {
    let lastId: string | null = null;
    const isAborted = (): boolean => signal?.aborted ?? false;
    for (let failures = 0; !isAborted(); ) {
      const disconnect = new AbortController();
      try {
        const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
        const response = await this.#send(name, request, headers, joined([signal, disconnect.signal]));
        if (!response.ok) throw await problemOf(response);
        for await (const serverEvent of readEvents(response.body!, (id) => void (lastId = id))) {
          failures = 0;
          yield serverEvent;
          if (serverEvent.event === 'end') return;
        }
        throw new Error('the stream ended before its last event');
      } catch (error) {
        if (isAborted()) return;
        if (error instanceof ProblemError && !isTransient(error.status)) throw error;
        if ((failures += 1) > this.#retries) throw error;
        await this.#clock.sleep(this.#pause(failures), signal);
      } finally {
        disconnect.abort();
      }
    }
  }

  async #callWithRetry(
    name: RouteName,
    request: CallArguments,
    { signal, idempotencyKey }: CallOptions,
  ): Promise<Response> {
    const isKeyed = keyed.includes(name) && (request.body as { unique?: unknown } | undefined)?.unique === undefined;
    const key = isKeyed ? (idempotencyKey ?? this.#random.hex(16)) : undefined;
    const isIdempotent = isKeyed || fenced.includes(name) || routes[name].method === 'get';
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    for (let tries = 1; ; tries++) {
      const outcome = await this.#once(name, request, headers, signal);
      const hasResponse = !(outcome instanceof Error);
      if (hasResponse && outcome.ok) return outcome;
      const status = hasResponse ? outcome.status : 0;
      // Status 429 means that the server refused the call before the call had any effect.
      const isRepeatable = status === 429 || (isIdempotent && (status === 0 || isTransient(status)));
      if (!isRepeatable || tries > this.#retries || signal?.aborted === true) {
        throw hasResponse ? await problemOf(outcome) : outcome;
      }
      const askedMs = hasResponse ? retryAfterMs(outcome.headers.get('retry-after'), this.#clock.now()) : null;
      await this.#clock.sleep(Math.max(askedMs ?? 0, this.#pause(tries)), signal);
    }
  }

  /** Sends a request once; returns the response, or the error if no response came. */
  async #once(
    name: RouteName,
    request: CallArguments,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Response | Error> {
    const late = new AbortController();
    const abortLate = (): void => late.abort(new Error(`no response within ${this.#timeoutMs} ms`));
    const cancel = this.#clock.after(this.#timeoutMs, abortLate);
    try {
      return await this.#send(name, request, headers, joined([signal, late.signal]));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      cancel();
    }
  }

  #send(
    name: RouteName,
    request: CallArguments,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { method, path }: Route = routes[name];
    const filled = path.replace(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(request.params?.[part])));
    return this.#fetch(this.#url + filled + queryText(request.query), {
      method: method.toUpperCase(),
      signal,
      headers: {
        ...headers,
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
  }

  #pause(tries: number): number {
    return Math.min(retryMaxMs, retryBaseMs * 2 ** (tries - 1)) * (0.5 + this.#random.next() / 2);
  }
}

const isTransient = (status: number): boolean => status === 429 || transientStatuses.includes(status);

const joined = (signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined));

/** Formats the query string. Lists are joined with commas; tags, which may contain commas, get a parameter each. */
function queryText(query: CallArguments['query'] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (name === 'tag' && Array.isArray(value)) for (const one of value) params.append(name, String(one));
    else if (Array.isArray(value)) params.append(name, value.join(','));
    else params.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
