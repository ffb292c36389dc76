// The world of one statement: an empty store on SQLite or PostgreSQL, a clock that the test moves, and any number of
// engines, each of which can be killed.
import { test as plain } from 'vitest';
import { Engine, type EngineOptions, type Job, type RunHandle } from '../../src/index.ts';
import type { RequestOf, ResultOf, Runnable } from '../../src/engine/declare/run-request.ts';
import type { AccessOptions } from '../../src/http/access/access.ts';
import { createHttp, type Http } from '../../src/http/server.ts';
import { seededRandom } from '../../src/random.ts';
import type { Store } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { durationMs, type Duration } from '../../src/time/duration.ts';
import { bySize } from '../support/size.ts';
import { stores, type OpenStore, type StoreKind } from '../support/stores.ts';
import { newYear } from '../engine/api/kit.ts';

export type SeedEngineOptions = Omit<EngineOptions, 'store' | 'clock' | 'instance' | 'random'>;

/** A request to a server. */
export type Ask = (method: string, path: string, body?: unknown, token?: string) => Promise<{
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read single fields of the answer
  readonly body: any;
}>;

export type AfterCall = (method: string, answer: unknown) => void | Promise<void>;

/** Event loop turns without a store call after which an engine has nothing left to do at this time. */
const idleTurns = 6;
/** Far more than any test needs at one time: an engine that works on without end must not hang its test. */
const roundsMax = 5_000;
/** The clock skips idle time, up to this long before the next job is due: within it every loop of an engine runs. */
const livedMs = 65_000;

export class SeedWorld {
  readonly clock: VirtualClock;
  /** For the test and its handlers, beside the engines. */
  readonly store: Store;
  readonly #opened: OpenStore;
  readonly #links = new Map<Engine, Link>();
  readonly #calls = new Set<Promise<unknown>>();
  readonly #servers: Http[] = [];
  #engine: Engine | null = null;

