/** Converts the settings of a type or definition into the policy that is stored with a job. */
import type { OnTaskFailure, Policy } from '../../model/job.ts';
import { checkRetry, type RetryNames, type RetryPolicy } from '../../model/retry.ts';
import { checkFields } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import type { RetrySettings, Settings } from './settings.ts';

/** Returns a policy with only the settings that are present, so that defaults are not stored. */
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

/** The settings of `retry`, with their names in the policy. */
export const retryNames = {
  attempts: 'attemptsMax',
  backoff: 'backoff',
  base: 'baseMs',
  max: 'maxMs',
  jitter: 'jitter',
  crashes: 'crashesMax',
} as const satisfies Record<keyof RetrySettings, keyof RetryPolicy>;

const settingNames = Object.fromEntries(
  Object.entries(retryNames).map(([setting, stored]) => [stored, setting]),
) as RetryNames;

export function retryPolicyOf(settings: RetrySettings): Partial<RetryPolicy> {
  checkFields('retry', settings, Object.keys(retryNames));
  const policy = {
    ...(settings.attempts === undefined ? {} : { attemptsMax: settings.attempts }),
    ...(settings.backoff === undefined ? {} : { backoff: settings.backoff }),
    ...msField('baseMs', settings.base),
    ...msField('maxMs', settings.max),
    ...(settings.jitter === undefined ? {} : { jitter: settings.jitter }),
    ...(settings.crashes === undefined ? {} : { crashesMax: settings.crashes }),
  };
  checkRetry(policy, settingNames);
  return policy;
}

const msField = <K extends string>(name: K, duration: Duration | undefined): { readonly [Name in K]?: number } =>
  (duration === undefined ? {} : { [name]: durationMs(duration) }) as { readonly [Name in K]?: number };

function checkOnTaskFailure(setting: OnTaskFailure): OnTaskFailure {
  if (setting === 'collect' || setting === 'failFast') return setting;
  if (toleratedOf(setting) >= 0) return setting;
  const message = "onTaskFailure must be 'collect', 'failFast', { tolerate: n } or { toleratePercent: n }";
  throw new Refusal('malformed.option', message, {});
}

function toleratedOf(setting: Exclude<OnTaskFailure, string>): number {
  if (typeof setting !== 'object' || setting === null) return NaN;
  return 'tolerate' in setting ? setting.tolerate : setting.toleratePercent;
}
