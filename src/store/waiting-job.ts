/** A due job that waits at a gate, as claims read it before they lock it. */
import type { FairShare } from '../model/share.ts';
import type { VersionedType } from '../model/type-version.ts';

export interface WaitingJob {
  readonly id: number;
  readonly priority: number;
  readonly due: number;
  readonly gate: string;
  /** Absent: the job has no share. */
  readonly turn?: ShareTurn;
}

/** The place of a job with a share in claim order, and the group and share whose turn it is (fair-share.ts). */
export interface ShareTurn {
  readonly rank: Rank;
  readonly group: string;
  readonly share: FairShare;
}

export type Rank = Pick<WaitingJob, 'id' | 'priority' | 'due'>;

/** The first jobs of one kind, type, version and priority that wait at gates, in claim order. */
export interface GateLane {
  readonly jobs: readonly WaitingJob[];
  /** Whether the lane may have more due jobs than were read. */
  readonly isCut: boolean;
}

export interface GatedType extends VersionedType {
  readonly kind: string;
}
