/** The worker: claims and executes the jobs of one store. An engine has one for its database and one for memory. */
import type { EndedJobs } from './attempt/attempt-counts.ts';
import type { Holding, InstanceAbout } from '../store/store.ts';
import { Loop } from '../time/loop.ts';
import type { BackupHeartbeat } from './loops/backup-heartbeat.ts';
import { CancelDelivery } from './loops/cancel-delivery.ts';
import type { ClaimOnCreate } from './loops/claim-on-create.ts';
import { Heartbeat } from './loops/heartbeat.ts';
import { InstanceLease } from './loops/lease.ts';
import type { YoungGeneration } from './loops/young-generation.ts';
import { register } from './loops/registration.ts';
import { ThrottledWake } from './loops/throttled-wake.ts';
import { JobBatch, jobsOf, withdrawn, type SlotWork } from './attempt/job-batch.ts';
import { watchStrayRejections } from './attempt/stray-rejections.ts';
import { claiming, type ClaimingPart, type ClaimingNeeds } from './worker-parts/claiming.ts';
import { maintaining, type MaintainingPart, type MaintainingNeeds } from './worker-parts/maintaining.ts';
import { running, type RunningPart, type RunningNeeds } from './worker-parts/running.ts';

export interface WorkerParts
  extends Omit<ClaimingNeeds, 'youngGeneration'>, Omit<RunningNeeds, 'timeLimits' | 'beforeStart'>, MaintainingNeeds {
  readonly version: string;
  readonly build: string;
  /** A random id of this engine, which distinguishes it from another process under the same instance name. */
  readonly boot: string;
  readonly host: string;
  readonly leaseMs: number;
  readonly backupHeartbeat: BackupHeartbeat;
  /** Makes what this worker tells how busy it is. */
  readonly youngGeneration: () => YoungGeneration;
}

/** `wake` starts the scheduler at most once in this time: most wakes announce a new job, not a new definition. */
const schedulingWakeMs = 1_000;

/** How long `whenIdle` waits between two rounds, such as for a job of another instance that becomes due. */
const idlePollMs = 20;

export class Worker {
  readonly #parts: WorkerParts;
  readonly #lease: InstanceLease;
  readonly #maintaining: MaintainingPart;
  readonly #running: RunningPart;
  readonly #claiming: ClaimingPart;
  readonly #heartbeat: Heartbeat;
  readonly #beating: Loop;
  readonly #schedulingWake: ThrottledWake;
  readonly #youngGeneration: YoungGeneration;
  #stopListening: (() => void) | null = null;
  #stopWatching: (() => void) | null = null;
  #isDraining = false;

