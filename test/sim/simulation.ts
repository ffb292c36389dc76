// The world of a simulation: a store, engines, clients, and the faults between them. One seed is one history.
import { createHash } from 'node:crypto';
import { Engine } from '../../src/index.ts';
import { loadOpenTelemetry } from '../../src/engine/work/tracing.ts';
import type { Event } from '../../src/model/event.ts';
import type { Job } from '../../src/model/job.ts';
import { openStore } from '../../src/open/store.ts';
import type { Kind } from '../../src/model/state.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { verify, violation, type Violation } from '../../src/verify.ts';
import { clearUp, live, roles, type Desk, type Role } from './clients.ts';
import { Draws, type Stream } from './draws.ts';
import { Faults, quietened, swarmOf, type Swarm } from './faults.ts';
import { Goals, type GoalName } from './goals.ts';
import { SimProcess } from './process.ts';
import { Timeline } from './timeline.ts';
import { Ledger, limits, tradeOf } from './trade.ts';
import { Watch } from './watch.ts';
import { wireTo } from './wire.ts';

export interface SimOptions {
  /** How long anything may fail. */
  readonly chaosMs?: number;
  /** Little to do and little trouble, for long: schedules through the nights. */
  readonly isQuiet?: boolean;
  /** Only these faults strike; left out: all that are drawn. */
  readonly faults?: readonly string[];
}

export interface SimReport {
  readonly seed: number;
  readonly isQuiet: boolean;
  readonly violations: readonly Violation[];
  /** What happened to the job of the first violation. */
  readonly story: readonly Event[];
  readonly faults: readonly string[];
  readonly goals: ReadonlyMap<GoalName, number>;
  readonly simulatedMs: number;
  readonly jobs: number;
  readonly commits: number;
  /** The same for the same seed, faults and code. */
  readonly trace: string;
}

const minute = 60_000;
const chaosDefaultMs = 90 * minute;
/** After the last fault all must have ended within this time. */
const healMaxMs = 180 * minute;
const startOfTime = Date.UTC(2026, 2, 1, 12);
const violationsMax = 10;
/** What somebody works on, and so must end. */
const worked: readonly Kind[] = ['run', 'task', 'bedrock', 'mock'];

export async function simulate(seed: number, options: SimOptions = {}): Promise<SimReport> {
  // Real I/O, so it must be over before virtual time begins: five turns of the event loop more gave another history.
  await loadOpenTelemetry();
  return new Simulation(seed, options).run();
}

class Simulation {
  readonly #seed: number;
  readonly #chaosMs: number;
  readonly #isQuiet: boolean;
  readonly #draws: Draws;
  readonly #swarm: Swarm;
  readonly #faults: Faults;
  readonly #timeline = new Timeline(startOfTime);
  readonly #storeClock: VirtualClock;
  readonly #store: Store;
  readonly #watch: Watch;
  readonly #goals = new Goals();
  readonly #ledger = new Ledger();
  readonly #acknowledged = new Set<number>();
  readonly #violations: Violation[] = [];
  readonly #processes = new Map<string, SimProcess>();
  #storeOffsetMs = 0;
  #downUntil = 0;
  #isHealing = false;

  constructor(seed: number, { chaosMs = chaosDefaultMs, isQuiet = false, faults }: SimOptions) {
    this.#seed = seed;
    this.#chaosMs = chaosMs;
    this.#isQuiet = isQuiet;
    this.#draws = new Draws(seed);
    this.#swarm = isQuiet ? quietened(swarmOf(this.#draws)) : swarmOf(this.#draws);
    this.#faults = new Faults(faults ?? null);
    this.#storeClock = new StoreClock(() => this.#timeline.now + this.#storeOffsetMs);
    this.#store = openStore('sqlite::memory:', { clock: this.#storeClock });
    const onViolation = (found: Violation): void => this.#found(found);
    this.#watch = new Watch({ store: this.#store, limits, goals: this.#goals, onViolation });
  }

