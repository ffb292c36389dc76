/** The batch settings of a type: how many of its jobs one call of `runBatch` handles, and how they are grouped. */
import { checkFields, checkText, checkWhole, keyMax } from '../../jobs/checks/values.ts';
import { batchSizeMax } from '../../model/job.ts';
import { keyAt } from '../../model/path.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';

export interface BatchSettings<Input> {
  /** The largest number of jobs of one call, from 1 to 1,000. */
  readonly size: number;
  /**
   * How long a claimed job waits for others while the batch is not full, at most an hour. Default: 0, a batch has the
   * jobs that were claimed together.
   */
  readonly wait?: Duration;
  /** Jobs of one batch have the same value: a path in the input, such as `tenant`, or a function of the input. */
  readonly by?: string | ((input: Input) => string);
}

const waitMaxMs = 3_600_000;

export const batchWaitMs = ({ wait }: Pick<BatchSettings<never>, 'wait'>): number =>
  wait === undefined ? 0 : durationMs(wait);

/**
 * Returns how many jobs a batch may have if its jobs have crashed this often: half as many after each crash, so that a
 * job that crashes its worker is soon alone.
 */
export const batchSizeAfter = (size: number, crashes: number): number => Math.max(1, Math.floor(size / 2 ** crashes));

/** Returns the value by which the jobs of a type are grouped; an empty text if the type does not group them. */
export function batchGroupOf<Input>(name: string, { by }: BatchSettings<Input>, input: Input): string {
  if (by === undefined) return '';
  const group = typeof by === 'string' ? keyAt(input, by.split('.')) : by(input);
  return checkText(`batch.by of job type ${name}`, group ?? '', keyMax);
}

interface CheckedOptions {
  readonly batch?: BatchSettings<never> | undefined;
  readonly runBatch?: unknown;
  readonly isolate?: unknown;
}

export function checkBatch(name: string, { batch, runBatch, isolate }: CheckedOptions): void {
  if ((batch === undefined) !== (runBatch === undefined)) {
    throw refusal(name, 'must have both batch and runBatch, or neither');
  }
  if (batch === undefined) return;
  if (isolate !== undefined) throw refusal(name, 'has runBatch, which cannot be isolated: remove isolate');
  checkFields(`the batch of job type ${name}`, batch, ['size', 'wait', 'by']);
  checkWhole(`batch.size of job type ${name}`, batch.size, 1, batchSizeMax);
  if (batchWaitMs(batch) > waitMaxMs) throw refusal(name, 'has a batch.wait above 1 hour');
  if (batch.by === '' || !['undefined', 'string', 'function'].includes(typeof batch.by)) {
    throw refusal(name, "has a batch.by that is neither a path such as 'tenant' nor a function");
  }
}

const refusal = (type: string, says: string): Refusal =>
  new Refusal('malformed.option', `job type ${type} ${says}`, { type });
