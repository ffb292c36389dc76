/**
 * Long polls: requests of workers that wait for jobs. Requests that differ at most in `limit` form a group. One claim
 * serves the requests of a group, in order of arrival. A group is served when a request joins it, when the store
 * reports a claimable job (also after the repair of a lapsed lease), when a job for the group becomes due, and at
 * intervals.
 */
import { Loop } from '../time/loop.ts';
import type { Logger } from '../logger.ts';
import { systemRandom } from '../random.ts';
import { handOutMax } from '../jobs/bedrock/check.ts';
import { checkHandOut, type HandedOut, type HandOut, type HandOutRequest } from '../jobs/bedrock/hand-out.ts';
import type { Queue } from '../jobs/bedrock/queue.ts';
import { repairBatch, repairLapsed } from '../jobs/repair.ts';
import type { Jobs } from '../jobs.ts';
import type { Glob } from '../model/glob.ts';
import type { RunningJob } from '../model/job.ts';
import type { Clock } from '../time/clock.ts';
import type { BedrockCaller } from './caller.ts';
import { LapseTimes, lapseMs } from './lapse-times.ts';

/** The request of a worker. The holder and the patterns of CrashBedrockJob are added when jobs are claimed. */
export type PollRequest = Omit<HandOutRequest, 'holder' | 'crashing'>;

export interface LongPollsParts {
  readonly jobs: Jobs;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashing: ReadonlyMap<string, Glob>;
  /** The actor that histories record for repairs and releases. */
  readonly by: string;
}

interface Waiter {
  readonly caller: BedrockCaller;
  readonly limit: number;
  isOver: boolean;
  end(handed: readonly HandedOut[]): void;
}

interface PollGroup {
  readonly name: string;
  readonly request: PollRequest;
  readonly waiters: Set<Waiter>;
  /** Whether a waiter has joined since the group was last served. */
  isFresh: boolean;
  /** The store time of the last search for jobs of this group. */
  searchedAt: number;
  /**
   * When the next job for this group becomes due, or an earlier time at which to ask again; null: no job is due later.
   */
  nextDue: number | null;
}

/** `serve` makes at most this many claims before it returns without a job. */
const missesMax = 20;
/** The interval at which all groups are served even without a wake-up, because wake-ups can be lost. */
const longPollMs = 5_000;

export class LongPolls {
  readonly #parts: LongPollsParts;
  readonly #groups = new Map<string, PollGroup>();
  readonly #loop: Loop;
  readonly #lapses = new LapseTimes();
  /** The latest repair, which may still be running. If no check is due, `#repair` waits for this repair instead. */
  #repairing: Promise<void> = Promise.resolve();
  /** The check that `#checkAgain` requested and that has not begun yet; null: there is none. */
  #nextCheck: Promise<void> | null = null;
  /** Whether all groups must be served: the store has reported a claimable job, or serving a group failed. */
  #mayHaveJobs = false;
  #servedAt = 0;
  readonly #handOuts = new Set<Promise<HandOut>>();
  /** How many jobs were handed out with a lease that ended when it began (`retryAfter: +0 SECONDS`). */
  #lapsedAtOnce = 0;
  /** How many claims have handed out a job. */
  #hits = 0;
  /** How many jobs the checks for lapsed leases have repaired. */
  #repaired = 0;
  #stopListening = (): void => {};

  constructor(parts: LongPollsParts) {
    this.#parts = parts;
    const { clock, logger } = parts;
    this.#loop = new Loop('Bedrock long polls', { clock, logger, random: systemRandom }, () => this.#turn());
  }

  start(): void {
    this.#stopListening = this.#parts.jobs.store.onWake(() => this.#wake());
    this.#loop.start();
  }

