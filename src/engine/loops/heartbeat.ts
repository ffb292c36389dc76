/** The heartbeat: renews the instance lease, and aborts attempts whose lease was lost or may have lapsed. */
import type { Jobs } from '../../jobs.ts';
import type { Holding, InstanceAbout } from '../../store/store.ts';
import type { Attempt } from '../work/attempt.ts';
import { deliverCancels } from './cancel-delivery.ts';
import type { LoopParts } from '../../time/loop.ts';

export interface HeartbeatParts extends LoopParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly leaseMs: number;
  readonly attempts: ReadonlyMap<number, Attempt>;
  /** Jobs that were claimed and wait for a slot: they are held too. */
  readonly waiting: () => readonly Holding[];
  readonly about: () => InstanceAbout;
  /** The store confirmed that this instance lives; of the jobs that it believed to hold, these it does not. */
  readonly onBeat: (lost: ReadonlySet<number>) => void;
  /** The store answers again, after it did not or we could not ask. */
  readonly onReconnect: () => void;
}

const pollMs = 500;

/** Others may repair our jobs once the lease has lapsed: after this part of it we no longer rely on it. */
const leaseSafeMs = (leaseMs: number): number => (leaseMs * 2) / 3;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #beatAt: number;
  #isDisconnected = false;
  #leaseEpoch = Symbol('lease epoch');

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#beatAt = parts.clock.monotonic();
  }

  /** How long ago the store last confirmed that this instance lives. */
  get silenceMs(): number {
    return this.#parts.clock.monotonic() - this.#beatAt;
  }

  /** Whether the lease has not lapsed, with a margin: the jobs held here are still ours. */
  get isLeaseSafe(): boolean {
    return this.silenceMs < leaseSafeMs(this.#parts.leaseMs);
  }

  /** A token that changes whenever our lease may have lapsed; null while it may have. Compare it across an await. */
  get leaseEpoch(): symbol | null {
    return this.isLeaseSafe ? this.#leaseEpoch : null;
  }

  async turn(): Promise<number> {
    const { attempts, leaseMs } = this.#parts;
    const untilBeatMs = leaseMs / 3 - this.silenceMs;
    // The first attempt after a rest must not wait for the next beat to hear of a cancel; looking costs the store nothing.
    if (attempts.size === 0 && untilBeatMs > 0) return Math.min(pollMs, untilBeatMs);
    const answered = this.#abortAttemptsUnlessAnswered();
    try {
      await this.beat();
    } catch (error) {
      this.#isDisconnected = true;
      this.#abortAttempts();
      throw error;
    } finally {
      answered();
    }
    return pollMs;
  }

  /** Renews the instance's lease and acts on what the store says of the jobs held. */
  async beat(): Promise<void> {
    const { jobs, by: id, leaseMs, about, clock, onBeat } = this.#parts;
    const sentAt = clock.monotonic();
    const attempts = [...this.#parts.attempts.values()];
    const wasLeaseSafe = this.isLeaseSafe;
    const holds = [...attempts.map(({ holding }) => holding), ...(wasLeaseSafe ? [] : this.#parts.waiting())];
    const { lost, cancelled } = await jobs.store.beat({ id, leaseMs, about: about(), holds });
    this.#beatAt = sentAt;
    if (!wasLeaseSafe) this.#leaseEpoch = Symbol('lease epoch');
    const gone = new Set(lost);
    for (const attempt of attempts) if (gone.has(attempt.job.id)) attempt.revoke();
    onBeat(gone);
    if (this.#isDisconnected || !wasLeaseSafe) this.#parts.onReconnect();
    this.#isDisconnected = false;
    if (cancelled.length > 0) await deliverCancels(this.#parts, cancelled);
  }

  /** The store does not answer: before others may repair our jobs, their attempts are aborted. */
  #abortAttempts(): void {
    if (this.isLeaseSafe) return;
    for (const attempt of this.#parts.attempts.values()) attempt.abandon();
  }

  /** The same while a reply is outstanding; the result is called when it arrives. */
  #abortAttemptsUnlessAnswered(): () => void {
    const { clock, leaseMs } = this.#parts;
    const waitMs = Math.max(leaseMs / 3, leaseSafeMs(leaseMs) - this.silenceMs);
    const due = clock.monotonic() + waitMs;
    let disarm = clock.after(waitMs, () => {
      // A timer that is late tells of a pause of this process and not of the store: that is given time to answer.
      if (clock.monotonic() - due > leaseMs / 6) disarm = this.#abortAttemptsUnlessAnswered();
      else this.#abortAttempts();
    });
    return () => disarm();
  }
}
