/**
 * The claimer: claims due jobs for the slots. Short jobs are claimed ahead, enough for some milliseconds of work, so
 * that round trips do not limit throughput; long jobs are claimed only when a slot is free. Jobs that were claimed
 * ahead and get no slot are released.
 */
import type { Jobs } from '../../jobs.ts';
import { readFullLimits } from '../../jobs/limits.ts';
import { gatheredBy, noneGathered, repairUnknownClaims, type IsGathered, type UnknownClaimCause } from '../../jobs/repair.ts';
import type { ClaimedJobs } from '../../jobs/work.ts';
import { GateAdmissions, type Limits } from '../../model/gate.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { TypeVersions } from '../../model/type-version.ts';
import type { ClaimRequest, Instance, TypeNames } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import type { Attempts } from '../attempt/attempts.ts';
import { jobsOf, withdrawn, type SlotWork } from '../attempt/job-batch.ts';
import { limitUsesOf } from '../attempt/limit-use.ts';
import type { CanaryShare, Want } from './canary-share.ts';
import type { Gathering } from './gathering.ts';
import type { InstanceLease } from './lease.ts';
import { ShortSearches } from './short-searches.ts';
import type { Slots } from './slots.ts';
import type { StartingJobs } from './starting-jobs.ts';
import { queuedMaxMs, StuckJobs } from './stuck-jobs.ts';

export interface ClaimerParts {
  readonly jobs: Jobs;
  readonly by: string;
  readonly clock: Clock;
  readonly lease: InstanceLease;
  readonly types: readonly string[];
  readonly versions: readonly TypeVersions[];
  /** The types whose jobs are handled in batches, with the size of their batches. */
  readonly batchSizes: ReadonlyMap<string, number>;
  readonly slots: Slots<SlotWork>;
  readonly gathering: Gathering;
  readonly starting: StartingJobs;
  readonly attempts: Attempts;
  /** Called with claimed jobs before they start. */
  readonly onClaimed: (jobs: readonly RunningJob[]) => void;
  /** Releases a job that has not started. Must not reject. */
  readonly release: (job: RunningJob) => Promise<void>;
  readonly pendingOutcomes: () => number;
  readonly limits: () => Limits;
  readonly isLeader: () => boolean;
  readonly isDraining: () => boolean;
  /** Null: the instance starts what it can. */
  readonly canary: CanaryShare | null;
}

const claimPollMs = 5_000;
const limitedPollMs = 500;
/**
 * With 1,000, jobs in flight survive two collections of the young generation and are moved to the old one, which grows to
 * four times what is alive; see bench/LEDGER.md, "at most 500 jobs are claimed ahead".
 */
const aheadMax = 500;
/**
 * Half of what is claimed ahead, so that one half is claimed while the other is executed and stored. Not with gates, whose
 * counts each claim reads: fewer, larger claims take less time there.
 */
const claimMax = aheadMax / 2;
const prefetchMs = 15;

interface UnknownClaims {
  readonly cause: UnknownClaimCause;
  readonly until: number;
}

