/** Validates a policy: known fields, numbers within bounds, rules that parse. */
import { batchSizeMax, type Policy } from '../../model/job.ts';
import { checkRetry, defaultRetry } from '../../model/retry.ts';
import { Refusal } from '../../refusal.ts';
import { applyModifiers, parseModifiers, parseRepeat } from '../../time/repeat.ts';
import { checkFields, checkFlag, checkOneOf, checkTime, checkWhole, givenFields, timeMax } from './values.ts';

const checks: {
  readonly [F in Exclude<keyof Policy, keyof typeof defaultRetry>]-?: (value: never, now: number) => unknown;
} = {
  timeoutMs: (value) => checkWhole('timeoutMs', value, 0, timeMax),
  prepareTimeoutMs: (value) => checkWhole('prepareTimeoutMs', value, 0, timeMax),
  onTaskFailure: checkOnTaskFailure,
  retentionMs: (value) => checkWhole('retentionMs', value, 0, timeMax),
  leaderOnly: (value) => checkFlag('leaderOnly', value),
  // The rule is applied once here, to refuse a rule whose result is outside the years 0000 to 9999. Otherwise the rule
  // would fail only when the job finishes.
  repeat: (value, now) => applyModifiers(parseRepeat(value).modifiers, now),
  retryAfter: (value, now) => applyModifiers(parseModifiers(value), now),
  startBy: (value) => checkTime('startBy', value),
  handOutsMax: (value) => checkWhole('handOutsMax', value, 1, 1_000_000),
  batchMax: (value) => checkWhole('batchMax', value, 1, batchSizeMax),
};

const fields = [...Object.keys(checks), ...Object.keys(defaultRetry)];

/** Validates a policy and returns a copy without undefined fields; defaults are not filled in. */
export function checkPolicy(policy: Policy, now: number): Policy {
  const given = givenFields('a policy', policy, fields);
  if (given.length === 0) return {};
  checkRetry(Object.fromEntries(given.filter(([field]) => Object.hasOwn(defaultRetry, field))));
  for (const [field, value] of given) checks[field as keyof typeof checks]?.(value, now);
  return Object.fromEntries(given.map(([field, value]) => [field, field === 'onTaskFailure' ? copied(value) : value]));
}

const copied = (value: unknown): unknown => (typeof value === 'object' ? { ...value } : value);

function checkOnTaskFailure(value: string | { tolerate?: number; toleratePercent?: number }): void {
  if (typeof value === 'string') return void checkOneOf('onTaskFailure', value, ['collect', 'failFast']);
  const { tolerate, toleratePercent } = checkFields('onTaskFailure', value, ['tolerate', 'toleratePercent']);
  if ((tolerate === undefined) === (toleratePercent === undefined)) {
    throw new Refusal('malformed.option', 'onTaskFailure is collect, failFast, { tolerate } or { toleratePercent }');
  }
  if (tolerate === undefined) checkPercent(toleratePercent);
  else checkWhole('tolerate', tolerate, 0, Number.MAX_SAFE_INTEGER);
}

function checkPercent(percent: unknown): void {
  if (typeof percent === 'number' && percent >= 0 && percent <= 100) return;
  throw new Refusal('malformed.number', 'toleratePercent must be a number from 0 to 100', { name: 'toleratePercent' });
}
