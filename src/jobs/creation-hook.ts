/**
 * The creation hook: what an engine's middleware does to a new run before it is validated and stored. Every way to
 * create runs calls it once for each new run: requests, ticks of definitions, and Bedrock. Tasks have no hook: the
 * handler of their run plans them.
 */
import type { Tags } from '../model/job.ts';
import type { LimitUse } from '../model/limit.ts';

/** A run that is about to be created, as its middleware sees it. */
export interface NewRun {
  /** `bedrock` and `mock`: a job that a Bedrock client creates. */
  readonly kind: 'run' | 'bedrock' | 'mock';
  /** The name of the job type, or of the Bedrock job. */
  readonly type: string;
  /** The name of the definition; null: the run has none. */
  readonly def: string | null;
  /** The time of the tick that creates the run; null: a request creates it. */
  readonly tickTime: Date | null;
  /** Who creates the run: an instance, a user or a Bedrock client. */
  readonly by: string;
  /** The input before its validation; undefined: none is given. */
  readonly input: unknown;
  /** Undefined: the default priority of the door. */
  readonly priority: number | undefined;
  readonly tags: Tags;
}

/** What a middleware can change. A missing or undefined field stays unchanged; tags are added to the others. */
export interface RunChanges {
  readonly input?: unknown;
  readonly priority?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** The run as the middleware has changed it. */
export interface ChangedRun extends NewRun {
  /** The limit key of the new input; absent: the input has not changed, or its creator computes the key itself. */
  readonly limitKey?: string | undefined;
  /** What the run takes of its named limits with the new input; absent as `limitKey`. */
  readonly limitUses?: readonly LimitUse[];
  /** The version of the type for which the new input was made; absent as `limitKey`. */
  readonly typeVersion?: number;
}

/**
 * Returns the run to create, or rejects with a refusal. `isChecked`: an input that was changed is validated; that of a
 * request is validated after the hook, and one in which results of other runs are missing when its run starts.
 */
export type CreationHook = (run: NewRun, isChecked?: boolean) => Promise<ChangedRun>;
