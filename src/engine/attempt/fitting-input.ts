/** The input of a job, validated by this instance's schema, which may have changed since the job was created. */
import type { Job } from '../../model/job.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import { orElse, type MaybePromise } from '../../time/maybe-promise.ts';
import type { JobType } from '../declare/job-type.ts';
import { checked, type Schema } from '../declare/schema.ts';
import { checkStored } from '../declare/stored-input.ts';

/** The refusal of an input that this instance's schema does not accept. The schema of a newer build may accept it. */
export class InputMisfit extends Refusal {}

export function fittingInput({ name, options: { input: schema } }: JobType, job: Job): MaybePromise<unknown> {
  const input = parsePayload(job.input, `the input of job ${job.id}`);
  if (!schema) return input;
  const check = (value: unknown): MaybePromise<unknown> => checked(schema as Schema, value, `${name} ${job.id}`);
  return orElse(() => checkStored(check, input), misfit);
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
