/** The worker: all that an instance does on one store. The engine has one for its database, and one for memory. */
import { repairLapsed } from '../jobs/repair.ts';
import { endOrphans, settleParents } from '../jobs/settle.ts';
import type { CommandAnswer } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import type { RunningJob } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import type { Holding } from '../store/store.ts';
import type { MaybePromise } from '../time/maybe-promise.ts';
import { Heartbeat } from './loops/heartbeat.ts';
import { Claimer } from './loops/claimer.ts';
import { Finisher } from './work/finisher.ts';
import { ClaimOnCreate } from './loops/claim-on-create.ts';
import type { Handlers } from './declare/handlers.ts';
import type { BackupHeartbeat } from './loops/backup-heartbeat.ts';
import type { Isolation } from './isolation/isolation.ts';
import { Leader } from './loops/leader.ts';
import { Loop, type LoopParts, type Turn } from '../time/loop.ts';
import type { InstanceCommands } from './loops/instance-commands.ts';
import { Notes } from './progress/notes.ts';
import { purgeEnded, type Retention } from './loops/retention.ts';
import { Runner } from './work/runner.ts';
import { Scheduler } from './loops/scheduler.ts';
import { Slots } from './loops/slots.ts';
import { watchStrayRejections } from './work/stray-rejections.ts';
import type { JobWatchers } from './work/job-watchers.ts';
import type { Tracing } from './work/tracing.ts';

export interface WorkerParts extends LoopParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly version: string;
  readonly host: string;
  readonly handlers: Handlers;
  readonly isolation: Isolation;
  readonly tracing: Tracing;
  readonly slots: number;
  readonly leaseMs: number;
  readonly backupHeartbeat: BackupHeartbeat;
  readonly retention: Retention;
  readonly watchers: JobWatchers;
  /** Of the worker that receives them. */
  readonly instanceCommands?: InstanceCommands;
}

const repairMs = 3_000;
const settleMs = 10_000;
const orphansMs = 30_000;
const retainMs = 60_000;
/** New jobs come thick and fast, new definitions rarely: a wake-up looks for the latter at most this often. */
const schedulePollMinMs = 1_000;
/** An instance that does not lead runs maintenance this many times less often. */
const followerDelayFactor = 2;

export class Worker {
  readonly claimOnCreate: ClaimOnCreate;
  readonly #parts: WorkerParts;
  readonly #finisher: Finisher;
  readonly #notes: Notes;
  readonly #runner: Runner;
  readonly #slots: Slots<RunningJob>;
  readonly #claimer: Claimer;
  readonly #heartbeat: Heartbeat;
  readonly #leader: Leader;
  readonly #scheduler: Scheduler;
  readonly #claiming: Loop;
  readonly #beating: Loop;
  readonly #scheduling: Loop;
  readonly #maintenance: readonly Loop[];
  #stopListening: (() => void) | null = null;
  #stopWatching: (() => void) | null = null;
  #isDraining = false;
  #isBackupReady = false;
  #scheduledAt = -Infinity;
  #cancelSchedulePoll: (() => void) | null = null;