  constructor(parts: WorkerParts) {
    const { clock, leaseMs, backupHeartbeat } = parts;
    const { timeLimits } = backupHeartbeat;
    this.#parts = parts;
    this.#lease = new InstanceLease(clock, leaseMs, () => backupHeartbeat.givenUp());
    this.#maintaining = maintaining(parts, this.#lease);
    const isDraining = (): boolean => this.#isDraining;
    const beforeStart = (jobs: readonly Holding[]): Promise<void> => this.#heartbeat.beforeStart(jobs);
    this.#running = running({ ...parts, timeLimits, beforeStart }, this.#lease, this.#maintaining.follow, isDraining);
    this.#youngGeneration = parts.youngGeneration();
    const claimingNeeds = { ...parts, youngGeneration: this.#youngGeneration };
    this.#claiming = claiming(claimingNeeds, this.#lease, this.#maintaining.leader, this.#running, isDraining);
    this.#heartbeat = this.#newHeartbeat();
    // The back-off after a failed heartbeat is short, so that the lease is renewed soon after the store answers again.
    this.#beating = new Loop('heartbeat', parts, () => this.#heartbeat.turn(), leaseMs / 6);
    this.#schedulingWake = new ThrottledWake(this.#maintaining.scheduling, clock, schedulingWakeMs);
    this.#maintaining.leader.onGained(() => {
      this.#wakeLoops();
      this.#beating.wake();
    });
  }

  get claimOnCreate(): ClaimOnCreate {
    return this.#claiming.claimOnCreate;
  }

  get running(): readonly number[] {
    return [...this.#running.attempts.values()].map(({ job }) => job.id);
  }

  /** How many attempts have started here so far. */
  get started(): number {
    return this.#running.attempts.started;
  }

  get isFull(): boolean {
    return this.#running.slots.free <= 0;
  }

  /** Whether this worker gave the token to a handler whose attempt has not ended. */
  hasIssuedToken(token: string, holding: Holding): boolean {
    return this.#running.attempts.under(holding)?.hasToken(token) ?? false;
  }

  async start(): Promise<void> {
    this.#isDraining = false;
    this.#stopWatching ??= watchStrayRejections();
    const { jobs: { store }, clock, instance, host, leaseMs } = this.#parts;
    const previous = await register({ store, clock, instance, host, leaseMs, heartbeat: this.#heartbeat });
    this.#claiming.notePrevious(previous);
    await this.#maintaining.leader.turn();
    this.#parts.backupHeartbeat.start(this.#about(), () => this.#onBackupReady());
    this.#stopListening ??= this.#listen();
    for (const loop of [this.#claiming.loop, this.#beating, ...this.#maintenance]) loop.start();
  }

  /**
   * Resolves when nothing is left for this worker: it executes nothing, all outcomes are stored, no tick, no request of the
   * inbox and no message of an alert is due, and a search finds no job that may start. Batches that are being gathered then
   * start as they are. Jobs that are due later, paused or at a full limit stay. Resolves at once for a worker that does not claim and executes nothing.
   */
  async whenIdle(): Promise<EndedJobs> {
    const { slots, runner, counts } = this.#running;
    for (;;) {
      await slots.whenIdle();
      await runner.whenOutcomesStored();
      if (!this.#isClaiming || (await this.#findsNothing())) return counts.ended;
      await this.#parts.clock.sleep(idlePollMs);
    }
  }

  /**
   * Looks for work once. A job that starts meanwhile, such as one that was claimed when it was created, may have ended again
   * by then, and made work that the search could not find.
   */
  async #findsNothing(): Promise<boolean> {
    const { gathering, runner } = this.#running;
    const { scheduling, inbox, alerts } = this.#maintaining;
    const { started } = this;
    const isQuiet = (): boolean => this.running.length === 0 && gathering.size === 0 && runner.pendingOutcomes === 0;
    const wasQuiet = isQuiet();
    await scheduling.caughtUp();
    await inbox?.caughtUp();
    await alerts?.caughtUp();
    const isNothingFound = await this.#claiming.findsNone();
    const isNothingLeft = isNothingFound && wasQuiet && isQuiet() && this.started === started;
    if (isNothingFound) gathering.startAll();
    return isNothingLeft;
  }

  get #isClaiming(): boolean {
    return this.#stopListening !== null;
  }

  /** Claims and starts no further job, with immediate effect. Loops that run a turn now end it. */
  drain(): void {
    this.#isDraining = true;
    this.#stopListening?.();
    this.#stopListening = null;
    this.#schedulingWake.cancel();
  }

  /** Stops claiming, and releases claimed jobs that have not started. Attempts and the heartbeat continue. */
  async suspend(): Promise<void> {
    const { slots, gathering, finisher } = this.#running;
    this.drain();
    await Promise.all([this.#claiming.loop, ...this.#maintenance].map((loop) => loop.stop()));
    const unstarted = [...gathering.take(), ...slots.takeQueued().flatMap(withdrawn)];
    await Promise.all(unstarted.map((job) => finisher.release(job)));
  }

  /** Waits up to `patienceMs` for running attempts, then interrupts the remaining ones and releases their jobs. */
  async close(patienceMs: number): Promise<void> {
    const { runner, finisher, notes } = this.#running;
    const { clock, leaseMs, backupHeartbeat } = this.#parts;
    // Outcomes that are not stored within `patienceMs` plus a lease are dropped, and other instances repair the jobs.
    const stopTimer = clock.after(patienceMs + leaseMs, () => {
      finisher.stopRetrying();
      notes.stopRetrying();
    });
    await this.suspend();
    await this.#drain(patienceMs);
    await runner.whenOutcomesStored();
    stopTimer();
    await notes.close();
    await this.#beating.stop();
    await backupHeartbeat.stop();
    await this.#leave();
    this.#youngGeneration.release();
    this.#stopWatching?.();
    this.#stopWatching = null;
  }

  /** Call when a job may be due: claims at once. */
  wake(): void {
    if (this.#isDraining) return;
    this.#claiming.wake();
    this.#schedulingWake.wake();
  }

  /** Call when alerts have changed. */
  watchAlerts(): void {
    if (!this.#isDraining) this.#maintaining.alerts?.wake();
  }

  /** Call when a definition has changed: starts the scheduler at once. */
  reschedule(): void {
    if (!this.#isDraining) this.#maintaining.scheduling.wake();
  }

  /** Call when a job was cancelled or stopped: sends a heartbeat at once, which delivers cancels to attempts. */
  checkCancels(): void {
    const { attempts, gathering } = this.#running;
    if (attempts.size > 0 || gathering.size > 0) this.#beating.wake();
  }

  #listen(): () => void {
    const stops = [this.#parts.jobs.store.onWake(() => this.wake()), this.#maintaining.listenToInbox()];
    return () => stops.forEach((stop) => stop());
  }

  get #maintenance(): readonly Loop[] {
    return [this.#maintaining.scheduling, ...this.#maintaining.loops];
  }

  #newHeartbeat(): Heartbeat {
    const { jobs, instance: by, clock } = this.#parts;
    const { attempts, slots, gathering, finisher } = this.#running;
    return new Heartbeat({
      jobs, by, clock, attempts,
      lease: this.#lease,
      cancels: new CancelDelivery({ jobs, by, attempts, gathering, release: (job) => finisher.release(job) }),
      waiting: () => slots.queue.flatMap(jobsOf),
      gathered: () => gathering.jobs,
      about: () => this.#about(),
      onBeat: (lost) => this.#onBeat(lost),
      onReconnect: () => this.#wakeLoops(),
    });
  }

  async #drain(patienceMs: number): Promise<void> {
    const { attempts, slots } = this.#running;
    const stopTimer = this.#parts.clock.after(patienceMs, () => {
      for (const attempt of attempts.values()) attempt.interrupt();
    });
    await slots.whenIdle();
    stopTimer();
  }

  /** Ends the lease of this instance. A failure is only logged, because the lease lapses by itself. */
  async #leave(): Promise<void> {
    const { jobs, instance, logger } = this.#parts;
    if (!this.#heartbeat.isRegistered) return;
    try {
      await jobs.store.leave(instance);
    } catch (error) {
      logger.warn('cannot remove this instance from the store; its lease will lapse', { error });
    }
  }

  #onBackupReady(): void {
    this.#lease.backUp();
    this.#claiming.wake();
  }

  #onBeat(lost: readonly Holding[]): void {
    this.#parts.backupHeartbeat.noteBeat();
    this.#youngGeneration.noteBeat();
    if (lost.length > 0) this.#dropLost(lost);
    this.#running.slots.fill();
  }

  /** Drops the lost jobs that have not started. A job that was claimed again meanwhile has a newer fence, and stays. */
  #dropLost(lost: readonly Holding[]): void {
    const { attempts, slots, gathering } = this.#running;
    const fences = new Map(lost.map(({ id, fence }) => [id, fence]));
    const isDropped = (job: Holding): boolean => fences.get(job.id) === job.fence && attempts.under(job) === undefined;
    gathering.drop(isDropped);
    slots.drop((work: SlotWork) => {
      if (!(work instanceof JobBatch)) return isDropped(work);
      work.drop(isDropped);
      if (work.jobs.length === 0) work.withdraw();
      return work.jobs.length === 0;
    });
  }

  /**
   * Starts a turn of every loop except the heartbeat: after an outage of the store, or as the new leader, each may have
   * work to do.
   */
  #wakeLoops(): void {
    if (this.#isDraining) return;
    this.#claiming.wake();
    for (const loop of this.#maintenance) loop.wake();
  }

  #about(): InstanceAbout {
    const { host, version, build, boot, registry, slots, canary, hidesErrors } = this.#parts;
    const { names: types, isolated, versions } = registry;
    const shared = { ...(canary === null ? {} : { canary }), ...(hidesErrors ? { encodes: true as const } : {}) };
    const handled = { types, isolated, ...(versions.length === 0 ? {} : { versions }), ...shared };
    const { isLeader: leads } = this.#maintaining.leader;
    const { jobsMs: retentionMs } = this.#parts.retention;
    const { slots: { busy }, runner: { abandoned }, counts: { mostFrequent: attempts, batches } } = this.#running;
    const load = { slots, busy, ...(abandoned === 0 ? {} : { abandoned }), draining: this.#isDraining, leads };
    const done = { ...(attempts.length === 0 ? {} : { attempts }), ...(batches.length === 0 ? {} : { batches }) };
    return { host, pid: process.pid, version, build, boot, retentionMs, ...handled, ...load, ...done };
  }
}
