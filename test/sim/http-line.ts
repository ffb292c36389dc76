// The line between a remote worker and the HTTP server: requests and answers are delayed, lost, and answered by nobody.
import type { Http } from '../../src/http/server.ts';
import type { Faults, SimSettings } from './faults.ts';
import { latencyOf } from './faults.ts';
import { isLostCall } from './unreliable-store.ts';
import type { SimProcess } from './process.ts';
import type { RandomStream } from './random-streams.ts';
import type { Timeline } from './timeline.ts';

/** The process that serves HTTP at present. */
export interface HttpServerProcess {
  readonly process: SimProcess;
  readonly http: Http;
  /** The unexpected error that the server has logged under this trace id. */
  readonly faultOf: (trace: string) => unknown;
}

export interface HttpLineParts {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly settings: SimSettings;
  /** The process of the worker. */
  readonly process: SimProcess;
  readonly random: RandomStream;
  /** Null: no process serves. */
  readonly server: () => HttpServerProcess | null;
  /** Called when the answer to a claim with jobs has reached the worker's host, before the worker gets it. */
  readonly onClaimed: () => void;
  /** The server has answered with a fault of its own. */
  readonly onServerFault: (error: unknown) => void;
}

type Delivery = 'arrives' | 'lost request' | 'lost reply' | 'silent request' | 'silent reply';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request of the worker that is under way. */
interface Exchange {
  readonly request: Request;
  readonly delivery: Delivery;
  readonly backMs: number;
  readonly noticeMs: number;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

const environment = { incoming: { socket: { remoteAddress: '127.0.0.1' } } } as never;
/** Of the messages that are lost, so many break the connection; after the others nobody is told. */
const brokenShare = 0.6;

export class HttpLine {
  readonly #parts: HttpLineParts;
  #requests = 0;

  constructor(parts: HttpLineParts) {
    this.#parts = parts;
  }

  readonly fetch: typeof fetch = (input, init = {}) => {
    const { timeline, process, random, settings } = this.#parts;
    const [thereMs, backMs, noticeMs] = [latencyOf(random, settings.slow), latencyOf(random, settings.slow), random.between(1, 3_000)];
    const delivery = this.#nextDelivery();
    const { signal } = init;
    const gone = new AbortController();
    const request = new Request(input, { ...init, signal: gone.signal });
    return new Promise((resolve, reject) => {
      if (!process.isAlive) return;
      const fail = (error: unknown): void => reject(error);
      signal?.addEventListener('abort', () => {
        fail(signal.reason);
        timeline.after(latencyOf(random, 0), () => gone.abort());
      }, { once: true });
      process.onDeath(() => void timeline.after(noticeMs, () => gone.abort()));
      const settle = ({ status, headers, text }: Answer): void => resolve(new Response(status === 204 ? null : text, { status, headers }));
      const exchange = { request, delivery, backMs, noticeMs, settle, fail };
      timeline.after(thereMs, () => this.#arrive(exchange));
    });
  };

  #arrive(exchange: Exchange): void {
    const server = this.#parts.server();
    if (exchange.delivery === 'silent request') return;
    if (exchange.delivery === 'lost request' || server === null || !server.process.isAlive) return this.#break(exchange);
    const stopWatching = new AbortController();
    server.process.onDeath(() => {
      if (!stopWatching.signal.aborted) this.#break(exchange);
    });
    void server.process.deliver(() => void this.#serve(server, exchange, stopWatching));
  }

  async #serve(serving: HttpServerProcess, exchange: Exchange, stopWatching: AbortController): Promise<void> {
    const { timeline, process, onClaimed } = this.#parts;
    const { request, delivery, backMs, settle } = exchange;
    const response = await serving.http.fetch(request, environment);
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    if (!serving.process.isAlive) return;
    if (answer.status >= 500) this.#judge(serving, answer);
    if (delivery === 'silent reply') return;
    stopWatching.abort();
    if (delivery === 'lost reply') return this.#break(exchange);
    timeline.after(backMs, () => {
      if (request.url.endsWith('/work/claim') && answer.text.includes('"fence"')) onClaimed();
      return process.deliver(() => settle(answer));
    });
  }

  /** The server may only fail if its store is unavailable, or if the call to its store was lost. */
  #judge({ faultOf }: HttpServerProcess, { text }: Answer): void {
    const { code, trace } = JSON.parse(text) as { readonly code: string; readonly trace?: string };
    if (code.startsWith('unavailable.')) return;
    const fault = trace === undefined ? text : faultOf(trace);
    if (!isLostCall(fault)) this.#parts.onServerFault(fault);
  }

  /** The connection breaks, which the worker notices after a while. */
  #break({ noticeMs, fail }: Exchange): void {
    const { timeline, process } = this.#parts;
    timeline.after(noticeMs, () => process.deliver(() => fail(new TypeError('fetch failed'))));
  }

  /** Draws one number for each request, so that an injected fault does not change later numbers. */
  #nextDelivery(): Delivery {
    const { random, settings: { lostRequest, lostReply }, faults, process } = this.#parts;
    this.#requests += 1;
    const drawn = random.next();
    const bounds: readonly (readonly [Delivery, number])[] = [
      ['lost request', lostRequest * brokenShare], ['silent request', lostRequest * (1 - brokenShare)],
      ['lost reply', lostReply * brokenShare], ['silent reply', lostReply * (1 - brokenShare)],
    ];
    let bound = 0;
    for (const [delivery, chance] of bounds) {
      bound += chance;
      if (drawn < bound) return faults.inject(`HTTP ${delivery} ${process.name} ${this.#requests}`) ? delivery : 'arrives';
    }
    return 'arrives';
  }
}
