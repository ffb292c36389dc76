/**
 * Gathering: collects claimed jobs of types with `runBatch` into batches. A batch is started when it is full, or when
 * its first job has waited as long as the type says, or the `startBy` of one of its jobs comes. It is started early if
 * waiting cannot fill it: as many jobs of the type are gathered as this instance claims, or as may be running.
 *
 * A job whose worker has crashed is suspect. This instance holds only one batch of suspect jobs at a time, all with the
 * same number of crashes, and postpones others: if the batch crashes the process, they are not counted as crashed again.
 * A batch of suspect jobs is gathered for a second at most, because the suspect jobs of all other types wait for it.
 */
import type { RunningJob } from '../../model/job.ts';
import type { Holding } from '../../store/store.ts';
import { turn, type Clock } from '../../time/clock.ts';
import { andThen, isPromiseLike, orElse, type MaybePromise } from '../../time/maybe-promise.ts';
import { phaseOf } from '../attempt/execution.ts';
import { JobBatch, type SlotWork } from '../attempt/job-batch.ts';
import { fittingInput } from '../attempt/fitting-input.ts';
import { batchGroupOf, batchSizeAfter, batchWaitMs } from '../declare/batch.ts';
import type { JobType } from '../declare/job-type.ts';

export interface GatheringParts {
  readonly clock: Clock;
  readonly typeOf: (name: string) => JobType;
  /** Queues a batch, or a job that is executed alone, for a slot. */
  readonly start: (work: SlotWork) => void;
  /** Releases a job, which is due again after this time. Resolves when that is stored; never rejects. */
  readonly postpone: (job: RunningJob, ms: number) => Promise<void>;
  /** How many batches could start now. */
  readonly freeSlots: () => number;
  /** The store's time. */
  readonly now: () => number;
}

/** Which limits on the number of running jobs are reached at a gate. */
export interface FullGate {
  /** The limit of the type or the definition. */
  readonly ofType: boolean;
  readonly any: boolean;
}

const suspectWaitMs = 1_000;
/**
 * A job that waits for a batch of suspect jobs is postponed by as long as the batch has lasted, within these bounds: each
 * time it is claimed and released.
 */
const postponedMinMs = 1_000;
const postponedMaxMs = 60_000;

/** The batch of suspect jobs that is gathered or running. */
interface SuspectBatch {
  readonly key: string;
  /** Monotonic time. */
  readonly since: number;
}

interface Group {
  readonly type: JobType;
  readonly max: number;
  /** When the group starts at the latest. Monotonic time. */
  startAt: number;
  stopTimer: () => void;
  jobs: RunningJob[];
}

export class Gathering {
  readonly #parts: GatheringParts;
  readonly #jobs = new Set<RunningJob>();
  readonly #counts = new Map<string, number>();
  /** Oldest first. */
  readonly #groups = new Map<string, Group>();
  #onStart = (): void => {};
  #suspects: SuspectBatch | null = null;
  /** Resolves when all jobs that were postponed so far are released. */
  #postponed: Promise<unknown> = Promise.resolve();

  constructor(parts: GatheringParts) {
    this.#parts = parts;
  }

  /** Sets the function that is called after the start of a batch, when there is room for other jobs. */
  onStart(call: () => void): void {
    this.#onStart = call;
  }

  get jobs(): readonly RunningJob[] {
    return [...this.#jobs];
  }

  get size(): number {
    return this.#jobs.size;
  }

  count(type: string): number {
    return this.#counts.get(type) ?? 0;
  }

  /** Adds jobs that were claimed together. */
  add(jobs: readonly RunningJob[]): void {
    for (const job of jobs) this.#add(job);
    this.startEarly();
  }

  /** Call when a slot is free: starts the oldest batch of each type that is gathered as far as it can be. */
  startEarly(): void {
    for (const type of this.#groups.size === 0 ? [] : this.#counts.keys()) {
      while (this.#isGathered(type)) {
        const oldest = this.#groups.entries().find(([, group]) => group.type.name === type);
        if (oldest === undefined) break;
        this.#startGroup(...oldest);
      }
    }
  }

  /** Whether as many jobs of the type are gathered as this instance claims. */
  #isGathered(type: string): boolean {
    const free = this.#parts.freeSlots();
    return free > 0 && this.count(type) >= free * this.#parts.typeOf(type).options.batch!.size;
  }