  private constructor(opened: OpenStore, clock: VirtualClock) {
    this.#opened = opened;
    this.clock = clock;
    this.store = new Link(opened.store, this.#calls).store;
  }

  static async open(kind: StoreKind): Promise<SeedWorld> {
    const clock = new VirtualClock(newYear);
    return new SeedWorld(await kind.open(clock), clock);
  }

  /** The engine that was added last. */
  get engine(): Engine {
    return this.#engine!;
  }

  /** Adds an engine that executes jobs. */
  async start(options: SeedEngineOptions = {}): Promise<Engine> {
    const engine = await this.add(options);
    await this.passing(engine.resume());
    return engine;
  }

  /** Adds an engine that is not resumed: it creates and reads jobs. Instances are named a, b, c and so on. */
  async add(options: SeedEngineOptions = {}, clock = this.clock): Promise<Engine> {
    const count = this.#links.size;
    const link = new Link(count === 0 ? this.#opened.store : await this.#opened.again(), this.#calls);
    const engine = new Engine({
      ...options, store: link.store, clock, random: seededRandom(count + 1), instance: String.fromCharCode(97 + count),
    });
    this.#links.set(engine, link);
    this.#engine = engine;
    return engine;
  }

  /** The process dies: its memory is lost, and its jobs stay claimed until its lease lapses. */
  kill(engine = this.engine): void {
    this.#links.get(engine)!.cut();
  }

  /** An HTTP server on the engine that was added last. */
  async listen(access?: AccessOptions): Promise<Ask> {
    const http = createHttp({ engine: this.engine, dashboard: null, ...(access === undefined ? {} : { access }) });
    this.#servers.push(http);
    const { url } = await http.listen({ port: 0 });
    return async (method, path, body, token) => {
      const headers = {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1${path}`, { method, headers, ...text });
      return { status: response.status, body: await response.json() };
    };
  }

  /** Another connection to the same data. */
  async reader(): Promise<Store> {
    return new Link(await this.#opened.again(), this.#calls).store;
  }

  /** Calls after each call of the engine to its store, before the engine gets the answer. */
  afterEachCall(engine: Engine, call: AfterCall): void {
    this.#links.get(engine)!.afterEachCall = call;
  }

  createJobRun<What extends Runnable>(what: What, ...ask: RequestOf<What>): Promise<RunHandle<ResultOf<What>>> {
    return this.engine.createJobRun(what, ...ask);
  }

  /** All runs, or those of a type or definition, oldest first. */
  async runs(what?: { readonly name: string }): Promise<readonly Job[]> {
    const { jobs } = await this.store.find({ kinds: ['run'] }, { order: 'oldest', limit: 1000 });
    return jobs.filter(({ type, def }) => what === undefined || type === what.name || def === what.name);
  }

  /** The tasks of a run, in the order in which they were planned. */
  async tasks(run: { readonly id: number }): Promise<readonly Job[]> {
    return (await this.store.find({ parent: run.id }, { order: 'oldest', limit: 1000 })).jobs;
  }

  /** Waits until the engines have nothing left to do at this time. */
  async settle(): Promise<void> {
    for (let [idle, rounds] = [0, 0]; idle < idleTurns; idle += 1, rounds += 1) {
      if (rounds > roundsMax) throw new Error(`the engines still work after ${roundsMax} rounds at the same time`);
      if (this.clock.untilNext() === 0) await this.clock.advance(0);
      await turn();
      if (this.#calls.size > 0) {
        await Promise.allSettled(this.#calls);
        idle = -1;
      } else if (this.#deliverWakes()) {
        idle = -1;
      }
    }
  }

  /**
   * Wake-ups come from a file watcher or a connection, in real time. Engines get them while the clock stands and no call is
   * open: a claim would otherwise overtake what a test reads after the call before it.
   */
  #deliverWakes(): boolean {
    const wakes = [...this.#links.values()].flatMap((link) => link.takeWakes());
    for (const wake of wakes) wake();
    return wakes.length > 0;
  }

  async advance(duration: Duration): Promise<void> {
    const end = this.clock.now() + durationMs(duration);
    await this.settle();
    while (this.clock.now() < end) {
      await this.#skipIdleTime(end);
      await this.clock.advance(Math.min(this.clock.untilNext(), end - this.clock.now()));
      await this.settle();
    }
  }

  /** The answer to a request, during which the engines go on. */
  async passing<T>(request: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = request.finally(() => (isSettled = true));
    settled.catch(() => {}); // it is awaited below
    while (!isSettled) await this.settle();
    return settled;
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    for (const link of this.#links.values()) link.cut();
    await this.#opened.close();
  }

  async #skipIdleTime(end: number): Promise<void> {
    if (end - this.clock.now() <= 2 * livedMs) return;
    if ((await this.store.count({ standings: ['running'] })).length > 0) return;
    const due = await this.store.nextDue({ kinds: ['run', 'task', 'def'], names: { glob: '*' } });
    const target = Math.min(end, due ?? end) - livedMs;
    if (target - this.clock.now() > livedMs) this.clock.jump(target - this.clock.now());
  }
}

/** The link between an engine and its store: it counts open calls, and once it is cut nothing passes it. */
class Link {
  readonly store: Store;
  afterEachCall: AfterCall | null = null;
  readonly #calls: Set<Promise<unknown>>;
  readonly #wakes = new Set<() => void>();
  #isCut = false;

  constructor(store: Store, calls: Set<Promise<unknown>>) {
    this.#calls = calls;
    this.store = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const method = (member as (...given: unknown[]) => unknown).bind(target);
        if (name === 'now') return method;
        if (name === 'onWake') return (wake: () => void) => method(() => void this.#wakes.add(wake));
        return (...given: unknown[]) => this.#call(String(name), () => method(...given));
      },
    });
  }

  cut(): void {
    this.#isCut = true;
  }

  takeWakes(): readonly (() => void)[] {
    const wakes = this.#isCut ? [] : [...this.#wakes];
    this.#wakes.clear();
    return wakes;
  }

  #call(name: string, call: () => unknown): unknown {
    if (this.#isCut) return never();
    const called = call();
    if (!(called instanceof Promise)) return called;
    const answer = this.afterEachCall === null ? called : this.#observed(name, called);
    this.#calls.add(answer);
    const forget = (): void => void this.#calls.delete(answer);
    answer.then(forget, forget);
    return answer.then((value: unknown) => (this.#isCut ? never() : value), (error: unknown) => {
      if (this.#isCut) return never();
      throw error;
    });
  }

  async #observed(name: string, called: Promise<unknown>): Promise<unknown> {
    const answer = await called;
    await this.afterEachCall?.(name, answer);
    return answer;
  }
}

const never = (): Promise<never> => new Promise(() => {});

const [, sqlite, postgres] = stores as [StoreKind, StoreKind, StoreKind];

/** A store kind on which a test needs several worlds, one after another. */
export interface Worlds {
  within<T>(work: (world: SeedWorld) => Promise<T>): Promise<T>;
}

async function within<T>(kind: StoreKind, work: (world: SeedWorld) => Promise<T>): Promise<T> {
  const world = await SeedWorld.open(kind);
  try {
    return await work(world);
  } finally {
    await world.close();
  }
}

const testOn = (kind: StoreKind) =>
  plain.extend<{ world: SeedWorld; worlds: Worlds }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures are needed
    world: ({}, use) => within(kind, use),
    // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures are needed
    worlds: ({}, use) => use({ within: (work) => within(kind, work) }),
  });

/** The stores on which every statement is shown: in the proof on both, in npm test on one of them in turn. */
export const seedStores = [
  { name: 'SQLite', kind: sqlite, test: ofRun(testOn(sqlite), { leftOut: isEven }) },
  { name: 'PostgreSQL', kind: postgres, test: ofRun(testOn(postgres), { leftOut: isOdd }) },
] as const;

/** Leaves tests of statements with such numbers to the proof. */
function ofRun<Test extends (...given: never[]) => unknown>(
  test: Test, { leftOut }: { readonly leftOut: (statement: number) => boolean },
): Test {
  const isOfRun = (title: string): boolean => bySize({ small: !leftOut(statementOf(title)), ci: true });
  return new Proxy(test, {
    apply: (target, self, given: [string, ...never[]]) =>
      (isOfRun(given[0]) ? Reflect.apply(target, self, given) : undefined) as unknown,
  });
}

/** Titles begin with the numbers of the seed and the statement: 4.01. */
function statementOf(title: string): number {
  return Number.parseInt(title.slice('4.'.length), 10);
}

function isEven(value: number): boolean {
  return value % 2 === 0;
}

function isOdd(value: number): boolean {
  return value % 2 === 1;
}