export class Claimer {
  readonly #parts: ClaimerParts;
  /** The types whose jobs are handled one by one. */
  readonly #singles: readonly string[];
  readonly #stuckJobs: StuckJobs<SlotWork>;
  readonly #shortSearches: ShortSearches;
  #handlerMs = 50;
  #turns = 0;
  #claimed = 0;
  /** Whether some jobs have a gate: the code declares a limit, or a job that was claimed has a gate. */
  #hasGates: boolean;
  /** Whether the last turn returned fewer jobs than requested: probably none was left, so the next turn can wait. */
  #lastClaimWasShort = false;
  #isSearching = false;
  /** Whether the previous process with this name had gathered a job. */
  #isGatheredBefore: IsGathered = noneGathered;
  /**
   * Why the store may have claims that this instance does not know, and until when further ones may appear; null: the
   * store has no such claims.
   */
  #unknownClaims: UnknownClaims | null = { cause: 'previous process', until: -Infinity };

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    this.#singles = parts.types.filter((type) => !parts.batchSizes.has(type));
    this.#stuckJobs = new StuckJobs(parts.slots);
    this.#shortSearches = new ShortSearches(parts.clock);
    const { types, defs, keys } = parts.limits();
    this.#hasGates = types.size + defs.size + keys.size > 0;
  }

  /** Updates the moving average of handler times, which determines how many jobs are claimed ahead. */
  noteHandlerTime(handlerMs: number): void {
    this.#handlerMs += (handlerMs - this.#handlerMs) * 0.05;
  }

  /** Call when a job may be due, before the turn that claims it. */
  noteDue(): void {
    this.#shortSearches.forget();
  }

  /** How many jobs were claimed so far. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Whether the last turn found fewer jobs than it wanted. */
  get wasShort(): boolean {
    return this.#lastClaimWasShort || this.#parts.types.length === 0;
  }

  /**
   * Whether there is room for jobs, and another claim may return some. During a claim its answer is awaited: if it is
   * short, no job is left. Jobs for which there was no room were not searched, so some may be left. With gates, a claim
   * may return jobs even if the last one was short: when a job ends, its gate can admit another job.
   */
  get needsJobs(): boolean {
    if (this.#isSearching && !this.#hasGates) return false;
    const mayFind = (types: readonly string[]): boolean => this.#hasGates || !this.#shortSearches.has(types);
    const { batchSizes, canary } = this.#parts;
    if (batchSizes.size > 0 || canary !== null) return this.#wants().some(({ types }) => mayFind(types));
    // Asked after every job, so that it makes no list if there are no batches.
    return this.#mayClaim && this.#singles.length > 0 && mayFind(this.#singles) && this.#wantedSingles() > 0;
  }

  /**
   * With more unstored outcomes than the slots and what is claimed ahead have at once, the store is slower than the
   * handlers. With a lower bound, claims would wait for commits instead of running beside them.
   */
  get #mayClaim(): boolean {
    const { pendingOutcomes, isDraining, slots } = this.#parts;
    return !isDraining() && pendingOutcomes() <= aheadMax + slots.size;
  }

  /**
   * Whether the last claim returned fewer jobs than requested, and this instance may claim a job of this type now. Jobs
   * of batches are not claimed one by one.
   */
  isCaughtUp(type: string): boolean {
    const { lease, canary } = this.#parts;
    if (canary !== null) return false;
    return this.#lastClaimWasShort && !this.#unknownClaims && this.#singles.includes(type) && lease.epoch !== null;
  }

  /**
   * Call when the answer to a claim was lost. The store may have written the claim, or may still write it. For the
   * duration of a lease, each turn therefore repairs claims that this instance does not know.
   */
  noteUnknownClaims(): void {
    const { clock, lease } = this.#parts;
    this.#unknownClaims = { cause: 'lost answer', until: clock.monotonic() + lease.durationMs };
  }

  /** Call with the last heartbeat of the previous process with this name, before its jobs are repaired. */
  notePrevious(process: Instance | undefined): void {
    if (process?.about.gathered !== undefined) this.#isGatheredBefore = gatheredBy([process]);
  }

  async turn(): Promise<number> {
    const { types, slots, lease, canary } = this.#parts;
    this.#lastClaimWasShort = false;
    if (types.length === 0 || lease.epoch === null) return claimPollMs;
    // While a claim on create is in flight, its job would be mistaken for an unknown claim.
    if (this.#unknownClaims && slots.reserved === 0) await this.#repairUnknownClaims(this.#unknownClaims);
    await this.#releaseStuckJobs();
    await canary?.read();
    const longest = canary === null ? claimPollMs : limitedPollMs;
    const pauseMs = Math.min(await this.#claimOrWait(), longest);
    return slots.waiting > 0 ? Math.min(pauseMs, queuedMaxMs) : pauseMs;
  }

  async #claimOrWait(): Promise<number> {
    const wants = this.#wants();
    if (wants.length === 0) return claimPollMs;
    this.#isSearching = true;
    const searchedAt = await this.#claimAll(wants).finally(() => (this.#isSearching = false));
    return this.#lastClaimWasShort ? this.#untilNextDue(searchedAt) : 0;
  }

  /** Returns the store time of the first search. */
  async #claimAll(wants: readonly Want[]): Promise<number> {
    // Jobs that are claimed first are queued first. So batches and single jobs take turns when few slots are free.
    const first = this.#turns++ % wants.length;
    const inTurns = [...wants.slice(first), ...wants.slice(0, first)];
    const deferrable = this.#deferrable(wants);
    let isShort = true;
    let searchedAt = Infinity;
    for (const want of [...inTurns.filter((each) => !deferrable.has(each)), ...deferrable]) {
      if (!isShort && deferrable.has(want)) continue;
      const noteFound = this.#shortSearches.begin(want);
      const claimed = await this.#claim(want);
      noteFound(claimed.jobs.length);
      this.#start(claimed.jobs);
      if (claimed.jobs.length >= want.limit) isShort = false;
      searchedAt = Math.min(searchedAt, claimed.searchedAt);
    }
    this.#lastClaimWasShort = isShort;
    return searchedAt;
  }

  /** With gates, each end of a job may let another one start; the share of a canary changes with every job. */
  #deferrable(wants: readonly Want[]): ReadonlySet<Want> {
    return this.#hasGates || this.#parts.canary !== null ? new Set() : this.#shortSearches.among(wants);
  }

  #start(claimed: readonly RunningJob[]): void {
    const { slots, gathering, batchSizes, canary, onClaimed } = this.#parts;
    this.#claimed += claimed.length;
    onClaimed(claimed);
    canary?.noteStarted(claimed);
    this.#hasGates ||= claimed.some(({ gate }) => gate !== null);
    if (batchSizes.size === 0) return slots.add(claimed);
    slots.add(claimed.filter(({ type }) => !batchSizes.has(type)));
    gathering.add(claimed.filter(({ type }) => batchSizes.has(type)));
  }

  async #claim(want: Want): Promise<ClaimedJobs> {
    const { jobs, by, lease } = this.#parts;
    const epochBefore = lease.epoch;
    try {
      const claimed = await jobs.claimBatch({ ...this.#request(want), holder: by, leaseMs: null });
      if (claimed.jobs.length === 0 || (epochBefore !== null && lease.epoch === epochBefore)) return claimed;
      throw new Error('the answer to a claim arrived after the lease of this instance may have lapsed');
    } catch (error) {
      this.noteUnknownClaims();
      throw error;
    }
  }

  /** Releases stuck jobs, and claims none ahead until quick handlers have lowered the average again. */
  async #releaseStuckJobs(): Promise<void> {
    const { slots, clock, release } = this.#parts;
    const stuck = this.#stuckJobs.take(clock.monotonic());
    if (stuck.length === 0) return;
    this.#handlerMs = Math.max(this.#handlerMs, slots.size * prefetchMs + 1);
    await Promise.all(stuck.flatMap(withdrawn).map(release));
  }

  async #repairUnknownClaims(unknown: UnknownClaims): Promise<void> {
    const { jobs, by, slots, gathering, starting, attempts, clock } = this.#parts;
    const unstarted = [...slots.queue.flatMap(jobsOf), ...gathering.jobs, ...starting.jobs];
    const waiting = new Map(unstarted.map(({ id, fence }) => [id, fence]));
    const has = (job: Job): boolean => attempts.under(job) !== undefined || waiting.get(job.id) === job.fence;
    await repairUnknownClaims(jobs.store, by, { count: attempts.size + waiting.size, has }, unknown.cause, this.#isGatheredBefore);
    if (clock.monotonic() >= unknown.until) this.#unknownClaims = null;
  }

  #wants(): readonly Want[] {
    if (!this.#mayClaim) return [];
    const { canary } = this.#parts;
    const wants = [{ types: this.#singles, limit: this.#wantedSingles() }, ...this.#wantedForBatches()]
      .filter(({ types, limit }) => types.length > 0 && limit > 0);
    return canary === null ? wants : wants.flatMap((want) => canary.narrowed(want));
  }

  #wantedSingles(): number {
    const { slots } = this.#parts;
    const prefetch = Math.min(Math.floor((slots.size * prefetchMs) / Math.max(this.#handlerMs, 0.01)), aheadMax);
    const room = slots.unreserved + prefetch;
    // The prefetch buffer is refilled only when half of it is used, since each claim costs a round trip.
    return prefetch > slots.size && slots.waiting > prefetch / 2 ? 0 : Math.min(room, this.#hasGates ? aheadMax : claimMax);
  }

  /** For each free slot, a full batch of each type is wanted; jobs that are gathered already count. */
  #wantedForBatches(): readonly Want[] {
    const { slots, gathering, batchSizes } = this.#parts;
    const room = (type: string, size: number): number => size * Math.max(0, slots.unreserved) - gathering.count(type);
    return [...batchSizes].map(([type, size]) => ({ types: [type], limit: Math.min(room(type, size), aheadMax) }));
  }

  #names(types: readonly string[], versions = this.#parts.versions): TypeNames {
    return { exact: types, ...(versions.length === 0 ? {} : { versions }) };
  }

  #request({ types, limit, versions }: Want): ClaimRequest {
    const { limits, isLeader } = this.#parts;
    return { kinds: ['run', 'task'], names: this.#names(types, versions), limit, limits: limits(), isLeader: isLeader() };
  }

  async #untilNextDue(searchedAt: number): Promise<number> {
    const { jobs, types } = this.#parts;
    const due = await jobs.store.nextDue({ kinds: ['run', 'task'], names: this.#names(types) }, searchedAt);
    const poll = (await this.#isAnyGateFull()) ? limitedPollMs : claimPollMs;
    return due === null ? poll : Math.min(poll, Math.max(1, due - jobs.store.now()));
  }

  /**
   * Whether a gate is full, so that jobs may be waiting at it. In that case the claimer polls more often, because no
   * wake is sent when a job of another instance ends and makes room. Batches whose gates are full are started.
   */
  async #isAnyGateFull(): Promise<boolean> {
    if (!this.#hasGates) return false;
    const { jobs, types, limits, gathering } = this.#parts;
    const admitted = await jobs.store.admittedPerGate(types);
    const admissions = new GateAdmissions(admitted, limits(), true);
    if (gathering.size > 0) await this.#startFullBatches(admissions);
    return admitted.keys().some((gate) => admissions.room(gate) === 0);
  }

  /** Named limits are shared with types of other instances, so that their jobs are counted apart. */
  async #startFullBatches(admissions: GateAdmissions): Promise<void> {
    const { jobs, gathering } = this.#parts;
    const isLimitFull = await readFullLimits(jobs.store, gathering.jobs.flatMap(limitUsesOf));
    gathering.startFull((gate) => {
      const full = limitUsesOf({ gate }).filter(isLimitFull);
      return {
        ofType: admissions.isTypeFull(gate) || full.some(({ key }) => key === null),
        any: admissions.room(gate) === 0 || full.length > 0,
      };
    });
  }
}
