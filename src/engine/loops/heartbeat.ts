/** The heartbeat: renews the instance lease, and aborts attempts whose lease was lost or may have lapsed. */
import type { Jobs } from '../../jobs.ts';
import type { Holding, InstanceAbout } from '../../store/store.ts';
import type { Attempt } from '../work/attempt.ts';
import { deliverCancels } from './cancel-delivery.ts';
import type { LoopParts } from '../../time/loop.ts';

export interface CancellerParts extends LoopParts {
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
  readonly onReturn: () => void;
}

const lookMs = 500;

/** Others may take over when a lease is over: long enough before that, this instance must not believe in its own. */
const trustOf = (leaseMs: number): number => (leaseMs * 2) / 3;

export class Canceller {
  readonly #parts: CancellerParts;
  #beatAt: number;
  #isAway = false;
  #trust = Symbol('trust');

  constructor(parts: CancellerParts) {
    this.#parts = parts;
    this.#beatAt = parts.clock.monotonic();
  }

  /** How long ago the store last confirmed that this instance lives. */
  get silenceMs(): number {
    return this.#parts.clock.monotonic() - this.#beatAt;
  }

  /** Whether to believe that the jobs held here are still ours. */
  get isTrusted(): boolean {
    return this.silenceMs < trustOf(this.#parts.leaseMs);
  }

  /** The same as before: since then we have been sure without a break that what is held here is ours. Null: we are not. */
  get trust(): symbol | null {
    return this.isTrusted ? this.#trust : null;
  }

  async turn(): Promise<number> {
    const { attempts, leaseMs } = this.#parts;
    const untilBeatMs = leaseMs / 3 - this.silenceMs;
    // The first attempt after a rest must not wait for the next beat to hear of a cancel; looking costs the store nothing.
    if (attempts.size === 0 && untilBeatMs > 0) return Math.min(lookMs, untilBeatMs);
    const answered = this.#fenceOffUnlessAnswered();
    try {
      await this.beat();
    } catch (error) {
      this.#isAway = true;
      this.#fenceOff();
      throw error;
    } finally {
      answered();
    }
    return lookMs;
  }

  /** Renews the instance's lease and acts on what the store says of the jobs held. */
  async beat(): Promise<void> {
    const { jobs, by: id, leaseMs, about, clock, onBeat } = this.#parts;
    const sentAt = clock.monotonic();
    const attempts = [...this.#parts.attempts.values()];
    const wasTrusted = this.isTrusted;
    const holds = [...attempts.map(({ holding }) => holding), ...(wasTrusted ? [] : this.#parts.waiting())];
    const { lost, cancelled } = await jobs.store.beat({ id, leaseMs, about: about(), holds });
    this.#beatAt = sentAt;
    if (!wasTrusted) this.#trust = Symbol('trust');
    const gone = new Set(lost);
    for (const attempt of attempts) if (gone.has(attempt.job.id)) attempt.lose();
    onBeat(gone);
    if (this.#isAway || !wasTrusted) this.#parts.onReturn();
    this.#isAway = false;
    if (cancelled.length > 0) await deliverCancels(this.#parts, cancelled);
  }

  /** The store cannot be asked: before others may take over, what runs here is told that it lost its lease. */
  #fenceOff(): void {
    if (this.isTrusted) return;
    for (const attempt of this.#parts.attempts.values()) attempt.doubt();
  }

  /** The same while an answer is owed; what is called when there is one. */
  #fenceOffUnlessAnswered(): () => void {
    const { clock, leaseMs } = this.#parts;
    const waitMs = Math.max(leaseMs / 3, trustOf(leaseMs) - this.silenceMs);
    const due = clock.monotonic() + waitMs;
    let disarm = clock.after(waitMs, () => {
      // A timer that is late tells of a pause of this process and not of the store: that is given time to answer.
      if (clock.monotonic() - due > leaseMs / 6) disarm = this.#fenceOffUnlessAnswered();
      else this.#fenceOff();
    });
    return () => disarm();
  }
}
