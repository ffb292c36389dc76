/** The lease of this instance, as far as this process knows. When it lapses, others repair this instance's jobs. */
import type { Clock } from '../../time/clock.ts';

export class InstanceLease {
  readonly durationMs: number;
  readonly #clock: Clock;
  #renewedAt: number;
  #isBackedUp = false;
  #epoch = newEpoch();
  readonly #givenUp: () => number;
  #givenUpSeen = 0;

  /** `givenUp` returns the counter of the backup heartbeat: odd while its thread gives up the jobs of this instance. */
  constructor(clock: Clock, durationMs: number, givenUp: () => number = () => 0) {
    this.durationMs = durationMs;
    this.#givenUp = givenUp;
    this.#givenUpSeen = givenUp();
    this.#clock = clock;
    this.#renewedAt = clock.monotonic();
  }

  /** The time since the sending of the last heartbeat that the store has confirmed. */
  get silenceMs(): number {
    return this.#clock.monotonic() - this.#renewedAt;
  }

  /**
   * How long after a heartbeat the lease counts as safe. This is shorter than `durationMs`, because time passes between
   * a check and its effect.
   */
  get safeMs(): number {
    return (this.durationMs * 2) / 3;
  }

  /**
   * Whether the jobs of this instance certainly were neither repaired nor given up: the lease is valid, and the backup
   * heartbeat has given up no jobs since the last confirmed heartbeat was sent.
   */
  get isSafe(): boolean {
    return this.silenceMs < this.safeMs && this.givenUp === this.#givenUpSeen;
  }

  /**
   * A token that changes whenever the lease may have lapsed; null while the lease may have lapsed, and until the backup
   * heartbeat is ready. Compare the token before and after an await: if it is unchanged, no other instance has repaired
   * the jobs of this one.
   */
  get epoch(): symbol | null {
    return this.#isBackedUp && this.isSafe ? this.#epoch : null;
  }

  /**
   * Call when the backup heartbeat is ready, or certainly never will be. Once it is ready, an event loop that is
   * blocked for less than `blockedMax` does not make the lease lapse, unless the thread gives up the jobs.
   */
  backUp(): void {
    this.#isBackedUp = true;
  }

  get givenUp(): number {
    return this.#givenUp();
  }

  /**
   * Call when the store has confirmed a heartbeat. The arguments describe the moment of its sending: the time, whether
   * the lease was safe, and the value of `givenUp`.
   */
  renew(sentAt: number, wasSafe: boolean, givenUp: number): void {
    this.#renewedAt = sentAt;
    if (givenUp % 2 === 0) this.#givenUpSeen = givenUp;
    if (!wasSafe) this.#epoch = newEpoch();
  }
}

const newEpoch = (): symbol => Symbol('lease epoch');
