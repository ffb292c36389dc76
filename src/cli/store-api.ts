/** The API of commands on a store: calls the handlers of the routes in this process, without HTTP. */
import type { Answer, Changed, OutputChunkView, RunView } from '../http/contract.ts';
import type { HttpCall, RouteHandler, StoreServices } from '../http/handler.ts';
import { JobCounts } from '../http/metrics/job-counts.ts';
import { changed, chunkView, runView } from '../http/views.ts';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store-url.ts';
import { systemClock } from '../time/clock.ts';
import type { CommandApi, Arguments, OutputStart } from './api.ts';
import { codecOf } from './encryption-keys.ts';
import { actor, openCurrent, type CommonFlags } from './session.ts';
import { shownUrl } from './shown-url.ts';
import { storeRoutes, type StoreRoute } from './store-routes.ts';

export async function openStoreApi({ store: given, encryptionKeys, by }: CommonFlags): Promise<CommandApi> {
  const codec = await codecOf(encryptionKeys);
  const url = storeUrl(given);
  const store = await openCurrent(url);
  const engine = new Engine({ store, instance: actor(), ...(codec === null ? {} : { codec }) });
  return new StoreApi(engine, by ?? actor(), shownUrl(url));
}

class StoreApi implements CommandApi {
  readonly #engine: Engine;
  readonly #services: StoreServices;
  readonly #by: string;
  readonly address: string;

  constructor(engine: Engine, by: string, address: string) {
    this.#engine = engine;
    this.#services = servicesOf(engine);
    this.#by = by;
    this.address = address;
  }

  async call<N extends StoreRoute>(name: N, ...[request]: Arguments<N>): Promise<Answer<N>> {
    const { params, query = {}, body = {} } = (request ?? {}) as { params?: object; query?: object; body?: object };
    const handler = storeRoutes[name] as unknown as RouteHandler<N, StoreServices>;
    // The arguments of a call have the types that the schemas of the route produce, so that nothing is left to parse.
    return (await handler(this.#services, { params, query, body } as never, callBy(this.#by))) as Answer<N>;
  }

  async *watch(id: number, signal: AbortSignal): AsyncGenerator<RunView, void, undefined> {
    for await (const snapshot of until(signal, this.#engine.run(id).watch())) yield runView(snapshot.job, 'full', snapshot);
  }

  async *followOutput(id: number, from: OutputStart, signal: AbortSignal): AsyncGenerator<OutputChunkView, void, undefined> {
    for await (const chunk of until(signal, this.#engine.run(id).followOutput(from))) yield chunkView(chunk, 'full');
  }

  async *changes(signal: AbortSignal): AsyncGenerator<Changed, void, undefined> {
    for await (const event of until(signal, this.#engine.events())) yield changed(event, 'full');
  }

  now(): number {
    return this.#engine.now();
  }

  close(): Promise<void> {
    return this.#engine.jobs.store.close();
  }
}

/** Ends when the signal aborts, even while the next item is awaited. The store is closed then, which ends that wait. */
async function* until<T>(signal: AbortSignal, items: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const aborted = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
  for (;;) {
    const next = signal.aborted ? null : await Promise.race([items.next(), aborted]);
    if (next === null || next.done === true) return;
    yield next.value;
  }
}

/** The parts of a server that the handlers of these routes use. */
const servicesOf = (engine: Engine): StoreServices => ({
  engine,
  jobCounts: new JobCounts(engine, systemClock),
  priorities: {},
  access: { withSecret: (_credentials, act) => act() },
});

/** Whoever can open the database may do and see everything. */
const callBy = (by: string): HttpCall => ({
  principal: { name: by, recordedAs: by, role: 'admin', isLocal: true, visibility: 'full', expires: null },
  request: new Request('http://localhost'),
  credentials: {} as HttpCall['credentials'],
  signal: new AbortController().signal,
  isAllowed: async () => true,
  headers: new Headers(),
});
