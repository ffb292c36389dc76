/** The API of commands on a server, over HTTP. */
import { Client, type Args } from '../client/client.ts';
import { ProblemError } from '../client/problem-error.ts';
import type { Answer, Changed, OutputChunkView, RunView } from '../http/contract.ts';
import { parseFaithfully } from '../model/json.ts';
import { Refusal, type RefusalCode } from '../refusal.ts';
import { systemClock } from '../time/clock.ts';
import type { CommandApi, Arguments, OutputStart } from './api.ts';
import type { Server } from './session.ts';
import { shownUrl } from './shown-url.ts';
import type { StoreRoute } from './store-routes.ts';

export const serverApi = (server: Server): CommandApi => new ServerApi(server);

class ServerApi implements CommandApi {
  readonly #client: Client;
  readonly address: string;
  /** How much the clock of the server is ahead of that of this machine. */
  #aheadMs = 0;

  constructor({ url, token }: Server) {
    this.address = shownUrl(url);
    this.#client = new Client({
      url, ...(token === undefined ? {} : { token }), parse: parseFaithfully, fetch: (...request) => this.#fetch(...request),
    });
  }

  async call<N extends StoreRoute>(name: N, ...[request]: Arguments<N>): Promise<Answer<N>> {
    try {
      return await this.#client.call(name, ...([request] as unknown as Args<N>));
    } catch (error) {
      throw this.#refusalOf(error);
    }
  }

  async *watch(id: number, signal: AbortSignal): AsyncGenerator<RunView, void, undefined> {
    try {
      for await (const { event, data } of this.#client.run(id).watch(signal)) if (event === 'run') yield data;
    } catch (error) {
      throw this.#refusalOf(error);
    }
  }

  async *followOutput(id: number, from: OutputStart, signal: AbortSignal): AsyncGenerator<OutputChunkView, void, undefined> {
    try {
      yield* this.#client.run(id).output({ ...from, signal });
    } catch (error) {
      throw this.#refusalOf(error);
    }
  }

  async *changes(signal: AbortSignal): AsyncGenerator<Changed, void, undefined> {
    try {
      for await (const { place: _, ...change } of this.#client.stream({ signal })) yield change;
    } catch (error) {
      throw this.#refusalOf(error);
    }
  }

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  async close(): Promise<void> {}

  async #fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...request);
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header has whole seconds: clocks that differ by less count as equal.
    const behindMs = systemClock.now() - date;
    if (!Number.isNaN(date)) this.#aheadMs = behindMs >= 0 && behindMs < 1_000 ? 0 : -behindMs;
    return response;
  }

  /** The refusals of the server are those of the store; only a fault of the server or of the network is none. */
  #refusalOf(error: unknown): Error {
    if (error instanceof ProblemError) {
      const { status, code, message, about } = error;
      return status === 500 ? new Error(`${this.address} failed: ${message}`) : new Refusal(code as RefusalCode, message, about);
    }
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return new Refusal('unavailable.server', `cannot reach ${this.address}: ${reason}`, {});
  }
}
