// The simulation: a store, engines, clients, and faults between them. One seed gives one history.
import { createHash } from 'node:crypto';
import { Client as HttpClient, HttpWorker } from '../../src/client.ts';
import { createHttp } from '../../src/http/server.ts';
import { Engine } from '../../src/index.ts';
import { loadOpenTelemetry } from '../../src/engine/attempt/tracing.ts';
import type { Event } from '../../src/model/event.ts';
import type { Job } from '../../src/model/job.ts';
import { isInForce } from '../../src/model/pause.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import { declareLimits } from '../../src/jobs/limits.ts';
import type { Kind } from '../../src/model/state.ts';
import { isRefusal } from '../../src/refusal.ts';
import { turn } from '../../src/time/clock.ts';
import { verify, violation, type Start, type Violation } from '../../src/verify.ts';
import type { Backing } from './backing.ts';
import { finishRemaining, actUntil, roles, type Client, type Role } from './clients.ts';
import { checkEffects } from './completing.ts';
import { checkDeployed, deployedDraft, drawVersion, newestVersion, type DeployedVersion } from './deploys.ts';
import { RandomStreams, type RandomStream } from './random-streams.ts';
import { Faults, quietSettings, drawSettings, type SimSettings } from './faults.ts';
import { Goals, type GoalName } from './goals.ts';
import { drawWorkOnPostgres, drawWorkOnSqlite, knownOnPostgres, type DrawnWork } from './drawn-work.ts';
import { familyDraft } from './families.ts';
import { HttpLine, type HttpServerProcess } from './http-line.ts';
import { firstDef } from './following-defs.ts';
import { drawUses, namedLimits } from './limits.ts';
import { PostgresBacking } from './postgres/backing.ts';
import { withDatabase } from './postgres/database.ts';
import { Probes } from './postgres/probes.ts';
import { SimProcess } from './process.ts';
import { drawRemote, remoteHandler, remoteType } from './remote-work.ts';
import { drawCrowd, drawShared } from './shares.ts';
import { SqliteBacking } from './sqlite-backing.ts';
import { quiescence, Timeline } from './timeline.ts';
import { drawBatched, Ledger, limits, createWorkload, meteredType } from './workload.ts';

export interface SimOptions {
  /** The time during which faults are injected. */
  readonly chaosMs?: number;
  /** Few actions and few faults: for long simulations with schedules. */
  readonly isQuiet?: boolean;
  /** Inject only these faults. Default: all that are drawn. */
  readonly faults?: readonly string[];
  /** The URL of a PostgreSQL server (see `startSimulationServer`): the simulation runs on it instead of SQLite. */
  readonly postgresServer?: string;
}

export interface SimReport {
  readonly seed: number;
  readonly isQuiet: boolean;
  readonly violations: readonly Violation[];
  /** The history of the job of the first violation. */
  readonly history: readonly Event[];
  readonly faults: readonly string[];
  readonly goals: ReadonlyMap<GoalName, number>;
  readonly simulatedMs: number;
  readonly jobs: number;
  readonly commits: number;
  /** How long it took until a run started after the faults; null: none did. */
  readonly recoveryMs: number | null;
  /** Statements that the server executed; 0 on SQLite. */
  readonly statements: number;
  /** Calls that were refused with a fault as their reason. */
  readonly refusals: number;
  /** A hash of the history: equal for the same seed, faults and source. */
  readonly trace: string;
}

const minute = 60_000;
const chaosDefaultMs = 90 * minute;
/** All jobs must end within this time after the last fault. */
const healMaxMs = 180 * minute;
const startOfTime = Date.UTC(2026, 2, 1, 12);
const violationsMax = 10;
/** The longest handlers of the workload take 90 s. */
const recoveryMaxMs = 3 * minute;
/** Simulations on PostgreSQL are shorter, and have drawn work so much more often. */
const shortBy = 4;
const probesCount = 4;
const remoteWorkersCount = 2;
/** Kinds of jobs that must end. */
const endingKinds: readonly Kind[] = ['run', 'task', 'bedrock', 'mock'];

