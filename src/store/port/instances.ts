/** Instances: their registration, their heartbeats, and which of them leads. */
import type { TypeVersions } from '../../model/type-version.ts';
import type { Holding } from './claiming.ts';

export interface Instances {
  /**
   * Registers an instance or extends its lease. Returns which of the jobs in `holds` the instance has lost and which
   * were asked to cancel. Refuses `taken.instance` while another process has a lease under the same name, unless
   * `takeOver` is set.
   */
  beat(instance: Beat): Promise<BeatReply>;

  instances(): Promise<readonly Instance[]>;

  /**
   * Ends the lease and the leadership of an instance now. If the instance still holds jobs, it stays registered, so
   * that other instances can repair the jobs; otherwise its registration is deleted.
   */
  leave(instance: string): Promise<void>;

  /**
   * Makes the instance the leader of `role`, or extends its leadership, unless another instance leads. Returns the
   * current leadership, which may be that of the other instance. `role` names a duty that only one instance has at a
   * time, such as `engine` (maintenance). `term` rises with each new leadership, even if the same instance leads again.
   */
  lead(role: string, instance: string, leaseMs: number): Promise<Leadership>;
}

/**
 * How long an instance stays visible after its lease has lapsed. After that `purge` deletes it, unless it holds jobs.
 */
export const instanceKeptMs = 3_600_000;

export interface Beat {
  readonly id: string;
  readonly leaseMs: number;
  readonly about: InstanceAbout;
  /** The jobs that the instance believes it holds. */
  readonly holds: readonly Holding[];
  /**
   * Takes the instance name from the process that has registered it. Set `takeOver` only if that process is known to be
   * dead.
   */
  readonly takeOver?: boolean;
}

export interface BeatReply {
  readonly now: number;
  /** Of `holds`, the jobs that the instance no longer holds. */
  readonly lost: readonly number[];
  /** Of `holds`, the jobs that have been asked to cancel. */
  readonly cancelled: readonly number[];
}

/** The data that an instance publishes about itself. */
export interface InstanceAbout {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The id of the build that the instance runs. */
  readonly build?: string;
  /**
   * An id that differs for each start of the process. Absent for external workers, because several of their processes
   * may share one instance name.
   */
  readonly boot?: string;
  readonly types: readonly string[];
  /** The versions of its types that the instance knows. Of a type that is not listed, it knows only the first. */
  readonly versions?: readonly TypeVersions[];
  /** The attempts of its types since it started. */
  readonly attempts?: readonly TypeAttempts[];
  /** The batches that it has handled since it started. */
  readonly batches?: readonly TypeBatches[];
  /** Whether the instance has a codec, so that it stores payloads encoded. */
  readonly encodes?: true;
  /** The largest share of the jobs of its types that the instance starts; absent: it starts what it can. */
  readonly canary?: number;
  /** The job types whose handlers run in threads or processes of their own. */
  readonly isolated?: readonly string[];
  readonly slots: number;
  readonly busy: number;
  /** The number of handlers that still run although their attempt has ended. */
  readonly abandoned?: number;
  /** The default retention of ended runs; null: runs without a retention of their own are not deleted. */
  readonly retentionMs?: number | null;
  readonly draining: boolean;
  /** Jobs that it has claimed and whose handler it has not called, because they wait for others of their batch. */
  readonly gathered?: readonly Holding[];
  /** Whether the instance was the leader at its last heartbeat. */
  readonly leads?: boolean;
}

/** How many attempts of a type have ended on an instance. */
export interface TypeAttempts {
  readonly type: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** How many batches of a type an instance has handled, and how many jobs they had together. */
export interface TypeBatches {
  readonly type: string;
  readonly batches: number;
  readonly jobs: number;
}

export interface Instance {
  readonly id: string;
  readonly started: number;
  readonly beatAt: number;
  readonly leaseUntil: number;
  readonly about: InstanceAbout;
}

/** Whether the lease of an instance has not lapsed; `now`: store time. */
export const isLive = ({ leaseUntil }: Pick<Instance, 'leaseUntil'>, now: number): boolean => leaseUntil > now;

export interface Leadership {
  readonly leader: string;
  readonly term: number;
  readonly until: number;
}
