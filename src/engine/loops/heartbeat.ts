/**
 * The heartbeat: renews the instance's lease, revokes attempts whose jobs the store reports as lost, and learns which
 * jobs were cancelled. While attempts run or batches are gathered, it is sent about every 500 ms, because the answer
 * reports the cancelled jobs; otherwise about three times per lease. If the store does not answer, all attempts are released,
 * normally before the lease lapses, because other instances repair the jobs after the lapse.
 */
import type { Jobs } from '../../jobs.ts';
import { isRefusal } from '../../refusal.ts';
import type { Holding, InstanceAbout } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { CancelDelivery } from './cancel-delivery.ts';
import type { InstanceLease } from './lease.ts';

export interface HeartbeatParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly clock: Clock;
  readonly lease: InstanceLease;
  readonly attempts: Attempts;
  readonly cancels: CancelDelivery;
  /** Jobs that were claimed and wait for a slot. */
  readonly waiting: () => readonly Holding[];
  /** Jobs that were claimed and wait for others of their batch. */
  readonly gathered: () => readonly Holding[];
  readonly about: () => InstanceAbout;
  /**
   * Called when the store has confirmed a heartbeat. `lost`: the claims that the heartbeat listed, and that this instance
   * no longer has. It may have claimed the same jobs again.
   */
  readonly onBeat: (lost: readonly Holding[]) => void;
  /** Called when a heartbeat succeeds after a failed one, or after a pause in which the lease may have lapsed. */
  readonly onReconnect: () => void;
}

/** While attempts run and the store answers, a cancel reaches them after about this time at most. */
const cancelPollMs = 500;

