/** The test engine: the real engine on a store in memory and a virtual clock that the test advances. */
import type { RequestOf, ResultOf, Runnable } from '../engine/declare/run-request.ts';
import type { BuildFlow } from '../engine/flow-creation.ts';
import type { FlowHandle } from '../engine/flow-handle.ts';
import { RunHandle, type AnswerOptions, type RunBackend, type RunMaker } from '../engine/run-handle.ts';
import { seededRandom } from '../random.ts';
import type { Job } from '../model/job.ts';
import { Engine, type EngineOptions } from '../open.ts';
import { openStore } from '../open/store.ts';
import { pagesOf } from '../store/paging.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import { workKinds } from '../model/state.ts';
import { knownVersions } from '../engine/declare/upgrade.ts';
import type { ClaimRequest, Store } from '../store/store.ts';
import { systemClock, turn, VirtualClock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { parseInstant } from '../time/instant.ts';
import { CrashableStore } from './crashable-store.ts';

export interface TestOptions extends Pick<
  EngineOptions, 'types' | 'defs' | 'slots' | 'lease' | 'retention' | 'logger' | 'middleware'
> {
  /** The time at which the test starts. Default: 2026-01-01T00:00:00Z. */
  readonly now?: Date | string | number;
  /** The seed of random numbers, such as the jitter of retries. Default: 1. */
  readonly seed?: number;
}

/** Creates a test engine and starts it. */
export async function testEngine(options: TestOptions = {}): Promise<TestEngine> {
  const engine = new TestEngine(options);
  await engine.restart();
  return engine;
}

/** How long, in real time, `drain` waits for handlers that await something other than the virtual clock. */
const patienceMs = 2_000;
const quietTurns = 12;
/**
 * `#skipIdleTime` leaves this much idle time before the next due job, so that every engine loop has at least one turn
 * in it.
 */
const unskippedMs = 65_000;
/** `advance` waits for this many turns of the event loop after each step: enough for a poll that finds no work. */
const settlingTurns = 3;

/** An engine that exposes its store of in-memory jobs. */
class OpenEngine extends Engine {
  get memory(): Store {
    return this.stores.memory.store;
  }
}

export class TestEngine implements RunMaker {
  readonly clock: VirtualClock;
  readonly #store: Store;
  #options: TestOptions;
  #crashable: CrashableStore | null = null;
  #engine: OpenEngine | null = null;
  #starts = 0;
  readonly #backend: RunBackend = new Proxy({} as RunBackend, {
    get: (_, name) => (...values: unknown[]) => this.#method(name as keyof RunBackend)(...values),
  });

  constructor(options: TestOptions) {
    this.#options = options;
    this.clock = new VirtualClock(instantOf(options.now ?? '2026-01-01T00:00:00Z'));
    this.#store = openStore('memory:', { clock: this.clock });
  }

  /** The current engine; `restart` replaces it. */
  get engine(): Engine {
    return this.#engine!;
  }

  /**
   * Creates a run. Each call of the returned handle uses the engine that is current at that time, so the handle still
   * works after a crash and a restart.
   */
  async createJobRun<What extends Runnable>(
    what: What,
    ...request: RequestOf<What>
  ): Promise<RunHandle<ResultOf<What>>> {
    const { id, outcome } = await this.engine.createJobRun(what, ...request);
    return new RunHandle<ResultOf<What>>(this.#backend, id, outcome);
  }

  /** Creates runs that follow each other. The handle still works after a crash and a restart. */
  createFlow(build: BuildFlow): Promise<FlowHandle> {
    return this.engine.createFlow(build).then((flow) => flow.on(this.#backend));
  }

  /** Answers a question of a run, and lets the engine work until nothing more happens. */
  async answer(run: { readonly id: number }, name: string, value: unknown, options?: AnswerOptions): Promise<void> {
    await this.engine.answer(run.id, name, value, options);
    await this.drain();
  }

  /** Lets the engine work until nothing more happens at the current time of the clock. */
  async drain(): Promise<void> {
    const start = systemClock.monotonic();
    for (let quiet = 0; quiet < quietTurns; ) {
      const before = await this.#store.feedEnd();
      await this.clock.advance(0);
      await turn();
      quiet = (await this.#store.feedEnd()) === before ? quiet + 1 : 0;
      if (quiet === quietTurns && (await this.#isWaitingOutside()) && systemClock.monotonic() - start < patienceMs) {
        await systemClock.sleep(1);
        quiet = 0;
      }
    }
  }

  /** Advances the clock, and lets the engine do all work that becomes due meanwhile. */
  async advance(duration: Duration): Promise<void> {
    const end = this.clock.now() + durationMs(duration);
    await this.drain();
    while (this.clock.now() < end) {
      await this.#skipIdleTime(end);
      const before = await this.#store.feedEnd();
      await this.clock.advance(Math.min(this.clock.untilNext(), end - this.clock.now()));
      for (let turns = 0; turns < settlingTurns; turns++) await turn();
      if ((await this.#store.feedEnd()) !== before) await this.drain();
    }
    await this.drain();
  }

  /** Simulates the death of the process: its memory is lost, and its jobs stay claimed until the lease lapses. */
  crash(): void {
    this.#crashable?.crash();
  }

  /** Simulates a new process on the same store, optionally with changed code. The previous engine crashes. */
  async restart(code: Partial<Omit<TestOptions, 'now' | 'seed'>> = {}): Promise<void> {
    const { now: _now, seed = 1, ...options } = { ...this.#options, ...code };
    const crashable = new CrashableStore(this.#store);
    const start = this.#starts + 1;
    const random = seededRandom(seed + start);
    const { store } = crashable;
    const engine = new OpenEngine({ retention: null, ...options, store, clock: this.clock, random, instance: `test-${start}` });
    this.#crashable?.crash();
    this.#options = { ...this.#options, ...code };
    this.#crashable = crashable;
    this.#starts = start;
    this.#engine = engine;
    const resumed = this.#engine.resume();
    await this.clock.advance(0);
    await resumed;
  }

  /** The runs of a type or definition, or all runs, oldest first; without in-memory runs. */
  async runs(what?: { readonly name: string }): Promise<readonly Job[]> {
    const jobs = (await Array.fromAsync(pagesOf(this.#store, { kinds: ['run'] }))).flat();
    return jobs.filter(({ type, def }) => what === undefined || type === what.name || def === what.name);
  }

  async close(): Promise<void> {
    if (this.#crashable?.isCrashed) return;
    let isClosed = false;
    const closed = this.engine.close({ patience: '1s' }).finally(() => (isClosed = true));
    while (!isClosed) await this.clock.advance(100);
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #method(name: keyof RunBackend): (...values: unknown[]) => unknown {
    return (this.engine[name] as (...values: unknown[]) => unknown).bind(this.engine);
  }

  /**
   * If no job is running, moves the clock to `unskippedMs` before the next due time, or before `end` if that is
   * earlier. Does nothing if this would skip `unskippedMs` or less.
   */
  async #skipIdleTime(end: number): Promise<void> {
    const stores = [this.#store, ...(this.#crashable?.isCrashed ? [] : [this.#engine!.memory])];
    const running = await Promise.all(stores.map((store) => store.count({ standings: ['running'] })));
    if (running.flat().length > 0) return;
    const dues = await Promise.all(stores.flatMap((store) => this.#waitingFor.map((request) => store.nextDue(request))));
    const target = Math.min(end, ...dues.map((due) => due ?? end)) - unskippedMs;
    if (target - this.clock.now() > unskippedMs) this.clock.jump(target - this.clock.now());
  }

  /** Definitions and jobs by a pattern, and the jobs of types that have versions. */
  get #waitingFor(): readonly Pick<ClaimRequest, 'kinds' | 'names'>[] {
    const versions = this.engine.types().map(knownVersions).filter(({ to }) => to > firstTypeVersion);
    const versioned = { kinds: workKinds, names: { exact: versions.map(({ type }) => type), versions } };
    return [{ kinds: ['run', 'task', 'def'], names: { glob: '*' } }, ...(versions.length === 0 ? [] : [versioned])];
  }

  async #isWaitingOutside(): Promise<boolean> {
    const running = await this.#store.count({ standings: ['running'] });
    return running.length > 0 && !this.#crashable?.isCrashed && this.clock.pending() === 0;
  }
}

const instantOf = (time: Date | string | number): number =>
  time instanceof Date ? time.getTime() : typeof time === 'string' ? parseInstant(time) : time;
