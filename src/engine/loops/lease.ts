/** The lease of this instance, as far as this process knows. After it has lapsed, other instances repair its jobs. */
import type { Clock } from '../../time/clock.ts';

export class InstanceLease {
  readonly durationMs: number;
  readonly #clock: Clock;
  #renewedAt: number;
  #isBackedUp = false;
  #epoch = newEpoch();
  readonly #givenUp: () => number;
  #givenUpSeen = 0;

  /** `givenUp` rises when another thread gives up the jobs of this instance; odd while it does so. */
  constructor(clock: Clock, durationMs: number, givenUp: () => number = () => 0) {
    this.durationMs = durationMs;
    this.#givenUp = givenUp;
    this.#givenUpSeen = givenUp();
    this.#clock = clock;
    this.#renewedAt = clock.monotonic();
  }

  /** Time since the last heartbeat that the store has confirmed was sent. */
  get silenceMs(): number {
    return this.#clock.monotonic() - this.#renewedAt;
  }

  /** Shorter than the lease, because time passes between a check and its effect. */
  get safeMs(): number {
    return (this.durationMs * 2) / 3;
  }

  /** Whether the lease has certainly not lapsed: the jobs claimed by this instance are still its own. */
  get isSafe(): boolean {
    return this.silenceMs < this.safeMs && this.givenUp === this.#givenUpSeen;
  }

  /**
   * A token that changes whenever the lease may have lapsed; null while it may have, and until the backup heartbeat
   * runs. Compare it before and after an await: while it is unchanged, no other instance repairs the jobs of this one.
   */
  get epoch(): symbol | null {
    return this.#isBackedUp && this.isSafe ? this.#epoch : null;
  }

  /** From now on a blocked event loop does not cost the lease. */
  backUp(): void {
    this.#isBackedUp = true;
  }

  get givenUp(): number {
    return this.#givenUp();
  }

  /** The store has confirmed a heartbeat: when it was sent, and whether the lease was safe and `givenUp` then. */
  renew(sentAt: number, wasSafe: boolean, givenUp: number): void {
    this.#renewedAt = sentAt;
    if (givenUp % 2 === 0) this.#givenUpSeen = givenUp;
    if (!wasSafe) this.#epoch = newEpoch();
  }
}

const newEpoch = (): symbol => Symbol('lease epoch');
