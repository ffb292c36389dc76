/**
 * The input of a job, upgraded to the version of this instance's code and validated by its schema. Both may have changed
 * since the job was created.
 */
import type { Job } from '../../model/job.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import { orElse, type MaybePromise } from '../../time/maybe-promise.ts';
import type { JobType } from '../declare/job-type.ts';
import { currentVersion, upgraded } from '../declare/upgrade.ts';
import { checked, type Schema } from '../declare/schema.ts';
import { checkStored } from '../declare/stored-input.ts';

/** The refusal of an input that this instance's schema does not accept. The schema of a newer build may accept it. */
export class InputMisfit extends Refusal {}

export function fittingInput(type: JobType, job: Job): MaybePromise<unknown> {
  const { name, options: { input: schema } } = type;
  const input = upgradedInput(type, job);
  if (!schema) return input;
  const check = (value: unknown): MaybePromise<unknown> => checked(schema as Schema, value, `${name} ${job.id}`);
  return orElse(() => checkStored(check, input), misfit);
}

/** Returns the stored input in the format of the current version, before its validation. */
export function upgradedInput(type: JobType, { id, input, typeVersion }: Job): unknown {
  const stored = parsePayload(input, `the input of job ${id}`);
  if (typeVersion === currentVersion(type.options)) return stored;
  try {
    return upgraded(type, stored, typeVersion);
  } catch (error) {
    return misfit(error);
  }
}

function misfit(error: unknown): never {
  throw isRefusal(error) ? new InputMisfit(error.code, error.message, error.detail) : error;
}

const waitMinMs = 2_000;
const waitMaxMs = 300_000;

/**
 * Returns the time in ms after which a job with a refused input is due again, so that an instance of a newer build can
 * claim it. The time doubles with each claim of the job, up to `waitMaxMs`.
 */
export const misfitWaitMs = ({ fence }: Pick<Job, 'fence'>): number =>
  Math.min(waitMaxMs, waitMinMs * 2 ** Math.min(fence - 1, 10));
