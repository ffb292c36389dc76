/** The settings that a type and a definition can both have. */
import type { OnTaskFailure } from '../../model/job.ts';
import type { RetryPolicy } from '../../model/retry.ts';
import type { Duration } from '../../time/duration.ts';

/** Those of a definition take precedence over those of its type. */
export interface Settings {
  /** How long an attempt may take; planning and gathering have `prepareTimeout`. Default: 1h. */
  readonly timeout?: Duration;
  /** How long planning and gathering of a run with tasks may each take. Default: 1h. */
  readonly prepareTimeout?: Duration;
  /** How often, and after what delay, a failed attempt is retried. */
  readonly retry?: RetrySettings;
  /** The effect of failed tasks: `collect` (default), `failFast`, `{ tolerate: n }`, `{ toleratePercent: n }`. */
  readonly onTaskFailure?: OnTaskFailure;
  /** Higher is claimed first. Default: 0. */
  readonly priority?: number;
  /** How long after its end a run is deleted. Default: the retention of the engine. */
  readonly retention?: Duration;
}

export interface RetrySettings {
  /** The maximum number of attempts, including the first. Default: 3. */
  readonly attempts?: number;
  /** How the delay grows: `fixed`, `linear`, or `exponential` (default). */
  readonly backoff?: RetryPolicy['backoff'];
  /** The first delay. Default: 2s. */
  readonly base?: Duration;
  /** The longest delay. Default: 5m. */
  readonly max?: Duration;
  /** The share of a delay that is random, 0 to 1; it only shortens the delay. Default: 0.5. */
  readonly jitter?: number;
  /** How many crashed workers until the job fails instead of being retried. Default: 3. */
  readonly crashes?: number;
}
