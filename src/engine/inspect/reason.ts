/** A reason why a job is not running. */

export interface Reason {
  readonly code: ReasonCode;
  /** A sentence for display. */
  readonly says: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export type ReasonCode =
  | 'ended' | 'running' | 'paused' | 'paused.type' | 'paused.key' | 'waits.parent' | 'waits.children' | 'waits.runs'
  | 'not.due' | 'parent.cancelled' | 'type.unknown' | 'suspended' | 'leader.only' | 'limit.full' | 'rate.used'
  | 'slots.busy' | 'about.to.run';