export async function simulate(seed: number, options: SimOptions = {}): Promise<SimReport> {
  // Real I/O, so it must be over before virtual time begins: five turns of the event loop more gave another history.
  await loadOpenTelemetry();
  const { postgresServer } = options;
  if (postgresServer === undefined) return new Simulation(seed, options).run();
  return withDatabase(postgresServer, (url) => new Simulation(seed, options, url).run());
}

class Simulation {
  readonly #seed: number;
  readonly #chaosMs: number;
  readonly #isQuiet: boolean;
  readonly #streams: RandomStreams;
  readonly #settings: SimSettings;
  readonly #faults: Faults;
  readonly #timeline: Timeline;
  /** Undefined: the simulation runs on SQLite. */
  readonly #postgresUrl: string | undefined;
  #backing!: Backing;
  readonly #goals = new Goals();
  readonly #ledger = new Ledger();
  readonly #acknowledged = new Set<number>();
  readonly #violations: Violation[] = [];
  readonly #processes = new Map<string, SimProcess>();
  readonly #work: DrawnWork;
  /** The version with which instances start. */
  #deployed: DeployedVersion = 1;
  /** When the faults ended; null: they have not. */
  #healedAt: number | null = null;
  /** Whether a run waited only for a slot when the faults ended; on PostgreSQL probes measure the time until a start. */
  #couldStartWhenHealed = false;
  /** How long each process is paused that claims next. */
  readonly #pauseAtClaim = new Map<SimProcess, number>();
  #recoveryMs: number | null = null;
  #httpServer: HttpServerProcess | null = null;

  constructor(seed: number, { chaosMs = chaosDefaultMs, isQuiet = false, faults }: SimOptions, postgresUrl?: string) {
    this.#seed = seed;
    this.#chaosMs = chaosMs;
    this.#isQuiet = isQuiet;
    this.#postgresUrl = postgresUrl;
    this.#timeline = new Timeline(startOfTime, () => this.#settle());
    this.#streams = new RandomStreams(seed);
    this.#settings = isQuiet ? quietSettings(drawSettings(this.#streams)) : drawSettings(this.#streams);
    this.#faults = new Faults(faults ?? null);
    const request = { seed, streams: this.#streams, settings: this.#settings, isQuiet };
    this.#work = postgresUrl === undefined ? drawWorkOnSqlite(request) : drawWorkOnPostgres(request);
  }

  /** Most simulations on SQLite need one turn of the event loop. With more of them, their histories would be others. */
  #settle(): Promise<void> {
    return this.#isOnPostgres || this.#hasDiskTrouble || this.#work.hasRemoteWorkers ? quiescence() : turn();
  }

