/** A reason why a job is not running. */

export interface Reason {
  readonly code: ReasonCode;
  /** A sentence for display. */
  readonly says: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export type ReasonCode =
  | 'ended' | 'running' | 'paused' | 'paused.type' | 'paused.key' | 'paused.limit' | 'spread' | 'waits.parent' | 'waits.children'
  | 'waits.runs' | 'waits.answer' | 'not.due' | 'sleeping' | 'parent.cancelled' | 'type.unknown' | 'version.unknown' | 'suspended'
  | 'leader.only' | 'limit.full' | 'rate.used' | 'fairness.waiting' | 'batch.gathering'
  | 'slots.busy' | 'about.to.run';
