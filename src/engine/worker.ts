/** The station: all that an instance does on one store. The engine has one for its database, and one for memory. */
import { endOrphans, settleParents } from '../jobs/settle.ts';
import type { Answer } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import type { RunningJob } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import type { Holding } from '../store/store.ts';
import type { Later } from '../time/maybe-promise.ts';
import { Canceller } from './loops/heartbeat.ts';
import { Claimer } from './loops/claimer.ts';
import { Finisher } from './work/finisher.ts';
import { Newborns } from './loops/claim-on-create.ts';
import type { Handlers } from './declare/handlers.ts';
import type { Heart } from './loops/backup-heartbeat.ts';
import type { Isolation } from './isolation/isolation.ts';
import { Leader } from './loops/leader.ts';
import { Loop, type LoopParts, type Turn } from '../time/loop.ts';
import type { Orders } from './loops/instance-commands.ts';
import { Notes } from './progress/notes.ts';
import { reap } from './loops/reaper.ts';
import { retain, type Retention } from './loops/retention.ts';
import { Runner } from './work/runner.ts';
import { Scheduler } from './loops/scheduler.ts';
import { Slots } from './loops/slots.ts';
import { watchStrays } from './work/stray-rejections.ts';
import type { Watchers } from './work/job-watchers.ts';
import type { Tracing } from './work/tracing.ts';

export interface StationParts extends LoopParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly version: string;
  readonly host: string;
  readonly handlers: Handlers;
  readonly isolation: Isolation;
  readonly tracing: Tracing;
  readonly slots: number;
  readonly leaseMs: number;
  readonly heart: Heart;
  readonly retention: Retention;
  readonly watchers: Watchers;
  /** Of the station that hears them. */
  readonly orders?: Orders;
}

const reapMs = 3_000;
const settleMs = 10_000;
const orphansMs = 30_000;
const retainMs = 60_000;
/** New jobs come thick and fast, new definitions rarely: a wake-up looks for the latter at most this often. */
const scheduleAgainMs = 1_000;
/** Who does not lead does the chores this many times less often. */
const courtesy = 2;

export class Station {
  readonly #parts: StationParts;
  readonly #finisher: Finisher;
  readonly #notes: Notes;
  readonly #runner: Runner;
  readonly #slots: Slots<RunningJob>;
  readonly #claimer: Claimer;
  readonly #newborns: Newborns;
  readonly #canceller: Canceller;
  readonly #leader: Leader;
  readonly #scheduler: Scheduler;
  readonly #claiming: Loop;
  readonly #cancelling: Loop;
  readonly #scheduling: Loop;
  readonly #chores: readonly Loop[];
  #stopListening: (() => void) | null = null;
  #stopWatching: (() => void) | null = null;
  #isDraining = false;
  #isHeartReady = false;
  #scheduledAt = -Infinity;
  #forgetToSchedule: (() => void) | null = null;