  constructor(parts: WorkerParts) {
    const { jobs, instance: by, handlers, leaseMs } = parts;
    this.#parts = parts;
    this.#leader = new Leader(jobs, by, leaseMs, () => this.#wakeLoops());
    this.#finisher = new Finisher(jobs, by, parts);
    this.#notes = new Notes({ store: jobs.store, clock: parts.clock, onLost: (id, fence) => this.#onLost({ id, fence }) });
    this.#runner = new Runner({
      ...parts, by, finisher: this.#finisher, notes: this.#notes,
      onHandled: (ms) => this.#claimer.noteHandlerTime(ms),
      onOutcomeStored: ({ tick }) => (tick?.isAwaited ? this.#follow(tick.def) : undefined),
      onOutcomeDone: () => this.#refill(),
    });
    this.#slots = new Slots(parts.slots, {
      work: (job) => this.#work(job), onFree: () => this.#refill(), mayStart: () => this.#heartbeat.isLeaseSafe,
    });
    this.#heartbeat = new Heartbeat({
      ...parts, by, attempts: this.#runner.attempts, waiting: () => this.#slots.queue,
      about: () => this.#about(), onBeat: (lost) => this.#onBeat(lost), onReconnect: () => this.#wakeLoops(),
    });
    this.#claimer = new Claimer({
      jobs, by, clock: parts.clock, leaseMs, types: this.#claimedTypes(), slots: this.#slots,
      isRunning: ({ id, fence }) => this.#runner.attempts.get(id)?.holding.fence === fence,
      pendingOutcomes: () => this.#runner.pendingOutcomes, limits: () => handlers.limits(),
      isLeader: () => this.#leader.isLeader, leaseEpoch: () => this.#leaseEpoch,
    });
    this.claimOnCreate = new ClaimOnCreate({
      jobs, instance: by, claimer: this.#claimer, slots: this.#slots,
      isDraining: () => this.#isDraining, leaseEpoch: () => this.#leaseEpoch, release: (job) => this.#release(job),
    });
    this.#scheduler = new Scheduler({ jobs, by, isLeader: () => this.#leader.isLeader });
    this.#claiming = this.#loop('claiming', () => this.#claimer.turn());
    // It must not be away for long from a store that is back: a lease is waiting to be renewed.
    this.#beating = new Loop('heartbeat', parts, () => this.#heartbeat.turn(), leaseMs / 6);
    this.#scheduling = this.#loop('scheduling', () => this.#scheduler.turn());
    this.#maintenance = [
      this.#loop('leadership', () => this.#leader.turn()),
      this.#loop('repair', () => this.#maintain(repairMs, () => this.#repair())),
      this.#loop('settling', () => this.#maintain(settleMs, () => settleParents(jobs.store, { by }))),
      this.#loop('orphans', () => this.#maintain(orphansMs, () => endOrphans(jobs.store, { by }))),
      this.#loop('retention', () => this.#maintain(retainMs, () => purgeEnded(jobs, parts.retention))),
    ];
  }

  get busy(): number {
    return this.#slots.busy;
  }

  /** It takes nothing until a slot is free. */
  get isFull(): boolean {
    return this.#slots.free <= 0;
  }

  async start(): Promise<void> {
    this.#isDraining = false;
    this.#stopWatching ??= watchStrayRejections();
    await this.#heartbeat.beat();
    await this.#leader.turn();
    this.#parts.backupHeartbeat.start(this.#about(), () => this.#onBackupReady());
    this.#stopListening ??= this.#parts.jobs.store.onWake(() => this.#onWake());
    for (const loop of [this.#claiming, this.#beating, this.#scheduling, ...this.#maintenance]) loop.start();
  }

  /** Claims nothing more; what runs goes on, and so does its heartbeat. */
  async suspend(): Promise<void> {
    this.#isDraining = true;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#cancelSchedulePoll?.();
    this.#cancelSchedulePoll = null;
    await Promise.all([this.#claiming, this.#scheduling, ...this.#maintenance].map((loop) => loop.stop()));
    await Promise.all(this.#slots.releaseQueued().map((job) => this.#release(job)));
  }

  /** Waits for what runs, up to a limit; the rest is handed back without losing a try. */
  async close(patienceMs: number): Promise<void> {
    const { clock, leaseMs, backupHeartbeat } = this.#parts;
    // Beyond a lease without a store, nothing is ours to store any more.
    const stopTimer = clock.after(patienceMs + leaseMs, () => this.#finisher.giveUp());
    await this.suspend();
    await this.#drain(patienceMs);
    await this.#runner.whenOutcomesStored();
    stopTimer();
    await this.#notes.close();
    await this.#beating.stop();
    await backupHeartbeat.stop();
    await this.#leave();
    this.#stopWatching?.();
    this.#stopWatching = null;
  }

  /** Something changed that this instance knows of: claim at once. */
  wake(): void {
    this.#onWake();
  }

  /** A definition changed: what it says now counts from now on. */
  reschedule(): void {
    if (!this.#isDraining) this.#scheduling.wake();
  }

  /** A job that may run here was cancelled or stopped: beat now, which delivers it. */
  checkCancels(): void {
    if (this.#runner.attempts.size > 0) this.#beating.wake();
  }

  async #drain(patienceMs: number): Promise<void> {
    const stopTimer = this.#parts.clock.after(patienceMs, () => {
      for (const attempt of this.#runner.attempts.values()) attempt.interrupt();
    });
    await this.#slots.whenIdle();
    stopTimer();
  }

  /** Whether or not others hear of it: they will notice that the heartbeats have ended. */
  async #leave(): Promise<void> {
    const { jobs, instance, logger } = this.#parts;
    try {
      await jobs.store.leave(instance);
    } catch (error) {
      logger.warn('the store could not be told that this instance leaves', { error });
    }
  }

  /** Jobs claimed now are ours as long as this token stays the same. */
  get #leaseEpoch(): symbol | null {
    return this.#isBackupReady ? this.#heartbeat.leaseEpoch : null;
  }

  #refill(): void {
    if (this.#claimer.needsJobs) this.#claiming.wake();
  }

  #work(job: RunningJob): MaybePromise<void> {
    const { instanceCommands } = this.#parts;
    if (instanceCommands !== undefined && job.type === instanceCommands.type) return instanceCommands.execute(job);
    return job.tick?.isAwaited ? this.#workAndFollow(job, job.tick.def) : this.#runner.run(job);
  }

  async #workAndFollow(job: RunningJob, def: number): Promise<void> {
    await this.#follow(def);
    await this.#runner.run(job);
  }

  async #follow(def: number): Promise<void> {
    try {
      await this.#scheduler.follow([def]);
      this.#scheduling.wake();
    } catch (error) {
      this.#parts.logger.warn('a schedule that counts from a run will be looked after later', { error, def });
    }
  }

  async #release(job: RunningJob): Promise<void> {
    const command = { do: 'release', fence: job.fence } as const;
    const answer = await new Promise<CommandAnswer>((resolve) => this.#finisher.finish({ job, command }, resolve));
    if (isRefusal(answer)) this.#parts.logger.warn(`job ${job.id} could not be given back`, { id: job.id, code: answer.code });
  }

  #onBackupReady(): void {
    this.#isBackupReady = true;
    this.#claiming.wake();
  }

  #onBeat(lost: ReadonlySet<number>): void {
    this.#parts.backupHeartbeat.noteBeat();
    if (lost.size > 0) this.#slots.drop(({ id }) => lost.has(id) && !this.#runner.attempts.has(id));
    this.#slots.fill();
  }

  /** The store is back, or this instance leads now: what the loops left for later is to be done. */
  #wakeLoops(): void {
    if (this.#isDraining) return;
    for (const loop of [this.#claiming, this.#scheduling, ...this.#maintenance]) loop.wake();
  }

  /** Who may have lost its own lease has to ask for it first: else it would take its own jobs for those of another. */
  async #repair(): Promise<number> {
    return this.#heartbeat.isLeaseSafe ? repairLapsed(this.#parts.jobs.store, this.#parts.instance) : 0;
  }

  /** Only the attempt under that fence: a newer one of the same job may run here already. */
  #onLost({ id, fence }: Holding): void {
    const attempt = this.#runner.attempts.get(id);
    if (attempt?.holding.fence === fence) attempt.revoke();
  }

  #onWake(): void {
    if (this.#isDraining) return;
    this.#claiming.wake();
    if (this.#cancelSchedulePoll) return;
    const waitMs = this.#scheduledAt + schedulePollMinMs - this.#parts.clock.monotonic();
    if (waitMs <= 0) this.#wakeScheduling();
    else this.#cancelSchedulePoll = this.#parts.clock.after(waitMs, () => this.#wakeScheduling());
  }

  #wakeScheduling(): void {
    this.#cancelSchedulePoll = null;
    this.#scheduledAt = this.#parts.clock.monotonic();
    this.#scheduling.wake();
  }

  async #maintain(everyMs: number, work: () => Promise<number>): Promise<number> {
    const done = await work();
    return done > 0 ? 0 : everyMs * (this.#leader.isLeader ? 1 : followerDelayFactor);
  }

  #loop(name: string, turn: Turn): Loop {
    return new Loop(name, this.#parts, turn);
  }

  #claimedTypes(): readonly string[] {
    const { handlers, instanceCommands } = this.#parts;
    return instanceCommands === undefined ? handlers.names : [...handlers.names, instanceCommands.type];
  }

  #about() {
    const { host, version, handlers, slots } = this.#parts;
    const knows = { types: handlers.names, isolated: handlers.isolated };
    return { host, pid: process.pid, version, ...knows, slots, busy: this.#slots.busy, draining: this.#isDraining };
  }
}
