/** Claiming: due jobs for a holder, and what a worker must know to wait for them. */
import type { Change } from '../../model/change.ts';
import type { Limits } from '../../model/gate.ts';
import type { Job } from '../../model/job.ts';
import type { Kind } from '../../model/state.ts';

export interface Claiming {
  /**
   * Locks the first claimable jobs in claim order, skips jobs that others have locked, and writes what `decide`
   * returns.
   */
  claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]>;

  /**
   * The next time after `after` (default: now) at which a job that the request could claim becomes due, or an earlier
   * time at which to ask again; null: none is known. Pass the time of the last search: a job that became due since then
   * is found, and the answer is in the past.
   */
  nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>, after?: number): Promise<number | null>;

  /** Of each type, the job that has been due longest and waits to be claimed. */
  oldestDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<ReadonlyMap<string, DueJob>>;

  /** How many claimable jobs of its kind and type precede this one in claim order; at most `queuePositionMax`. */
  queuePosition(job: Job): Promise<number>;

  /** How many jobs of these types each gate has admitted. */
  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Extends leases that have an end to at least `until`, where the fence is still current; answers which. An extension
   * is not an event: a commit that read the former end and leaves the lease must not undo it.
   */
  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]>;

  /** Calls when jobs may have become claimable. The call may be early, late, repeated or missing. */
  onWake(call: () => void): () => void;
}

export interface ClaimRequest {
  readonly kinds: readonly Kind[];
  readonly names: TypeNames;
  readonly limit: number;
  readonly limits?: Limits;
  readonly isLeader?: boolean;
  /** Claims jobs of these priorities only. */
  readonly priorities?: readonly number[];
}

/** Exact type names, or a GLOB pattern over them. */
export type TypeNames = { readonly exact: readonly string[] } | { readonly glob: string };

/**
 * Pure and synchronous: it runs while the rows are locked, also if there is no candidate. Every job that was due at
 * `searchedAt` and could be claimed is a candidate, up to the limit; `now` may be later.
 */
export type ClaimDecision = (candidates: readonly Candidate[], now: number, searchedAt: number) => readonly Change[];

export interface Candidate {
  readonly job: Job;
  /** Whether its parent has been asked to cancel. */
  readonly parentCancelled: boolean;
}

export interface DueJob {
  readonly id: number;
  readonly due: number;
}

/** A running job and the fence under which it was claimed. */
export interface Holding {
  readonly id: number;
  readonly fence: number;
}

/** Positions beyond this are not counted. */
export const queuePositionMax = 10_000;