  get #isHealing(): boolean {
    return this.#healedAt !== null;
  }

  get #isOnPostgres(): boolean {
    return this.#postgresUrl !== undefined;
  }

  /** How long a deploy takes. */
  get #deployMs(): number {
    return this.#isOnPostgres ? (3 * minute) / shortBy : 3 * minute;
  }

  get #monitor(): Backing['monitor'] {
    return this.#backing.monitor;
  }

  get #store(): Backing['store'] {
    return this.#backing.store;
  }

  /** Only some seeds have pauses: a further client changes the histories of a seed, and so what it is known to find. */
  get #hasPauses(): boolean {
    return this.#seed % 16 === 3;
  }

  /** Whether further processes start under the names of instances that are alive. None of these seeds is known either. */
  get #hasTwins(): boolean {
    return [33, 43, 54].includes(this.#seed % 64);
  }

  /** Whether answers to claims arrive after a pause. None of these seeds is known either. */
  get #hasLateAnswers(): boolean {
    return this.#isOnPostgres ? [3, 4, 7].includes(this.#seed % 8) : [12, 26, 42, 56].includes(this.#seed % 64);
  }

  /** Whether the disk of the store is full or fails. None of these seeds is known either. */
  get #hasDiskTrouble(): boolean {
    if (this.#isOnPostgres) return this.#seed > knownOnPostgres && [1, 6].includes(this.#seed % 10);
    return [0, 12, 20, 23, 26, 30, 32, 34, 51, 54, 56, 60].includes(this.#seed % 64);
  }

  /** Whether a standby takes over. None of these seeds is known either. */
  get #hasFailovers(): boolean {
    return this.#seed > knownOnPostgres && [2, 5].includes(this.#seed % 10);
  }

  async run(): Promise<SimReport> {
    this.#backing = await this.#openBacking();
    try {
      await this.#simulate();
      return await this.#report();
    } finally {
      // Whatever happened: backends that are stopped would hold up the end of the server, and with it the whole proof.
      await this.#backing.close();
    }
  }

  async #simulate(): Promise<void> {
    await this.#store.migrate();
    if (this.#work.isCompleting) await this.#backing.createEffects();
    // Before the processes have sent anything: it is not one of them that declares.
    if (this.#work.isMetered && this.#isOnPostgres) await this.#declareLimits();
    for (let index = 1; index <= this.#settings.engines; index++) this.#startEngine(`e${index}`, 1);
    // A stream of its own, and a part of the seeds only: the histories of the others stay as they are.
    const hasFlows = this.#streams.stream('flows').isTrue(0.4);
    const roleIsDrawn = {
      flow: hasFlows, pauser: this.#hasPauses, completer: this.#work.isCompleting, writer: this.#work.hasInbox,
      limiter: this.#work.isMetered, asker: this.#work.isAsking, planner: this.#work.hasFollowers,
    };
    for (const role of roles) if (roleIsDrawn[role as keyof typeof roleIsDrawn] ?? true) this.#startClient(role, 1);
    if (this.#work.isMetered && !this.#isOnPostgres) await this.#declareLimits();
    this.#produceDrawnWork();
    if (this.#work.hasRemoteWorkers) this.#startRemoteWorkers();
    this.#scheduleFaults();
    await this.#timeline.run(startOfTime + this.#chaosMs);
    if (this.#violations.length === 0) await this.#heal();
    if (this.#violations.length === 0 && this.#backing instanceof PostgresBacking) await this.#probe(this.#backing);
    if (this.#violations.length === 0) await this.#verify();
  }

  #openBacking(): Promise<Backing> | Backing {
    const parts = {
      timeline: this.#timeline, faults: this.#faults, settings: this.#settings, limits, goals: this.#goals,
      batches: this.#ledger.batches, hasDiskTrouble: this.#hasDiskTrouble,
      onViolation: (found: Violation) => this.#found(found),
      onClaimed: (holder: string) => this.#answerLate(holder),
      crash: (process: SimProcess) => this.#crash(process),
    };
    if (this.#postgresUrl !== undefined) {
      return PostgresBacking.on({ ...parts, url: this.#postgresUrl, streams: this.#streams, hasFailovers: this.#hasFailovers });
    }
    return new SqliteBacking({ ...parts, isOnFile: this.#work.isCompleting, random: this.#streams.stream('first turns'), diskRandom: this.#streams.stream('disk') });
  }

  // Engines and clients.

  #startEngine(slot: string, incarnation: number): void {
    const name = this.#settings.keepsName ? slot : `${slot}.${incarnation}`;
    const random = this.#streams.stream(`engine ${slot}.${incarnation}`);
    const process = this.#newProcess(slot, `${slot}.${incarnation}`, random);
    if (incarnation > 1) this.#goals.reach('restart under the same name');
    process.onDeath(() => {
      const ms = this.#isHealing ? 1_000 : random.between(0, 45_000);
      this.#timeline.after(ms, () => this.#startEngine(slot, incarnation + 1));
    });
    const engine = this.#newEngine(process, random, name);
    void this.#resume(engine, process);
  }

  /** A second process with the name of an instance: it is refused while the instance lives, and dies after a while. */
  #startTwin(random: RandomStream): void {
    const { name } = this.#someEngine(random);
    const slot = `twin of ${name} at ${this.#timeline.now}`;
    const process = this.#newProcess(slot, slot, random);
    process.onDeath(() => this.#processes.delete(slot));
    void this.#resume(this.#newEngine(process, random, this.#settings.keepsName ? name.split('.')[0]! : name), process);
    this.#timeline.after(random.between(20_000, 3 * minute), () => this.#crash(process));
  }

  /** Retries until the engine has started, like a process supervisor. */
  async #resume(engine: Engine, process: SimProcess): Promise<void> {
    for (;;) {
      try {
        return await engine.resume();
      } catch (error) {
        if (isRefusal(error) && error.code === 'taken.instance') this.#goals.reach('name of a living instance refused');
        await process.clock.sleep(1_000);
      }
    }
  }

  #startClient(role: Role, incarnation: number): void {
    const client = this.#newClient(role, incarnation);
    const restart = (): void => this.#startClient(role, incarnation + 1);
    client.process.onDeath(() => {
      if (!this.#isHealing) this.#timeline.after(client.random.between(0, 20_000), restart);
    });
    // Few of its actions create a run that asks.
    const everyMs = this.#settings.workEveryMs / (role === 'asker' && this.#isOnPostgres ? shortBy : 1);
    const acting = actUntil(role, client, everyMs, () => this.#isHealing);
    void acting.catch((error: unknown) => this.#reportError(role, error));
  }

  #newClient(slot: string, incarnation: number): Client {
    const name = `${slot}.${incarnation}`;
    const random = this.#streams.stream(`client ${name}`);
    const process = this.#newProcess(slot, name, this.#streams.stream(`line ${name}`));
    const engine = this.#newEngine(process, this.#streams.stream(`engine ${name}`), slot);
    const jobs = (): readonly Job[] => [...this.#monitor.jobs.values()];
    const { types, defs } = this.#settings;
    const limits = this.#work.isMetered ? namedLimits.map((limit) => limit.name) : [];
    const shared = { goals: this.#goals, ledger: this.#ledger, acknowledged: this.#acknowledged, limits };
    return { engine, process, random, jobs, types, defs: this.#work.hasFollowers ? [...defs, firstDef] : defs, ...shared };
  }

  #startRemoteWorkers(): void {
    this.#startServer(1);
    for (let index = 1; index <= remoteWorkersCount; index++) this.#startRemoteWorker(`r${index}`, 1);
  }

  /** A process that serves HTTP, and executes nothing itself. */
  #startServer(incarnation: number): void {
    const { process, engine } = this.#newClient('server', incarnation);
    const faults = new Map<unknown, unknown>();
    const ignore = (): void => {};
    const logger = { info: ignore, warn: ignore, error: (_: string, about: Readonly<Record<string, unknown>> = {}) => void faults.set(about['trace'], about['error']) };
    const http = createHttp({ engine, clock: process.clock, dashboard: null, logger });
    this.#httpServer = { process, http, faultOf: (trace) => faults.get(trace) };
    this.#restartAfterDeath(process, () => this.#startServer(incarnation + 1));
  }

  #startRemoteWorker(slot: string, incarnation: number): void {
    const name = `${slot}.${incarnation}`;
    const random = this.#streams.stream(`remote worker ${name}`);
    const process = this.#newProcess(slot, name, random);
    const { clock } = process;
    const line = new HttpLine({
      timeline: this.#timeline, faults: this.#faults, settings: this.#settings, process,
      random: this.#streams.stream(`line ${name}`), server: () => this.#httpServer,
      onClaimed: () => this.#deliverLate(process),
      onServerFault: (error) => this.#reportError('the HTTP server', error),
    });
    const onStart = (start: Start): void => {
      this.#ledger.starts.push(start);
      this.#checkStart(start);
    };
    const client = new HttpClient({ url: 'http://127.0.0.1', fetch: line.fetch, clock, random });
    const worker = new HttpWorker(client, {
      name, clock, random, slots: 3, leaseMs: this.#settings.leaseMs, onError: () => {},
      handlers: { [remoteType]: remoteHandler({ clock, streams: this.#streams, onStart }) },
    });
    void worker.run().catch((error: unknown) => this.#reportError(name, error));
    this.#restartAfterDeath(process, () => this.#startRemoteWorker(slot, incarnation + 1));
  }

  #restartAfterDeath(process: SimProcess, start: () => void): void {
    const random = this.#streams.stream(`restart of ${process.name}`);
    process.onDeath(() => void this.#timeline.after(this.#isHealing ? 1_000 : random.between(0, 20_000), start));
  }

  /** The answer to a claim arrives after a pause of the worker, if one is to come. */
  #deliverLate(process: SimProcess): void {
    const ms = this.#pauseAtClaim.get(process);
    if (ms === undefined) return;
    this.#pauseAtClaim.delete(process);
    if (this.#isHealing) return;
    process.pauseTimersFirst(ms);
    this.#goals.reach('remote claim answered after a pause longer than the lease');
  }

  #declareLimits(): Promise<unknown> {
    // On PostgreSQL the monitor reads what is committed.
    return declareLimits(this.#isOnPostgres ? this.#store : this.#monitor.store, namedLimits, 'simulation');
  }

  #produceDrawnWork(): void {
    const work = this.#work;
    const policy = { attemptsMax: 3 };
    // Faster than the limits let them start, which are the same on PostgreSQL.
    const meteredMs = this.#isOnPostgres ? 24_000 : 12_000;
    if (work.isMetered) this.#produce('metered', meteredMs, (random) => [{ type: meteredType, limitUses: drawUses(random), policy }]);
    if (work.isBatching) this.#produce('batched', 40_000, drawBatched);
    if (work.isSharing) this.#produce('shared', 150_000, drawShared);
    if (work.isCrowding) this.#produce('crowds', 150_000, drawCrowd);
    if (work.hasRemoteWorkers) this.#produce('remote', 30_000, drawRemote);
    if (work.hasFamilies) this.#produce('families', 60_000, () => [familyDraft]);
    // Of the deployed version, and of others: producers are deployed one after another, too.
    if (work.isDeploying) {
      this.#produce('deployed', 15_000, (random) => [deployedDraft(random.isTrue(0.7) ? this.#deployed : drawVersion(random))]);
    }
  }

  /** Creates the runs of drawn work. */
  #produce(name: string, everyMs: number, draw: (random: RandomStream) => readonly Draft[]): void {
    const random = this.#streams.stream(name);
    const jobs = this.#producerOf(name);
    const [firstMs, averageMs] = this.#isOnPostgres ? [minute / 12, everyMs / shortBy] : [minute, everyMs];
    const create = (): void => {
      if (this.#isHealing) return;
      void jobs().createMany(draw(random), 'simulation').catch((error: unknown) => {
        // Whether a fault justifies it is judged where the store refuses it.
        if (!isRefusal(error) || !error.code.startsWith('unavailable.')) this.#reportError(name, error);
      });
      this.#timeline.after(random.intervalMs(averageMs), create);
    };
    this.#timeline.after(firstMs, create);
  }

  /** On PostgreSQL statements must come from a process, since they wait for the locks of others. On SQLite none is needed. */
  #producerOf(name: string): () => Jobs {
    if (!this.#isOnPostgres) {
      const jobs = new Jobs(this.#monitor.store);
      return () => jobs;
    }
    let client: Client | null = null;
    let incarnation = 0;
    return () => {
      if (!client?.process.isAlive) client = this.#newClient(`producer of ${name}`, (incarnation += 1));
      return client.engine.jobs;
    };
  }

  /** Instances start with this version from now on; those that run are replaced one after another. */
  #deploy(version: DeployedVersion, random: RandomStream): void {
    if (version < this.#deployed) this.#goals.reach('version rolled back');
    this.#deployed = version;
    for (let index = 1; index <= this.#settings.engines; index += 1) {
      this.#timeline.after(random.between(0, this.#deployMs), () => this.#crash(this.#processes.get(`e${index}`)!));
    }
  }

  #newProcess(slot: string, name: string, random: RandomStream): SimProcess {
    const skew = { offsetMs: random.between(-5, 5) * minute, rate: random.between(0.999, 1.001) };
    const process = new SimProcess(name, this.#timeline, skew);
    this.#processes.set(slot, process);
    return process;
  }

  #newEngine(process: SimProcess, random: RandomStream, instance: string): Engine {
    const { leaseMs, retentionMs, poison, types, defs } = this.#settings;
    const store = this.#backing.storeOf(process, random);
    const workload = createWorkload({
      ...this.#work,
      process, streams: this.#streams, ledger: this.#ledger, onStart: (start) => this.#checkStart(start), hasPoison: poison,
      deployed: this.#work.isDeploying
        ? {
          version: this.#deployed, onWrongFormat: (found) => this.#found(found),
          onUpgrade: () => this.#goals.reach('payload of an older version upgraded'),
        }
        : null,
      onCompletionLost: this.#work.isCompleting ? () => this.#goals.reach('lease lost in complete') : null,
      isProbed: this.#isOnPostgres,
      typeNames: types, defNames: defs,
      crash: (target) => this.#crash(target),
    });
    return new Engine({
      store, ...workload, instance, clock: process.clock, random, slots: 4, lease: `${leaseMs}ms`,
      retention: retentionMs === null ? null : `${retentionMs}ms`,
    });
  }

  /** P3: a handler starts only while its instance holds the job, whatever time the answer to the claim took. */
  #checkStart({ job: id, fence }: Start): void {
    if (this.#couldStartWhenHealed) this.#recoveryMs ??= this.#timeline.now - this.#healedAt!;
    // Set forward, the clock of the store ends leases that their holders know to be safe.
    if (this.#settings.storeJumpEveryMs !== Infinity) return;
    const job = this.#monitor.jobs.get(id);
    if (job?.state === 'running' && job.fence === fence) return;
    if (this.#monitor.wasJustStopped({ id, fence }, this.#settings.leaseMs)) return;
    const is = job ? `${job.state} under fence ${job.fence}` : 'gone';
    this.#found(violation('P3', id, `job ${id} was started under fence ${fence}, and is ${is}`));
  }

  // Faults.

  #scheduleFaults(): void {
    const { crashEveryMs, pauseEveryMs, outageEveryMs, jumpEveryMs, storeJumpEveryMs } = this.#settings;
    this.#repeatFault('crash', crashEveryMs, (random) => this.#crash(this.#someEngine(random)));
    this.#repeatFault('pause', pauseEveryMs, (random) => {
      const ms = random.isTrue(0.3) ? random.between(30_000, 600_000) : random.between(1, 30_000);
      const process = this.#someProcess(random);
      process.pause(ms);
      this.#backing.notePause(process, ms);
    });
    this.#repeatFault('outage', outageEveryMs, (random) => {
      const ms = random.isTrue(0.4) ? random.between(1, 4) * this.#settings.leaseMs : random.between(100, 5_000);
      this.#backing.goDown(ms);
      if (ms > this.#settings.leaseMs) this.#goals.reach('store outage longer than a lease');
    });
    this.#repeatFault('jump', jumpEveryMs, (random) => {
      const [sign, ms] = [random.pick([-1, 1]), random.pick([1_000, minute, 60 * minute, 365 * 24 * 60 * minute])];
      this.#someProcess(random).clock.jump(sign * ms);
    });
    for (const { kind, everyMs, inject } of this.#backing.faults) this.#repeatFault(kind, everyMs, inject);
    if (this.#work.isDeploying) {
      this.#repeatFault('deploy', 3 * this.#deployMs, (random) => this.#deploy(drawVersion(random), random));
    }
    if (this.#work.hasRemoteWorkers) {
      const everyMs = this.#isOnPostgres ? minute : 2 * minute;
      this.#repeatFault('remote crash', everyMs, (random) => this.#crash(this.#someRemote(random)));
      this.#repeatFault('late remote answer', everyMs, (random) => {
        this.#pauseAtClaim.set(this.#processes.get(`r${random.integer(1, remoteWorkersCount)}`)!, random.between(1.2, 4) * this.#settings.leaseMs);
      });
    }
    if (this.#hasTwins) this.#repeatFault('twin', 4 * minute, (random) => this.#startTwin(random));
    if (this.#hasLateAnswers) {
      this.#repeatFault('late answer', this.#isOnPostgres ? minute / 2 : 2 * minute, (random) => {
        this.#pauseAtClaim.set(this.#someEngine(random), random.between(1.2, 4) * this.#settings.leaseMs);
      });
    }
    this.#repeatFault('store jump', storeJumpEveryMs, (random) => {
      this.#backing.jump(random.pick([-minute, -1_000, 1_000, minute, 10 * minute]));
    });
  }

  /** Repeats a fault at times that depend only on the seed. */
  #repeatFault(kind: string, everyMs: number, inject: (random: RandomStream) => void): void {
    if (everyMs === Infinity) return;
    const times = this.#streams.stream(`times of ${kind}`);
    const next = (count: number): void => {
      this.#timeline.after(times.intervalMs(everyMs), () => {
        if (this.#isHealing) return;
        const name = `${kind} ${count}`;
        if (this.#faults.inject(name)) inject(this.#streams.stream(name));
        next(count + 1);
      });
    };
    next(1);
  }

  /** The process of a remote worker, or that of their server. */
  #someRemote(random: RandomStream): SimProcess {
    return this.#processes.get(random.pick(['server', ...Array.from({ length: remoteWorkersCount }, (_, index) => `r${index + 1}`)]))!;
  }

  #someEngine(random: RandomStream): SimProcess {
    return this.#processes.get(`e${random.integer(1, this.#settings.engines)}`)!;
  }

  #someProcess(random: RandomStream): SimProcess {
    return this.#processes.get(random.pick([...this.#processes.keys()]))!;
  }

  /** The answer to a claim is on its way: it arrives after the pause of its process. */
  #answerLate(holder: string): void {
    for (const [process, ms] of this.#pauseAtClaim) {
      if (process.name !== holder && process.name.split('.')[0] !== holder) continue;
      this.#pauseAtClaim.delete(process);
      if (this.#isHealing || !process.isAlive) continue;
      process.pauseTimersFirst(ms);
      this.#backing.notePause(process, ms);
      this.#goals.reach('claim answered after a pause longer than the lease');
    }
  }

  #crash(process: SimProcess): void {
    if (process.isAlive) process.die();
  }

  // Healing and verification.

  async #heal(): Promise<void> {
    const { leaseMs } = this.#settings;
    const healedAt = this.#timeline.now;
    this.#healedAt = healedAt;
    this.#couldStartWhenHealed = !this.#isOnPostgres && this.#canStart();
    if (this.#backing instanceof PostgresBacking && this.#faults.inject('last silence')) {
      this.#backing.silenceSome(this.#streams.stream('last silence'));
    }
    this.#faults.stop();
    this.#backing.heal();
    for (const process of this.#processes.values()) process.resume();
    if (this.#work.isDeploying) this.#deploy(newestVersion, this.#streams.stream('last deploy'));
    if (this.#backing instanceof PostgresBacking) await this.#measureRecovery(this.#backing);
    void finishRemaining(this.#newClient('janitor', 1)).catch((error: unknown) => this.#reportError('janitor', error));
    while (!this.#isFinished() && this.#timeline.now < healedAt + healMaxMs && this.#violations.length === 0) {
      await this.#timeline.run(this.#timeline.now + 10_000);
      if (this.#couldStartWhenHealed && this.#recoveryMs === null) this.#checkProgress(healedAt);
    }
    for (const job of this.#openJobs()) {
      this.#found(violation('L2', job.id, `job ${job.id} (${job.type}) is still ${stateOf(job)}`));
    }
    await this.#timeline.run(this.#timeline.now + 4 * leaseMs);
  }

  /** L9: a run starts within a bound after the faults. It has a slot when one of the longest handlers is over. */
  async #measureRecovery(backing: PostgresBacking): Promise<void> {
    const [probes, healedAt, storeTime] = [new Probes(backing), this.#timeline.now, backing.now()];
    void probes.create(this.#newClient('first probe', 1), [0]);
    for (let started: number | null = null; started === null && this.#violations.length === 0;) {
      await this.#timeline.run(this.#timeline.now + 1_000);
      started = await probes.firstStart();
      if (started !== null) this.#recoveryMs = started - storeTime;
      else this.#checkProgress(healedAt);
    }
  }

  #checkProgress(healedAt: number): void {
    if (this.#timeline.now - healedAt <= recoveryMaxMs) return;
    this.#found(violation('L9', null, `no run started within ${recoveryMaxMs / 1000} s after the faults`));
  }

  /** Whether a run or task waits only for a slot. */
  #canStart(): boolean {
    const now = this.#store.now();
    const all = [...this.#monitor.jobs.values()];
    const paused = new Set(all.filter((job) => job.kind === 'pause' && isInForce(job, now)).map(({ type }) => type));
    return all.some(({ kind, state, type, gate, due }) =>
      (kind === 'run' || kind === 'task') && state === 'pending' && gate === null && due <= now &&
      (this.#settings.types as readonly string[]).includes(type) && !paused.has(type));
  }

  /** When nothing fails and the instances are idle: new processes create runs, which must start in time. */
  async #probe(backing: PostgresBacking): Promise<void> {
    const random = this.#streams.stream('probes');
    if (this.#work.isDeploying) await this.#timeline.run(this.#timeline.now + this.#deployMs + 4 * this.#settings.leaseMs);
    const probes = new Probes(backing);
    const cursor = await backing.store.feedEnd();
    const endElsewhere = await backing.beginElsewhere();
    for (let n = 1; n <= probesCount && this.#violations.length === 0; n += 1) {
      // The second run of a pair becomes due while the first one is being claimed.
      const pairs = [1_000, 5_000].flatMap((ms) => [ms, ms + random.integer(4, 40)]);
      void probes.create(this.#newClient(`probe ${n}`, 1), pairs);
      await this.#timeline.run(this.#timeline.now + random.integer(9_000, 14_000));
    }
    for await (const found of probes.check()) this.#found(found);
    for await (const found of probes.checkFeed(cursor)) this.#found(found);
    await endElsewhere();
  }

  #isFinished(): boolean {
    return this.#openJobs().length === 0 && this.#monitor.inbox.waiting === 0;
  }

  #openJobs(): Job[] {
    return [...this.#monitor.jobs.values()].filter(({ kind, state }) => endingKinds.includes(kind) && state !== 'ended');
  }

  async #verify(): Promise<void> {
    const isStored = (id: number): boolean => !this.#monitor.isDeleted(id) && this.#settings.retentionMs === null;
    const evidence = {
      acknowledged: [...this.#acknowledged].filter(isStored),
      starts: this.#ledger.starts.filter(({ job }) => isStored(job)),
    };
    for await (const found of verify(this.#store, { patienceMs: 0, overdueMs: minute, evidence })) {
      // S40 compares store times, which a jump of the store's clock reorders; the monitor checks the order of commits.
      if (found.invariant !== 'S40' || this.#settings.storeJumpEveryMs === Infinity) this.#found(found);
    }
    const isKept = this.#settings.retentionMs === null;
    for (const found of await this.#monitor.inbox.check(this.#store, isKept)) this.#found(found);
    const effects = this.#work.isCompleting ? await this.#backing.readEffects() : [];
    for (const found of checkEffects(effects, this.#monitor.succeeded)) this.#found(found);
    for (const found of checkDeployed(this.#monitor.jobs.values())) this.#found(found);
    for (const { run, total, seen } of this.#ledger.gathered) {
      if (total !== seen) this.#found(violation('S12', run, `run ${run} has ${total} tasks and received ${seen}`));
    }
  }

  async #report(): Promise<SimReport> {
    const { injected } = this.#faults;
    const starts = String(this.#ledger.starts.length);
    const trace = createHash('sha256').update(this.#monitor.trace()).update(injected.join()).update(starts);
    return {
      seed: this.#seed,
      isQuiet: this.#isQuiet,
      violations: this.#violations,
      history: await this.#historyOf(this.#violations[0]?.job ?? null),
      faults: injected,
      goals: this.#goals.reached,
      simulatedMs: this.#timeline.now - startOfTime,
      jobs: this.#monitor.jobs.size,
      commits: this.#monitor.commits,
      recoveryMs: this.#recoveryMs,
      statements: this.#backing instanceof PostgresBacking ? this.#backing.statements : 0,
      refusals: this.#backing.refusals,
      trace: trace.digest('hex').slice(0, 16),
    };
  }

  async #historyOf(job: number | null): Promise<readonly Event[]> {
    return job === null ? [] : this.#store.history(job);
  }

  #found(found: Violation): void {
    if (this.#violations.length < violationsMax) this.#violations.push(found);
    this.#timeline.stop();
  }

  /** An unexpected error is a violation too. */
  #reportError(who: string, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#found(violation('P0', null, `${who} failed: ${text}`));
  }
}

function stateOf(job: Job): string {
  if (job.state === 'held') return `held by ${job.hold}`;
  return job.state === 'running' ? `running, held by ${job.lease.holder}` : job.state;
}