  async run(): Promise<SimReport> {
    await this.#store.migrate();
    for (let index = 1; index <= this.#swarm.engines; index++) this.#startEngine(`e${index}`, 1);
    for (const role of roles) this.#startClient(role, 1);
    this.#unleash();
    await this.#timeline.run(startOfTime + this.#chaosMs);
    if (this.#violations.length === 0) await this.#heal();
    if (this.#violations.length === 0) await this.#verify();
    const report = await this.#report();
    await this.#store.close();
    return report;
  }

  // The fleet.

  #startEngine(slot: string, incarnation: number): void {
    const name = this.#swarm.keepsName ? slot : `${slot}.${incarnation}`;
    const dice = this.#draws.stream(`engine ${slot}.${incarnation}`);
    const process = this.#newProcess(slot, `${slot}.${incarnation}`, dice);
    if (incarnation > 1) this.#goals.reach('restart under the same name');
    process.onDeath(() => {
      const ms = this.#isHealing ? 1_000 : dice.between(0, 45_000);
      this.#timeline.after(ms, () => this.#startEngine(slot, incarnation + 1));
    });
    const engine = this.#newEngine(process, dice, name);
    void this.#resume(engine, process);
  }

  /** Whoever starts processes tries again when one does not come up. */
  async #resume(engine: Engine, process: SimProcess): Promise<void> {
    for (;;) {
      try {
        return await engine.resume();
      } catch {
        await process.clock.sleep(1_000);
      }
    }
  }

  #startClient(role: Role, incarnation: number): void {
    const desk = this.#newDesk(role, incarnation);
    const restart = (): void => this.#startClient(role, incarnation + 1);
    desk.process.onDeath(() => {
      if (!this.#isHealing) this.#timeline.after(desk.dice.between(0, 20_000), restart);
    });
    const living = live(role, desk, this.#swarm.workEveryMs, () => this.#isHealing);
    void living.catch((error: unknown) => this.#broken(role, error));
  }

  #newDesk(slot: string, incarnation: number): Desk {
    const name = `${slot}.${incarnation}`;
    const dice = this.#draws.stream(`client ${name}`);
    const process = this.#newProcess(slot, name, this.#draws.stream(`line ${name}`));
    const engine = this.#newEngine(process, this.#draws.stream(`engine ${name}`), slot);
    const jobs = (): readonly Job[] => [...this.#watch.jobs.values()];
    const { types, defs } = this.#swarm;
    const shared = { goals: this.#goals, ledger: this.#ledger, acknowledged: this.#acknowledged };
    return { engine, process, dice, jobs, types, defs, ...shared };
  }

  #newProcess(slot: string, name: string, dice: Stream): SimProcess {
    const skew = { offsetMs: dice.between(-5, 5) * minute, rate: dice.between(0.999, 1.001) };
    const process = new SimProcess(name, this.#timeline, skew);
    this.#processes.set(slot, process);
    return process;
  }

  #newEngine(process: SimProcess, dice: Stream, instance: string): Engine {
    const { leaseMs, retentionMs, poison, types, defs } = this.#swarm;
    const store = wireTo({
      store: this.#watch.store, timeline: this.#timeline, faults: this.#faults, swarm: this.#swarm, process, dice,
      isStoreDown: () => this.#downUntil > this.#timeline.now,
      onDeadly: (doomed) => this.#crash(doomed),
      onUnknown: () => this.#goals.reach('commit unknown, then tried again'),
    });
    const trade = tradeOf({
      process, draws: this.#draws, ledger: this.#ledger, hasPoison: poison, typeNames: types, defNames: defs,
      crash: (doomed) => this.#crash(doomed),
    });
    return new Engine({
      store, ...trade, instance, clock: process.clock, random: dice, slots: 4, lease: `${leaseMs}ms`,
      retention: retentionMs === null ? null : `${retentionMs}ms`,
    });
  }

  // The faults.

  #unleash(): void {
    const { crashEveryMs, pauseEveryMs, outageEveryMs, jumpEveryMs, storeJumpEveryMs } = this.#swarm;
    this.#again('crash', crashEveryMs, (dice) => this.#crash(this.#someEngine(dice)));
    this.#again('pause', pauseEveryMs, (dice) => {
      const ms = dice.isTrue(0.3) ? dice.between(30_000, 600_000) : dice.between(1, 30_000);
      this.#someProcess(dice).pause(ms);
    });
    this.#again('outage', outageEveryMs, (dice) => {
      const ms = dice.isTrue(0.4) ? dice.between(1, 4) * this.#swarm.leaseMs : dice.between(100, 5_000);
      this.#downUntil = this.#timeline.now + ms;
      if (ms > this.#swarm.leaseMs) this.#goals.reach('store outage longer than a lease');
    });
    this.#again('jump', jumpEveryMs, (dice) => {
      const [sign, ms] = [dice.pick([-1, 1]), dice.pick([1_000, minute, 60 * minute, 365 * 24 * 60 * minute])];
      this.#someProcess(dice).clock.jump(sign * ms);
    });
    this.#again('store jump', storeJumpEveryMs, (dice) => {
      this.#storeOffsetMs += dice.pick([-minute, -1_000, 1_000, minute, 10 * minute]);
    });
  }

  /** Again and again, at times that hang on the seed alone. */
  #again(kind: string, everyMs: number, strike: (dice: Stream) => void): void {
    if (everyMs === Infinity) return;
    const times = this.#draws.stream(`times of ${kind}`);
    const next = (count: number): void => {
      this.#timeline.after(times.wait(everyMs), () => {
        if (this.#isHealing) return;
        const name = `${kind} ${count}`;
        if (this.#faults.strikes(name)) strike(this.#draws.stream(name));
        next(count + 1);
      });
    };
    next(1);
  }

  #someEngine(dice: Stream): SimProcess {
    return this.#processes.get(`e${dice.whole(1, this.#swarm.engines)}`)!;
  }

  #someProcess(dice: Stream): SimProcess {
    return this.#processes.get(dice.pick([...this.#processes.keys()]))!;
  }

  #crash(process: SimProcess): void {
    if (process.isAlive) process.die();
  }

  // The end.

  async #heal(): Promise<void> {
    const { leaseMs } = this.#swarm;
    this.#isHealing = true;
    this.#faults.heal();
    this.#downUntil = 0;
    for (const process of this.#processes.values()) process.wakeUp();
    const healedAt = this.#timeline.now;
    void clearUp(this.#newDesk('janitor', 1)).catch((error: unknown) => this.#broken('janitor', error));
    while (!this.#isAllOver() && this.#timeline.now < healedAt + healMaxMs && this.#violations.length === 0) {
      await this.#timeline.run(this.#timeline.now + 10_000);
    }
    for (const job of this.#openJobs()) {
      this.#found(violation('L2', job.id, `job ${job.id} (${job.type}) is still ${stateOf(job)}`));
    }
    await this.#timeline.run(this.#timeline.now + 4 * leaseMs);
  }

  #isAllOver(): boolean {
    return this.#openJobs().length === 0;
  }

  #openJobs(): Job[] {
    return [...this.#watch.jobs.values()].filter(({ kind, state }) => worked.includes(kind) && state !== 'ended');
  }

  async #verify(): Promise<void> {
    const isKept = (id: number): boolean => !this.#watch.isDeleted(id) && this.#swarm.retentionMs === null;
    const evidence = {
      acknowledged: [...this.#acknowledged].filter(isKept),
      starts: this.#ledger.starts.filter(({ job }) => isKept(job)),
    };
    for await (const found of verify(this.#store, { patienceMs: 0, overdueMs: minute, evidence })) this.#found(found);
    for (const { run, total, seen } of this.#ledger.gathered) {
      if (total !== seen) this.#found(violation('S12', run, `run ${run} was told of ${total} tasks and saw ${seen}`));
    }
  }

  async #report(): Promise<SimReport> {
    const { struck } = this.#faults;
    const starts = String(this.#ledger.starts.length);
    const trace = createHash('sha256').update(this.#watch.trace()).update(struck.join()).update(starts);
    return {
      seed: this.#seed,
      isQuiet: this.#isQuiet,
      violations: this.#violations,
      story: await this.#storyOf(this.#violations[0]?.job ?? null),
      faults: struck,
      goals: this.#goals.reached,
      simulatedMs: this.#timeline.now - startOfTime,
      jobs: this.#watch.jobs.size,
      commits: this.#watch.commits,
      trace: trace.digest('hex').slice(0, 16),
    };
  }

  async #storyOf(job: number | null): Promise<readonly Event[]> {
    return job === null ? [] : this.#store.history(job);
  }

  #found(found: Violation): void {
    if (this.#violations.length < violationsMax) this.#violations.push(found);
    this.#timeline.stop();
  }

  /** Something threw that nobody expected: that is a finding too. */
  #broken(who: string, error: unknown): void {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#found(violation('P0', null, `${who} broke: ${told}`));
  }
}

/** The store's own clock; it sets no timers. */
class StoreClock extends VirtualClock {
  readonly #read: () => number;

  constructor(read: () => number) {
    super(0);
    this.#read = read;
  }

  override now(): number {
    return this.#read();
  }
}

function stateOf(job: Job): string {
  if (job.state === 'held') return `held by ${job.hold}`;
  return job.state === 'running' ? `running, held by ${job.lease.holder}` : job.state;
}
