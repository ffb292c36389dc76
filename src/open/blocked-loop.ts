/**
 * The reaction of the heartbeat thread to a blocked event loop: it fails attempts that have exceeded their timeout, and
 * gives up the other jobs of the instance if the loop stays blocked after that.
 *
 * While the event loop is not blocked, a timer of the main thread ends each attempt at its timeout. If an attempt still
 * runs some time after its timeout, the loop must therefore be blocked.
 */
import { isChange, type CommandRequest } from '../apply.ts';
import type { LimitedAttempt } from '../engine/attempt/time-limits.ts';
import { conclude } from '../jobs/work.ts';
import type { Job } from '../model/job.ts';
import type { Store } from '../store/store.ts';

export interface BlockedLoopParts {
  readonly store: Store;
  readonly instance: string;
  readonly leaseMs: number;
  /** Called before the first job is given up. */
  readonly onGivingUp: () => void;
  /** Called after the last job was given up, or after an error. */
  readonly onGivenUp: () => void;
}

export interface BlockedReport {
  readonly timedOut: readonly number[];
  readonly givenUp: readonly number[];
}

interface Seen {
  readonly since: number;
  /** When this thread first saw that the attempt has exceeded its timeout; null: not exceeded. */
  overdueSince: number | null;
  isEnforced: boolean;
}

/**
 * The time that the main thread gets to end an overdue attempt: after a pause of the whole process, timers are late.
 */
const graceMs = 1_000;
const heldBatch = 500;

export class BlockedLoop {
  readonly #parts: BlockedLoopParts;
  #seen = new Map<string, Seen>();
  #isGivenUp = false;

  constructor(parts: BlockedLoopParts) {
    this.#parts = parts;
  }

  /**
   * Whether the jobs of this instance were given up and an attempt is still overdue. In that case the lease is not
   * extended.
   */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /**
   * Call repeatedly with the attempts that run now. Fails overdue attempts, and gives up the jobs of the instance if
   * the loop stays blocked. Returns the ids of the jobs that it failed or gave up; null: no job was changed.
   */
  async check(running: readonly LimitedAttempt[], now: number): Promise<BlockedReport | null> {
    this.#note(running, now);
    const overdue = running.filter((attempt) => this.#isOverdue(attempt, now));
    if (overdue.length === 0) this.#isGivenUp = false;
    const timedOut = await this.#timeOut(overdue);
    const givenUp = this.#isStuck(overdue, now) ? await this.#giveUp(running, overdue) : [];
    return timedOut.length + givenUp.length === 0 ? null : { timedOut, givenUp };
  }

  /**
   * Records in `#seen` which attempts run, and which of them have exceeded their timeout. The time of an attempt
   * counts from when this thread first saw the attempt, because threads do not share a monotonic clock.
   */
  #note(running: readonly LimitedAttempt[], now: number): void {
    const seen = new Map<string, Seen>();
    for (const { name, timeoutMs } of running) {
      const known = this.#seen.get(name) ?? { since: now, overdueSince: null, isEnforced: false };
      if (now - known.since > timeoutMs) known.overdueSince ??= now;
      seen.set(name, known);
    }
    this.#seen = seen;
  }

  #isOverdue({ name }: LimitedAttempt, now: number): boolean {
    const { overdueSince } = this.#seen.get(name)!;
    return overdueSince !== null && now - overdueSince >= graceMs;
  }

  async #timeOut(overdue: readonly LimitedAttempt[]): Promise<readonly number[]> {
    const open = overdue.filter(({ name }) => !this.#seen.get(name)!.isEnforced);
    if (open.length === 0) return [];
    const changed = await this.#conclude(open.map((attempt) => ({ job: attempt.id, command: timeout(attempt) })));
    for (const { name } of open) this.#seen.get(name)!.isEnforced = true;
    return changed;
  }

  /**
   * Whether an attempt has been overdue for so long that the jobs must be given up: for a third of the lease if the
   * event loop is known to be inside the handler of this attempt. If not, for two thirds of the lease, because another
   * handler, which is not overdue, may block the loop.
   */
  #isStuck(overdue: readonly LimitedAttempt[], now: number): boolean {
    if (this.#isGivenUp) return false;
    const { leaseMs } = this.#parts;
    return overdue.some(({ name, isInHandler }) =>
      now - this.#seen.get(name)!.overdueSince! >= (isInHandler ? leaseMs / 3 : (leaseMs * 2) / 3));
  }

  async #giveUp(running: readonly LimitedAttempt[], overdue: readonly LimitedAttempt[]): Promise<readonly number[]> {
    const { store, instance, onGivingUp, onGivenUp } = this.#parts;
    const isBlockerKnown = overdue.some(({ isInHandler }) => isInHandler);
    const suspects = new Set(isBlockerKnown ? [] : running.map(({ id }) => id));
    const givenUp: number[] = [];
    onGivingUp();
    try {
      for (;;) {
        const held = await store.heldUnderLeaseOf(instance, heldBatch);
        const changed = await this.#conclude(held.map((job) => ({ job, command: giveUp(job, suspects.has(job.id)) })));
        givenUp.push(...changed);
        if (held.length < heldBatch || changed.length === 0) break;
      }
      // Only now: after an error of the store, the next check continues to give up jobs.
      this.#isGivenUp = true;
      return givenUp;
    } finally {
      onGivenUp();
    }
  }

  async #conclude(requests: readonly CommandRequest[]): Promise<readonly number[]> {
    const { store, instance } = this.#parts;
    const why = `the event loop of ${instance} is blocked`;
    const answers = await conclude(store, requests, { by: instance, why });
    return answers.filter(isChange).map(({ after }) => after!.id);
  }
}

const timeout = ({ fence, timeoutMs, isInHandler }: LimitedAttempt): CommandRequest['command'] => {
  const how = isInHandler ? 'and blocks the event loop' : 'while the event loop was blocked';
  const error = { code: 'timed out', message: `the attempt took longer than ${timeoutMs} ms ${how}` } as const;
  return { do: 'fail', fence, retryable: true, error };
};

/**
 * Returns the command that gives up a job. `isSuspect`: the handler of the job may block the event loop. Such a job
 * gets the command `lapse`, which counts as a crash, so that the job cannot block one instance after another. Every
 * other job is released; its attempt does not count.
 */
const giveUp = ({ fence }: Job, isSuspect: boolean): CommandRequest['command'] =>
  isSuspect ? { do: 'lapse', fence } : { do: 'release', fence };