  constructor(parts: StationParts) {
    const { jobs, instance: by, handlers, leaseMs } = parts;
    this.#parts = parts;
    this.#leader = new Leader(jobs, by, leaseMs, () => this.#goOn());
    this.#finisher = new Finisher(jobs, by, parts);
    this.#notes = new Notes({ store: jobs.store, clock: parts.clock, onLost: (id, fence) => this.#onLost({ id, fence }) });
    this.#runner = new Runner({
      ...parts, by, finisher: this.#finisher, notes: this.#notes,
      onHandled: (ms) => this.#claimer.learn(ms),
      onConcluded: ({ tick }) => (tick?.isAwaited ? this.#follow(tick.def) : undefined),
      onRelief: () => this.#refill(),
    });
    this.#slots = new Slots(parts.slots, {
      work: (job) => this.#work(job), onFree: () => this.#refill(), mayStart: () => this.#canceller.isTrusted,
    });
    this.#canceller = new Canceller({
      ...parts, by, attempts: this.#runner.attempts, waiting: () => this.#slots.queue,
      about: () => this.#about(), onBeat: (lost) => this.#onBeat(lost), onReturn: () => this.#goOn(),
    });
    this.#claimer = new Claimer({
      jobs, by, clock: parts.clock, leaseMs, types: this.#takes(), slots: this.#slots,
      isRunning: ({ id, fence }) => this.#runner.attempts.get(id)?.holding.fence === fence,
      concluding: () => this.#runner.concluding, limits: () => handlers.limits(),
      isLeader: () => this.#leader.isLeader, trust: () => this.#trust,
    });
    this.#newborns = new Newborns({
      instance: by, claimer: this.#claimer, slots: this.#slots,
      isDraining: () => this.#isDraining, trust: () => this.#trust, giveBack: (job) => this.#giveBack(job),
    });
    this.#scheduler = new Scheduler({ jobs, by, isLeader: () => this.#leader.isLeader });
    this.#claiming = this.#loop('claiming', () => this.#claimer.turn());
    // It must not be away for long from a store that is back: a lease is waiting to be renewed.
    this.#cancelling = new Loop('heartbeat', parts, () => this.#canceller.turn(), leaseMs / 6);
    this.#scheduling = this.#loop('scheduling', () => this.#scheduler.turn());
    this.#chores = [
      this.#loop('leadership', () => this.#leader.turn()),
      this.#loop('repair', () => this.#chore(reapMs, () => this.#repair())),
      this.#loop('settling', () => this.#chore(settleMs, () => settleParents(jobs.store, { by }))),
      this.#loop('orphans', () => this.#chore(orphansMs, () => endOrphans(jobs.store, { by }))),
      this.#loop('retention', () => this.#chore(retainMs, () => retain(jobs, parts.retention))),
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
    this.#stopWatching ??= watchStrays();
    await this.#canceller.beat();
    await this.#leader.turn();
    this.#parts.heart.start(this.#about(), () => this.#onHeartReady());
    this.#stopListening ??= this.#parts.jobs.store.onWake(() => this.#onWake());
    for (const loop of [this.#claiming, this.#cancelling, this.#scheduling, ...this.#chores]) loop.start();
  }

  /** Claims nothing more; what runs goes on, and so does its heartbeat. */
  async suspend(): Promise<void> {
    this.#isDraining = true;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#forgetToSchedule?.();
    this.#forgetToSchedule = null;
    await Promise.all([this.#claiming, this.#scheduling, ...this.#chores].map((loop) => loop.stop()));
    await Promise.all(this.#slots.takeBack().map((job) => this.#giveBack(job)));
  }

  /** Waits for what runs, up to a limit; the rest is handed back without losing a try. */
  async close(patienceMs: number): Promise<void> {
    const { clock, leaseMs, heart } = this.#parts;
    // Beyond a lease without a store, nothing is ours to store any more.
    const stopTimer = clock.after(patienceMs + leaseMs, () => this.#finisher.giveUp());
    await this.suspend();
    await this.#drain(patienceMs);
    await this.#runner.whenConcluded();
    stopTimer();
    await this.#notes.close();
    await this.#cancelling.stop();
    await heart.stop();
    await this.#leave();
    this.#stopWatching?.();
    this.#stopWatching = null;
  }

  /** Creates a job of this type, which may be taken on here with its birth. */
  create(type: string, create: Parameters<Newborns['create']>[1]): ReturnType<Newborns['create']> {
    return this.#newborns.create(type, create);
  }

  /** Something changed that this instance knows of: look at once. */
  wake(): void {
    this.#onWake();
  }

  /** A definition changed: what it says now counts from now on. */
  reschedule(): void {
    if (!this.#isDraining) this.#scheduling.wake();
  }

  /** Acts now on what was asked of a job that may run here. */
  look(): void {
    if (this.#runner.attempts.size > 0) this.#cancelling.wake();
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

  /** What is claimed now is ours as long as this stays the same. */
  get #trust(): symbol | null {
    return this.#isHeartReady ? this.#canceller.trust : null;
  }

  #refill(): void {
    if (this.#claimer.isShort) this.#claiming.wake();
  }

  #work(job: RunningJob): Later<void> {
    const { orders } = this.#parts;
    if (orders !== undefined && job.type === orders.type) return orders.follow(job);
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

  async #giveBack(job: RunningJob): Promise<void> {
    const command = { do: 'release', fence: job.fence } as const;
    const answer = await new Promise<Answer>((told) => this.#finisher.finish({ job, command }, told));
    if (isRefusal(answer)) this.#parts.logger.warn(`job ${job.id} could not be given back`, { id: job.id, code: answer.code });
  }

  #onHeartReady(): void {
    this.#isHeartReady = true;
    this.#claiming.wake();
  }

  #onBeat(lost: ReadonlySet<number>): void {
    this.#parts.heart.beaten();
    if (lost.size > 0) this.#slots.drop(({ id }) => lost.has(id) && !this.#runner.attempts.has(id));
    this.#slots.fill();
  }

  /** The store is back, or this instance leads now: what the loops left for later is to be done. */
  #goOn(): void {
    if (this.#isDraining) return;
    for (const loop of [this.#claiming, this.#scheduling, ...this.#chores]) loop.wake();
  }

  /** Who may have lost its own lease has to ask for it first: else it would take its own jobs for those of another. */
  async #repair(): Promise<number> {
    return this.#canceller.isTrusted ? reap(this.#parts.jobs, this.#parts.instance) : 0;
  }

  /** Only the attempt under that fence: a newer one of the same job may run here already. */
  #onLost({ id, fence }: Holding): void {
    const attempt = this.#runner.attempts.get(id);
    if (attempt?.holding.fence === fence) attempt.lose();
  }

  #onWake(): void {
    if (this.#isDraining) return;
    this.#claiming.wake();
    if (this.#forgetToSchedule) return;
    const waitMs = this.#scheduledAt + scheduleAgainMs - this.#parts.clock.monotonic();
    if (waitMs <= 0) this.#lookAtSchedules();
    else this.#forgetToSchedule = this.#parts.clock.after(waitMs, () => this.#lookAtSchedules());
  }

  #lookAtSchedules(): void {
    this.#forgetToSchedule = null;
    this.#scheduledAt = this.#parts.clock.monotonic();
    this.#scheduling.wake();
  }

  async #chore(everyMs: number, work: () => Promise<number>): Promise<number> {
    const done = await work();
    return done > 0 ? 0 : everyMs * (this.#leader.isLeader ? 1 : courtesy);
  }

  #loop(name: string, turn: Turn): Loop {
    return new Loop(name, this.#parts, turn);
  }

  #takes(): readonly string[] {
    const { handlers, orders } = this.#parts;
    return orders === undefined ? handlers.names : [...handlers.names, orders.type];
  }

  #about() {
    const { host, version, handlers, slots } = this.#parts;
    const knows = { types: handlers.names, isolated: handlers.isolated };
    return { host, pid: process.pid, version, ...knows, slots, busy: this.#slots.busy, draining: this.#isDraining };
  }
}