/** How many gathered jobs a heartbeat lists at most. A crash of this process counts as a crash of any further ones. */
const publishedMax = 1_000;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #isDisconnected = false;
  #isRegistered = false;
  /** Resolves when the last heartbeat was answered: the store must not get an older list of gathered jobs after a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  /** The heartbeat that batches await before they start, until it is answered; null: there is none. */
  #beforeStarts: Promise<void> | null = null;
  /** The gathered jobs that the store may know as such. */
  #published: ReadonlySet<string> = new Set();

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  async turn(): Promise<number> {
    const { attempts, lease, gathered } = this.#parts;
    const untilBeatMs = lease.durationMs / 3 - lease.silenceMs;
    // Without attempts, no heartbeat is sent before the lease needs one. The loop still wakes every `cancelPollMs`, so
    // that a cancel of an attempt that starts meanwhile is noticed in time.
    if (attempts.size === 0 && gathered().length === 0 && untilBeatMs > 0 && lease.isSafe) return Math.min(cancelPollMs, untilBeatMs);
    const disarm = this.#releaseAttemptsUnlessAnswered();
    try {
      await this.beat();
    } catch (error) {
      this.#isDisconnected = true;
      this.#releaseAttempts();
      throw error;
    } finally {
      disarm();
    }
    return cancelPollMs;
  }

  /** Whether this process is registered under its instance name. False: not yet, or another process has the name. */
  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /**
   * Renews the lease, revokes lost attempts and delivers cancels. If the lease may have lapsed before the store
   * answered, sends a second heartbeat, which also asks whether the jobs that wait for a slot were lost. The first
   * heartbeat asked only about the jobs of running attempts.
   */
  beat({ takeOver = false } = {}): Promise<void> {
    const beat = this.#last.then(async () => {
      if (!(await this.#isRenewed(takeOver))) await this.#isRenewed(false);
    });
    this.#last = beat.catch(() => {});
    return beat;
  }

  /**
   * Call before gathered jobs start. If the store knows them as gathered, sends a heartbeat, so that a crash of this
   * process counts as a crash of these jobs.
   */
  async beforeStart(jobs: readonly Holding[]): Promise<void> {
    await this.#last;
    if (!jobs.some((job) => this.#published.has(nameOf(job)))) return;
    // Batches that start together share a heartbeat: their jobs are no longer gathered when it is sent.
    this.#beforeStarts ??= this.beat().finally(() => {
      this.#beforeStarts = null;
    });
    await this.#beforeStarts;
  }

  /**
   * Sends one heartbeat. Returns false, and does not renew the lease, if the lease was safe when the heartbeat was sent
   * and is not safe any more when the answer arrives.
   */
  async #isRenewed(takeOver: boolean): Promise<boolean> {
    const { jobs, by: id, clock, lease, attempts, waiting, gathered, about, cancels } = this.#parts;
    const sentAt = clock.monotonic();
    const running = [...attempts.values()];
    const { isSafe: wasSafe, givenUp } = lease;
    const unstarted = gathered().map(({ id, fence }) => ({ id, fence }));
    const newest = newestOfEach([...running.map(({ holding }) => holding), ...unstarted, ...(wasSafe ? [] : waiting())]);
    const holds = [...newest.values()];
    const published = unstarted.slice(0, publishedMax);
    const aboutNow = { ...about(), ...(published.length === 0 ? {} : { gathered: published }) };
    const beat = { id, leaseMs: lease.durationMs, about: aboutNow, holds, ...(takeOver ? { takeOver } : {}) };
    const names = published.map(nameOf);
    this.#published = new Set([...this.#published, ...names]);
    const { lost, cancelled } = await jobs.store.beat(beat).catch((error: unknown) => {
      if (isRefusal(error) && error.code === 'taken.instance') this.#isRegistered = false;
      throw error;
    });
    this.#isRegistered = true;
    this.#published = new Set(names);
    const lostIds = new Set(lost);
    const isLost = ({ id: job, fence }: Holding): boolean => lostIds.has(job) || newest.get(job)!.fence !== fence;
    // An attempt whose outcome was stored meanwhile is lost, too, but over.
    for (const attempt of running) if (isLost(attempt.holding) && attempts.under(attempt.holding) === attempt) attempt.revoke();
    if (wasSafe && !lease.isSafe) return false;
    lease.renew(sentAt, wasSafe, givenUp);
    this.#noteBeat(holds.filter(({ id: job }) => lostIds.has(job)), wasSafe);
    if (cancelled.length > 0) await cancels.deliver(cancelled);
    return true;
  }

  #noteBeat(lost: readonly Holding[], wasSafe: boolean): void {
    const { onBeat, onReconnect } = this.#parts;
    onBeat(lost);
    if (this.#isDisconnected || !wasSafe) onReconnect();
    this.#isDisconnected = false;
  }

  /** Ends all attempts if the lease is no longer safe: another instance may soon start their jobs. */
  #releaseAttempts(): void {
    const { lease, attempts } = this.#parts;
    if (lease.isSafe) return;
    for (const attempt of attempts.values()) attempt.release();
  }

  /**
   * Starts a timer that ends all attempts if the store does not answer until the lease is unsafe, or within a third of
   * the lease if that is later. Returns a function that stops the timer.
   */
  #releaseAttemptsUnlessAnswered(): () => void {
    const { clock, lease } = this.#parts;
    const waitMs = Math.max(lease.durationMs / 3, lease.safeMs - lease.silenceMs);
    const dueAt = clock.monotonic() + waitMs;
    let disarm = clock.after(waitMs, () => {
      // A late timer means that this process was paused, not that the store is silent: the store gets more time.
      if (clock.monotonic() - dueAt > lease.durationMs / 6) disarm = this.#releaseAttemptsUnlessAnswered();
      else this.#releaseAttempts();
    });
    return () => disarm();
  }
}

/** The store answers with ids, so that it is asked only about the newest claim of a job. */
function newestOfEach(holdings: readonly Holding[]): ReadonlyMap<number, Holding> {
  const newest = new Map<number, Holding>();
  for (const holding of holdings) {
    if (holding.fence > (newest.get(holding.id)?.fence ?? -1)) newest.set(holding.id, holding);
  }
  return newest;
}

const nameOf = ({ id, fence }: Holding): string => `${id}/${fence}`;
