/** Turns the settings that people write into the policy that a job carries. */
import type { OnTaskFailure, Policy } from '../../model/job.ts';
import { checkRetry, type RetryPolicy } from '../../model/retry.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import type { RetrySettings, Settings } from './job-type.ts';

/** Only what was said: the defaults stay out of the record. */
export function policyOf(settings: Settings): Policy {
  const { timeout, prepareTimeout, retention, retry, onTaskFailure } = settings;
  return {
    ...(retry === undefined ? {} : retryPolicyOf(retry)),
    ...msField('timeoutMs', timeout),
    ...msField('prepareTimeoutMs', prepareTimeout),
    ...msField('retentionMs', retention),
    ...(onTaskFailure === undefined ? {} : { onTaskFailure: checkOnTaskFailure(onTaskFailure) }),
  };
}

function retryPolicyOf(said: RetrySettings): Partial<RetryPolicy> {
  const policy = {
    ...(said.attempts === undefined ? {} : { attemptsMax: said.attempts }),
    ...(said.backoff === undefined ? {} : { backoff: said.backoff }),
    ...msField('baseMs', said.base),
    ...msField('maxMs', said.max),
    ...(said.jitter === undefined ? {} : { jitter: said.jitter }),
    ...(said.crashes === undefined ? {} : { crashesMax: said.crashes }),
  };
  checkRetry(policy);
  return policy;
}

const msField = <K extends string>(name: K, duration: Duration | undefined): { readonly [Name in K]?: number } =>
  (duration === undefined ? {} : { [name]: durationMs(duration) }) as { readonly [Name in K]?: number };

function checkOnTaskFailure(said: OnTaskFailure): OnTaskFailure {
  if (said === 'collect' || said === 'failFast') return said;
  const number = typeof said === 'object' && said !== null ? ('tolerate' in said ? said.tolerate : said.toleratePercent) : NaN;
  if (number >= 0) return said;
  throw new Refusal('malformed.option', "onTaskFailure is 'collect', 'failFast', { tolerate: n } or { toleratePercent: n }", {});
}