  /**
   * Starts the batches to which no job can be added before one of theirs has ended, because `fullAt` says that the gates
   * of their jobs are full. A limit per key keeps back only jobs with the same key, which `by` may put into one batch.
   */
  startFull(fullAt: (gate: string) => FullGate): void {
    for (const [key, group] of this.#groups) {
      const isGrouped = group.type.options.batch!.by !== undefined;
      const isFull = ({ gate }: RunningJob): boolean => {
        if (gate === null) return false;
        const { ofType, any } = fullAt(gate);
        return ofType || (isGrouped && any);
      };
      if (this.#parts.freeSlots() > 0 && group.jobs.every(isFull)) this.#startGroup(key, group);
    }
  }

  /** Starts all batches as they are: nobody expects further jobs. */
  startAll(): void {
    for (const [key, group] of this.#groups) this.#startGroup(key, group);
  }

  drop(isDropped: (job: RunningJob) => boolean): void {
    for (const job of this.jobs) if (isDropped(job)) this.#leave(job);
  }

  /** Removes a job; returns it, or null if it is not gathered. */
  remove({ id, fence }: Holding): RunningJob | null {
    const job = this.#jobs.values().find((each) => each.id === id && each.fence === fence);
    if (job !== undefined) this.#leave(job);
    return job ?? null;
  }

  /** Removes and returns all jobs. */
  take(): readonly RunningJob[] {
    const jobs = this.jobs;
    for (const { stopTimer } of this.#groups.values()) stopTimer();
    this.#groups.clear();
    this.#jobs.clear();
    this.#counts.clear();
    this.#suspects = null;
    return jobs;
  }

  #add(job: RunningJob): void {
    const type = this.#parts.typeOf(job.type);
    this.#jobs.add(job);
    this.#counts.set(job.type, this.count(job.type) + 1);
    if (!isForBatch(type, job)) return this.#startAlone(job);
    if (type.options.batch!.by === undefined) return this.#addTo(type, job, '');
    const add = (group: string): void => this.#addTo(type, job, group);
    const added = orElse(() => andThen(groupOf(type, job), add), (thrown) => void this.#start(type, [job], { thrown }));
    if (isPromiseLike(added)) void added.then(() => this.startEarly());
  }

  /** Returns whether the job was gathered until now. */
  #remove(job: RunningJob): boolean {
    if (!this.#jobs.delete(job)) return false;
    this.#counts.set(job.type, this.count(job.type) - 1);
    return true;
  }

  /** Removes a job from its group, and the group if it is empty then. */
  #leave(job: RunningJob): void {
    this.#remove(job);
    const [key, group] = this.#groups.entries().find(([, { jobs }]) => jobs.includes(job)) ?? [];
    if (key === undefined || group === undefined) return;
    group.jobs = group.jobs.filter((other) => other !== job);
    if (group.jobs.length === 0) this.#startGroup(key, group);
  }

  #addTo(type: JobType, job: RunningJob, name: string): void {
    const key = groupKey(type, job, name);
    if (job.crashes > 0 && this.#suspects !== null && !this.#groups.has(key)) return this.#postpone(job, this.#suspects);
    const group = this.#groups.get(key) ?? this.#newGroup(type, job.crashes, key);
    if (job.crashes > 0) this.#suspects ??= { key, since: this.#parts.clock.monotonic() };
    group.jobs.push(job);
    this.#startBefore(key, group, job);
    if (group.jobs.length >= group.max) this.#startGroup(key, group);
  }

  #postpone(job: RunningJob, { since }: SuspectBatch): void {
    if (!this.#remove(job)) return;
    const lastedMs = this.#parts.clock.monotonic() - since;
    // Times of the store are whole milliseconds.
    const ms = Math.ceil(Math.min(Math.max(lastedMs, postponedMinMs), postponedMaxMs));
    this.#postponed = Promise.all([this.#postponed, this.#parts.postpone(job, ms)]);
  }

  #newGroup(type: JobType, crashes: number, key: string): Group {
    const { batch } = type.options;
    const waitMs = Math.min(batchWaitMs(batch!), crashes > 0 ? suspectWaitMs : Infinity);
    const max = batchSizeAfter(batch!.size, crashes);
    const group: Group = { type, max, startAt: Infinity, stopTimer: () => {}, jobs: [] };
    this.#startWithin(waitMs, key, group);
    this.#groups.set(key, group);
    return group;
  }

  /** Starts the group no later than the `startBy` of the job. One that had passed before the claim does not count. */
  #startBefore(key: string, group: Group, { policy: { startBy } }: RunningJob): void {
    if (startBy === undefined) return;
    const leftMs = startBy - this.#parts.now();
    if (leftMs >= 0 && leftMs < group.startAt - this.#parts.clock.monotonic()) this.#startWithin(leftMs, key, group);
  }

  #startWithin(ms: number, key: string, group: Group): void {
    const { clock } = this.#parts;
    group.stopTimer();
    group.startAt = clock.monotonic() + ms;
    group.stopTimer = clock.after(ms, () => this.#startGroup(key, group));
  }

  #startGroup(key: string, { type, jobs, stopTimer }: Group): void {
    stopTimer();
    this.#groups.delete(key);
    if (this.#suspects?.key === key) void this.#startSuspects(type, jobs, this.#suspects);
    else this.#start(type, jobs, null);
  }

  /** Starts suspect jobs when those that were claimed with them and are postponed are released. */
  async #startSuspects(type: JobType, jobs: readonly RunningJob[], suspects: SuspectBatch): Promise<void> {
    await turn();
    await this.#postponed;
    await this.#start(type, jobs, null)?.over;
    if (this.#suspects === suspects) this.#suspects = null;
  }

  #startAlone(job: RunningJob): void {
    this.#remove(job);
    this.#parts.start(job);
    this.#onStart();
  }

  /** Returns the batch; null: this instance has lost all its jobs. */
  #start(type: JobType, jobs: readonly RunningJob[], error: { readonly thrown: unknown } | null): JobBatch | null {
    const held = jobs.filter((job) => this.#remove(job));
    if (held.length === 0) return null;
    const batch = new JobBatch(type, held, error);
    this.#parts.start(batch);
    this.#onStart();
    return batch;
  }
}

/** Whether `runBatch` is called for the job; not if its children have ended: `jobResults` is called for it alone. */
const isForBatch = (type: JobType, job: RunningJob): boolean => job.kind !== 'task' && phaseOf(type, job) === 'run';

/** The key of a type that does not group its jobs is cheaper: it is made for every job. No other key starts with a digit. */
const groupKey = ({ name }: JobType, { crashes }: RunningJob, group: string): string =>
  (group === '' ? `${crashes} ${name}` : JSON.stringify([name, crashes, group]));

/** Returns the group of a job. An input that does not fit is refused by the attempt of the job, in a batch of its own. */
function groupOf(type: JobType, job: RunningJob): MaybePromise<string> {
  const { name, options: { batch } } = type;
  return andThen(fittingInput(type, job), (input) => batchGroupOf<unknown>(name, batch!, input));
}
