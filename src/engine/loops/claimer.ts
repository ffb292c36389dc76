/**
 * The claimer: keeps the slots supplied. Short jobs are claimed ahead, enough for a few milliseconds of work, so that
 * round trips do not set the pace; long jobs are claimed only when a slot is free.
 */
import type { Jobs } from '../../jobs.ts';
import { Turnstile, type Limits } from '../../model/gate.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { ClaimRequest } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { giveBackFoundlings, type Cause } from './unknown-claims.ts';
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
  /** Null: the instance's own lease is not known to live. The same as before: since then it was, all the time. */
  readonly trust: () => symbol | null;
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
  /** Whether the last claim found less than it asked for: until there is news, another would find nothing. */
  #isDry = false;
  /** How many jobs are being created that have a slot already. */
  #expected = 0;
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

  /** Whether there is room for more jobs, and perhaps jobs for it. Who leaves a gate lets another in. */
  get isShort(): boolean {
    return (!this.#isDry || this.#hasGates) && this.#wanted() > 0;
  }

  /** Keeps a slot for a job that is about to be created, if one is free and nobody waits for it. */
  expect(type: string): boolean {
    const { slots, types, trust } = this.#parts;
    const isFree = slots.free - slots.waiting - this.#expected > 0;
    if (!isFree || !this.#isDry || this.#doubt || !types.includes(type) || trust() === null) return false;
    this.#expected += 1;
    return true;
  }

  /** It was created, or not; whether it was may be in doubt. */
  arrived(isInDoubt: boolean): void {
    this.#expected -= 1;
    if (isInDoubt) this.#lostAnswer();
  }

  async turn(): Promise<number> {
    const { slots, trust } = this.#parts;
    this.#isDry = false;
    if (this.#parts.types.length === 0 || trust() === null) return pollMs;
    // Who is about to be born in our name would be taken for a foundling.
    if (this.#doubt && this.#expected === 0) await this.#clearUp(this.#doubt);
    const wanted = this.#wanted();
    if (wanted <= 0) return pollMs;
    const claimed = await this.#claim(wanted);
    this.#hasGates ||= claimed.some(({ gate }) => gate !== null);
    this.#isDry = claimed.length < wanted;
    slots.add(claimed);
    return this.#isDry ? this.#untilNextDue() : 0;
  }

  async #claim(limit: number): Promise<readonly RunningJob[]> {
    const { jobs, by, trust } = this.#parts;
    const before = trust();
    try {
      const claimed = await jobs.claim({ ...this.#ask(limit), holder: by, leaseMs: null });
      if (claimed.length === 0 || (before !== null && trust() === before)) return claimed;
      throw new Error('a claim was answered after the lease of this instance may have run out');
    } catch (error) {
      this.#lostAnswer();
      throw error;
    }
  }

  /** It may have been written all the same, or still be on its way. */
  #lostAnswer(): void {
    const { clock, leaseMs } = this.#parts;
    this.#doubt = { cause: 'lost answer', until: clock.monotonic() + leaseMs };
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
    const room = slots.free + ahead - slots.waiting - this.#expected;
    // A trickle of single claims would cost a round trip each: a buffer is refilled when half of it is used up.
    return ahead > slots.size && slots.waiting > ahead / 2 ? 0 : Math.min(room, claimMax);
  }

  #ask(limit: number): ClaimRequest {
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
    const behind = await jobs.store.admittedPerGate(types);
    const turnstile = new Turnstile(behind, limits(), true);
    return behind.keys().some((gate) => turnstile.room(gate) === 0);
  }
}
