/** Instances: their registration, their heartbeats, and which of them leads. */
import type { Holding } from './claiming.ts';

export interface Instances {
  /**
   * Registers an instance or extends its lease; answers what has become of the jobs that it holds. Refuses
   * `taken.instance` while the name has the lease of another process, unless `takeOver` is set.
   */
  beat(instance: Beat): Promise<BeatReply>;

  instances(): Promise<readonly Instance[]>;

  /** Ends the lease of an instance at once, so that the jobs that it still holds can be repaired. */
  leave(instance: string): Promise<void>;

  /** Takes a leadership that is free, or extends one's own; the term rises with each new leader. */
  lead(role: string, instance: string, leaseMs: number): Promise<Leadership>;
}

export interface Beat {
  readonly id: string;
  readonly leaseMs: number;
  readonly about: InstanceAbout;
  /** The jobs that it believes to hold. */
  readonly holds: readonly Holding[];
  /** The process that has the name is known to be dead. */
  readonly takeOver?: boolean;
}

export interface BeatReply {
  readonly now: number;
  /** Of `holds`, the jobs that it no longer holds. */
  readonly lost: readonly number[];
  /** Of `holds`, the jobs that have been asked to cancel. */
  readonly cancelled: readonly number[];
}

/** What an instance publishes about itself. */
export interface InstanceAbout {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The id of its program as it was deployed. */
  readonly build?: string;
  /** Differs for each start of a process; absent: the name is shared, as that of external workers may be. */
  readonly boot?: string;
  readonly types: readonly string[];
  /** Those of its types that run in threads or processes of their own. */
  readonly isolated?: readonly string[];
  readonly slots: number;
  readonly busy: number;
  /** Handlers that still run although their attempt has ended. */
  readonly abandoned?: number;
  /** How long it keeps ended runs; null: for ever. */
  readonly retentionMs?: number | null;
  readonly draining: boolean;
  /** Whether it does the maintenance; as of its last heartbeat. */
  readonly leads?: boolean;
}

export interface Instance {
  readonly id: string;
  readonly started: number;
  readonly beatAt: number;
  readonly leaseUntil: number;
  readonly about: InstanceAbout;
}

export interface Leadership {
  readonly leader: string;
  readonly term: number;
  readonly until: number;
}
