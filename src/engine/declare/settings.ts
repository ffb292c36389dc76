/** The settings that both a job type and a definition can have. */
import type { OnTaskFailure } from '../../model/job.ts';
import type { RetryPolicy } from '../../model/retry.ts';
import type { Duration } from '../../time/duration.ts';

/** Settings of a definition take precedence over the settings of its type. */
export interface Settings {
  /** How long an attempt may take before it fails; `prepareTimeout` applies to planning and gathering. Default: 1h. */
  readonly timeout?: Duration;
  /** How long an attempt to plan the tasks of a run, or to gather their results, may take. Default: 1h. */
  readonly prepareTimeout?: Duration;
  /** How many times a failed job is retried, and after which delays. */
  readonly retry?: RetrySettings;
  /**
   * When failed tasks make their run fail. `collect` (default): never. `failFast`: at the first failure.
   * `{ tolerate: n }`: when more than n tasks have failed. `{ toleratePercent: n }`: when more than n percent have.
   */
  readonly onTaskFailure?: OnTaskFailure;
  /** Of the due jobs, those with the highest priority are claimed first. Default: 0. */
  readonly priority?: number;
  /** How long a run stays in the store after its end; then it is deleted. Default: the retention of the engine. */
  readonly retention?: Duration;
}

export interface RetrySettings {
  /** The maximum number of attempts, including the first. Default: 3. */
  readonly attempts?: number;
  /** How the delay grows with each retry: `fixed`, `linear`, or `exponential` (default). */
  readonly backoff?: RetryPolicy['backoff'];
  /** The delay before the first retry. Default: 2s. */
  readonly base?: Duration;
  /** The longest delay. Default: 5m, or `base` if it is longer. */
  readonly max?: Duration;
  /** The share of a delay that is random, 0 to 1; it only shortens the delay. Default: 0.5. */
  readonly jitter?: number;
  /** The job fails when its worker has crashed this many times. Crashes do not count as `attempts`. Default: 3. */
  readonly crashes?: number;
}