  /** Ends all waits: the workers get no job. Jobs that are being claimed for a waiter are released. */
  async stop(): Promise<void> {
    this.#stopListening();
    for (const { waiters } of this.#groups.values()) for (const waiter of waiters) waiter.end([]);
    await this.#loop.stop();
  }

  get size(): number {
    return this.#groups.values().reduce((sum, { waiters }) => sum + waiters.size, 0);
  }

  /**
   * Hands out jobs that are due now. A claim that found nothing is repeated in three cases:
   * - A concurrent claim handed out a job with `retryAfter: +0 SECONDS`. The lease of such a job has no duration, so
   *   the job is due again; but a claim skips the row of the job while another claim has locked the row.
   * - Meanwhile a check for lapsed leases has repaired jobs: an earlier one, that of another request, or the one that
   *   follows the claim. Another server may have granted these leases.
   * - A concurrent claim handed out a job. Each claim skips rows that others have locked, so jobs may be left. When a
   *   repair ends, all requests that waited for it make their claims at the same time.
   */
  async serve(request: PollRequest, caller: BedrockCaller): Promise<HandOut> {
    let isChecked = false;
    for (let misses = 1; ; misses++) {
      const before = { lapsedAtOnce: this.#lapsedAtOnce, hits: this.#hits, repaired: this.#repaired };
      isChecked = (await this.#repair()) || isChecked;
      const found = await this.#handOut(request, caller.name);
      if (found.handed.length + found.failed > 0 || misses === missesMax) return found;
      await Promise.allSettled(this.#handOuts);
      if (this.#lapsedAtOnce > before.lapsedAtOnce || this.#hits > before.hits) continue;
      if (!isChecked) await this.#checkAgain();
      isChecked = true;
      if (this.#repaired === before.repaired) return found;
    }
  }

  /**
   * Waits for jobs and returns them; empty: `waitMs` passed, the caller disconnected, or the server stops. Throws a
   * refusal at once if the request is invalid.
   */
  async wait(request: PollRequest, caller: BedrockCaller, waitMs: number): Promise<readonly HandedOut[]> {
    checkHandOut({ ...request, holder: caller.name });
    return new Promise((resolve) => {
      let stopTimer = (): void => {};
      let stopWatching = (): void => {};
      const group = this.#groupFor(request);
      const waiter: Waiter = {
        caller,
        limit: request.limit,
        isOver: false,
        end: (handed) => {
          if (waiter.isOver) return;
          waiter.isOver = true;
          stopTimer();
          stopWatching();
          this.#leave(group, waiter);
          resolve(handed);
        },
      };
      group.waiters.add(waiter);
      group.isFresh = true;
      stopTimer = this.#parts.clock.after(waitMs, () => waiter.end([]));
      stopWatching = caller.whenGone(() => waiter.end([]));
      this.#loop.wake();
    });
  }

  #wake(): void {
    if (this.#groups.size === 0) return;
    this.#mayHaveJobs = true;
    this.#loop.wake();
  }

  #groupFor(request: PollRequest): PollGroup {
    const { limit: _limit, ...same } = request;
    const name = JSON.stringify(same);
    const fresh = { name, request, waiters: new Set<Waiter>(), isFresh: true, searchedAt: 0, nextDue: null };
    const group: PollGroup = this.#groups.get(name) ?? fresh;
    this.#groups.set(name, group);
    return group;
  }

  #leave(group: PollGroup, waiter: Waiter): void {
    group.waiters.delete(waiter);
    if (group.waiters.size === 0 && this.#groups.get(group.name) === group) this.#groups.delete(group.name);
  }

  async #turn(): Promise<number> {
    if (this.#groups.size === 0) return Infinity;
    await this.#repair();
    const now = this.#parts.jobs.store.now();
    const isAllDue = this.#mayHaveJobs || Math.abs(now - this.#servedAt) >= longPollMs;
    if (isAllDue) this.#servedAt = now;
    this.#mayHaveJobs = false;
    const due = [...this.#groups.values()].filter((group) => isAllDue || group.isFresh || isDue(group, now));
    await this.#serveAll(due);
    return this.#msUntilNextTurn();
  }

  /** Serves the groups concurrently, so that the store can write their claims in one transaction. */
  async #serveAll(groups: readonly PollGroup[]): Promise<void> {
    const outcomes = await Promise.allSettled(groups.map((group) => this.#serveGroup(group)));
    const failure = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failure === undefined) return;
    this.#mayHaveJobs = true;
    throw failure.reason;
  }

  async #serveGroup(group: PollGroup): Promise<void> {
    group.isFresh = false;
    for (let isMore = true; isMore && group.waiters.size > 0; ) isMore = await this.#serveOnce(group);
    if (group.waiters.size === 0) return;
    group.nextDue = await this.#parts.jobs.store.nextDue(claimable(group.request), group.searchedAt);
  }

  /**
   * Makes one claim for the waiters of a group. Returns whether another claim may find more: this claim found all jobs
   * that it asked for, or a job failed instead of being handed out.
   */
  async #serveOnce(group: PollGroup): Promise<boolean> {
    const { request, waiters } = group;
    const requests = requestsOf(waiters);
    const all = { ...request, limit: requests.length };
    const { handed, failed, searchedAt } = await this.#handOut(all, (served) => requests[served]!.caller.name);
    group.searchedAt = searchedAt;
    const byHolder = Map.groupBy(handed, ({ job }) => job.lease.holder);
    const gone: HandedOut[] = [];
    for (const waiter of new Set(requests)) {
      const jobs = byHolder.get(waiter.caller.name) ?? [];
      if (waiter.isOver) gone.push(...jobs);
      else if (jobs.length > 0) waiter.end(jobs);
    }
    if (gone.length > 0) await this.#parts.queue.release(gone.map(({ job }) => job), { by: this.#parts.by });
    return failed > 0 || handed.length === requests.length;
  }

  async #handOut(request: PollRequest, holder: HandOutRequest['holder']): Promise<HandOut> {
    const crashing = [...this.#parts.crashing.values()];
    const handOut = this.#parts.queue.handOut({ ...request, holder, crashing });
    this.#handOuts.add(handOut);
    try {
      const found = await handOut;
      for (const { job } of found.handed) this.#note(job);
      if (found.handed.length > 0) this.#hits += 1;
      return found;
    } finally {
      this.#handOuts.delete(handOut);
    }
  }

  #note({ lease: { until }, startedAt }: RunningJob): void {
    this.#lapses.note(until);
    if (until !== null && startedAt !== null && until <= startedAt) this.#lapsedAtOnce += 1;
  }

  /**
   * If a check is due, repairs jobs whose lease has lapsed, so that they can be handed out again. If no check is
   * due, waits for the latest repair. Returns whether a check was due.
   */
  async #repair(): Promise<boolean> {
    const now = this.#parts.jobs.store.now();
    const isCheckDue = this.#lapses.isCheckDue(now);
    await (isCheckDue ? this.#repairAfterLatest(now) : this.#repairing);
    return isCheckDue;
  }

  /**
   * Checks for lapsed leases although no check is due. If the check of an earlier call has not begun yet, both calls
   * share that check.
   */
  #checkAgain(): Promise<void> {
    if (this.#nextCheck === null) {
      this.#nextCheck = this.#repairAfterLatest(this.#parts.jobs.store.now(), () => void (this.#nextCheck = null));
    }
    return this.#nextCheck;
  }

  #repairAfterLatest(since: number, onBegin = (): void => {}): Promise<void> {
    const repair = (): Promise<void> => {
      onBegin();
      return this.#repairAll(since);
    };
    this.#repairing = this.#repairing.then(repair, repair);
    return this.#repairing;
  }

  async #repairAll(since: number): Promise<void> {
    const { jobs, by } = this.#parts;
    try {
      for (let some = repairBatch; some === repairBatch; this.#repaired += some) {
        some = await repairLapsed(jobs.store, by);
      }
    } catch (error) {
      // Some lapsed leases may not be repaired yet, so the next call of `#repair` must check again.
      this.#lapses.note(since);
      throw error;
    }
  }

  #msUntilNextTurn(): number {
    const now = this.#parts.jobs.store.now();
    const dues = [...this.#groups.values()].flatMap(({ nextDue }) => nextDue ?? []);
    return Math.max(1, dues.reduce((sooner, due) => Math.min(sooner, due - now), lapseMs));
  }
}

/** Returns the waiter of each job to claim: in order of arrival, each waiter `limit` times; at most `handOutMax`. */
function requestsOf(waiters: ReadonlySet<Waiter>): Waiter[] {
  const requests: Waiter[] = [];
  for (const waiter of waiters) {
    if (requests.length >= handOutMax) break;
    requests.push(...Array<Waiter>(Math.min(waiter.limit, handOutMax - requests.length)).fill(waiter));
  }
  return requests;
}

const isDue = ({ nextDue }: PollGroup, now: number): boolean => nextDue !== null && nextDue <= now;

const claimable = ({ names, withMocks }: PollRequest) =>
  ({ kinds: withMocks ? (['bedrock', 'mock'] as const) : (['bedrock'] as const), names });
