/** Claiming: claims due jobs for a holder, extends leases, and finds when the next job is due. */
import type { Change } from '../../model/change.ts';
import type { Limits } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import type { PauseScope } from '../../model/pause.ts';
import type { Position } from '../../model/spread.ts';
import type { Kind } from '../../model/state.ts';
import type { TypeVersions, VersionedType } from '../../model/type-version.ts';

export interface Claiming {
  /**
   * Locks the first claimable jobs in claim order, and skips jobs that other transactions have locked. Writes the
   * changes that `decide` returns for the locked jobs; returns the changes that were written. A job is not claimable
   * while a pause of its type or key is in force (`model/pause.ts`), or while the spread of a resume holds it back
   * (`model/spread.ts`). Jobs of the same kind, type and priority that have shares take turns (`fair-share.ts`).
   */
  claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]>;

  /**
   * Returns the first time after `after` (default: now) at which a job that the request could claim becomes due; null:
   * no such job is known. The store may return an earlier time instead, at which the caller should ask again. Pass the
   * time of the last search as `after`. If a job has become due since that search, the returned time is in the past.
   * Leaves out the jobs of paused types, and returns the end of a pause like the due time of a job.
   */
  nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>, after?: number): Promise<number | null>;

  /**
   * Returns for each type the pending job that has been due for the longest time; types without a due job, and paused
   * types, are left out.
   */
  oldestDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<ReadonlyMap<string, DueJob>>;

  /**
   * Returns how many due jobs of the same kind and type precede this job in claim order, including jobs at full gates;
   * at most `queuePositionMax`.
   */
  queuePosition(job: Job): Promise<number>;

  /**
   * Returns how many due jobs with the same key of fairness, of the same kind, type, version and priority, precede this
   * job; at most `queuePositionMax`. 0 for a job without a share.
   */
  aheadInShare(job: Job): Promise<number>;

  /** Returns how many jobs of these types each gate has admitted. */
  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Returns the versions of the pending runs and tasks of these types, lowest first, with the number of jobs of each,
   * counted up to `queuePositionMax`.
   */
  waitingVersions(types: readonly string[]): Promise<readonly WaitingVersion[]>;

  /**
   * Divides the due jobs in the scope of a pause, ordered by due time and id, into up to `count` parts of equal size, and
   * returns the last position of each part. A few jobs of other scopes may be counted, too.
   */
  divideWaiting(scope: PauseScope, count: number): Promise<readonly Position[]>;

  /**
   * Waits for the claims that began before this call. A claim that begins later sees every pause that was committed
   * before the call. Refuses `contended` if such a claim does not end.
   */
  awaitClaims(): Promise<void>;

  /**
   * Extends leases to at least `until`. A lease is extended only if it has an end of its own, has not lapsed, and the
   * fence is still current. Returns for each holding whether its lease was extended. An extension is not an event and
   * does not raise the version. So a commit that read the former end, and does not change the lease, must not write
   * that end back.
   */
  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]>;

  /**
   * Registers a function to call when jobs may have become claimable; returns a function that removes it. A call may
   * come early, late, repeatedly or not at all.
   */
  onWake(call: () => void): () => void;
}

export interface ClaimRequest {
  readonly kinds: readonly Kind[];
  readonly names: TypeNames;
  readonly limit: number;
  readonly limits?: Limits;
  readonly isLeader?: boolean;
  /** Only jobs of these priorities are claimed; absent: jobs of every priority. */
  readonly priorities?: readonly number[];
}

/**
 * Exact type names, or a GLOB pattern over type names. `versions` are the versions that the claimer knows; of a type
 * that is not listed, and of all types of a pattern, only jobs of the first version are claimed.
 */
export type TypeNames =
  | { readonly exact: readonly string[]; readonly versions?: readonly TypeVersions[] }
  | { readonly glob: string };

/**
 * Decides the changes of the candidates. It must be pure and synchronous, because it runs while the rows are locked. It
 * may be called without candidates, and again if the transaction is repeated. The candidates are claimable jobs that
 * were due at `searchedAt`, up to the limit of the request; `now` may be later.
 */
export type ClaimDecision = (candidates: readonly Candidate[], now: number, searchedAt: number) => readonly Change[];

export interface Candidate {
  readonly job: Job;
  /** Whether the parent of the job has been asked to cancel. */
  readonly parentCancelled: boolean;
}

export interface DueJob {
  readonly id: number;
  readonly due: number;
}

export interface WaitingVersion extends VersionedType {
  readonly count: number;
}

/** A running job and the fence under which it was claimed. */
export interface Holding {
  readonly id: number;
  readonly fence: number;
}

/** The largest queue position that is counted: counting more jobs would take too long. */
export const queuePositionMax = 10_000;
