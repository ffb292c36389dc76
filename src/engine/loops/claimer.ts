/**
 * The claimer: keeps the slots supplied. Short jobs are claimed ahead, enough for a few milliseconds of work, so that
 * round trips do not set the pace; long jobs are claimed only when a slot is free.
 */
import type { Jobs } from '../../jobs.ts';
import { Turnstile, type Limits } from '../../model/gate.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { ClaimAsk } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { giveBackFoundlings, type Cause } from './foundlings.ts';
import type { Slots } from './slots.ts';

export interface ClaimerParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly types: readonly string[];
  readonly slots: Slots<RunningJob>;
  /** Whether this job runs here. */
  readonly isRunning: (job: Job) => boolean;
  /** How many outcomes are still to be stored. */
  readonly concluding: () => number;
  readonly limits: () => Limits;
  readonly isLeader: () => boolean;
  /** Whether claiming makes sense now: the instance's own lease is known to live. */
  readonly mayClaim: () => boolean;
}

const pollMs = 5_000;
const limitedPollMs = 500;
const claimMax = 1000;
const aheadMs = 15;
/** Beyond this the store does not keep up with the handlers: claiming more would only grow the pile. */
const concludingMax = 2000;

interface Doubt {
  readonly cause: Cause;
  readonly until: number;
}

export class Claimer {
  readonly #parts: ClaimerParts;
  #handlerMs = 50;
  /** Whether there are limits: as far as the code says, or claimed jobs have shown. */
  #hasGates: boolean;
  /** Why there may be jobs in our name that we know nothing of, and until when more of them may come to light. */
  #doubt: Doubt | null = { cause: 'former life', until: -Infinity };

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    const { types, defs, keys } = parts.limits();
    this.#hasGates = types.size + defs.size + keys.size > 0;
  }

  /** How long a handler took: what is claimed ahead follows the average. */
  learn(handlerMs: number): void {
    this.#handlerMs += (handlerMs - this.#handlerMs) * 0.05;
  }

  /** Whether there is room for more jobs. */
  get isShort(): boolean {
    return this.#wanted() > 0;
  }

  async turn(): Promise<number> {
    const { slots, mayClaim } = this.#parts;
    if (this.#parts.types.length === 0 || !mayClaim()) return pollMs;
    if (this.#doubt) await this.#clearUp(this.#doubt);
    const wanted = this.#wanted();
    if (wanted <= 0) return pollMs;
    const claimed = await this.#claim(wanted);
    slots.add(claimed);
    this.#hasGates ||= claimed.some(({ gate }) => gate !== null);
    if (claimed.length === wanted) return 0;
    return claimed.length > 0 && this.#wanted() > 0 ? 0 : this.#untilNextDue();
  }

  async #claim(limit: number): Promise<readonly RunningJob[]> {
    const { jobs, by, clock, leaseMs } = this.#parts;
    try {
      return await jobs.claim({ ...this.#ask(limit), holder: by, leaseMs: null });
    } catch (error) {
      // It may have been written all the same, or still be on its way.
      this.#doubt = { cause: 'lost answer', until: clock.monotonic() + leaseMs };
      throw error;
    }
  }

  async #clearUp(doubt: Doubt): Promise<void> {
    const { jobs, by, slots, isRunning, clock } = this.#parts;
    const isWaiting = ({ id, fence }: Job): boolean => slots.queue.some((job) => job.id === id && job.fence === fence);
    const isKnown = (job: Job): boolean => isRunning(job) || isWaiting(job);
    await giveBackFoundlings(jobs, by, isKnown, doubt.cause);
    if (clock.monotonic() >= doubt.until) this.#doubt = null;
  }

  #wanted(): number {
    const { slots, concluding } = this.#parts;
    if (concluding() > concludingMax) return 0;
    const ahead = Math.min(Math.floor((slots.size * aheadMs) / Math.max(this.#handlerMs, 0.01)), claimMax);
    const room = slots.free + ahead - slots.waiting;
    // A trickle of single claims would cost a round trip each: a buffer is refilled when half of it is used up.
    return ahead > slots.size && slots.waiting > ahead / 2 ? 0 : Math.min(room, claimMax);
  }

  #ask(limit: number): ClaimAsk {
    const { types, limits, isLeader } = this.#parts;
    return { kinds: ['run', 'task'], names: { exact: types }, limit, limits: limits(), isLeader: isLeader() };
  }

  async #untilNextDue(): Promise<number> {
    const { jobs, types } = this.#parts;
    const due = await jobs.store.nextDue({ kinds: ['run', 'task'], names: { exact: types } });
    const poll = (await this.#isGateFull()) ? limitedPollMs : pollMs;
    return due === null ? poll : Math.min(poll, Math.max(1, due - jobs.store.now()));
  }

  /** Jobs may be waiting at a limit that is used up: when another instance makes room, nobody tells us. */
  async #isGateFull(): Promise<boolean> {
    if (!this.#hasGates) return false;
    const { jobs, types, limits } = this.#parts;
    const behind = await jobs.store.behindGates(types);
    const turnstile = new Turnstile(behind, limits(), true);
    return behind.keys().some((gate) => turnstile.room(gate) === 0);
  }
}
