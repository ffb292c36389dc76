/**
 * Converts an operator's changes of a definition to a patch of its override. The changes have the names of the options
 * of `jobDef` except `enabled` and `inMemory`; `policy`, `gate` and `limitKey` are accepted too, in their stored form.
 */
import type { OverridePatch } from '../../jobs/checks/spec.ts';
import { checkFields, checkObject } from '../../jobs/checks/values.ts';
import type { Spec } from '../../model/definition.ts';
import { checkSchedule } from '../../time/schedule.ts';
import type { Misfire } from '../../time/ticks.ts';
import { bothRules, namesOfDefs } from './def-following.ts';
import { checkConcurrency, misfireOf, type DefOptions, type MisfireSettings } from './job-def.ts';
import { policyOf, retryNames } from './policy.ts';
import type { RetrySettings } from './settings.ts';

/** Options that an override cannot change: `enable` and `disable` are separate actions; only code sets `inMemory`. */
type Fixed = 'enabled' | 'inMemory';

/**
 * The settings to change; a setting that is left out stays as it is. Null removes the override of a setting, so that
 * the value from the code applies again. Only `params: null` is different: it makes null the input of the runs.
 */
export type DefChanges = {
  readonly [F in keyof Omit<DefOptions<unknown>, Fixed | 'misfire' | 'retry'>]?: DefOptions<unknown>[F] | null;
} & {
  readonly retry?: { readonly [F in keyof RetrySettings]?: RetrySettings[F] | null } | null;
  /** A policy, a policy with its settings as in `jobDef`, or the stored form with milliseconds. */
  readonly misfire?: Misfire['policy'] | MisfireSettings | Spec['misfire'] | null;
} & Pick<OverridePatch, 'policy' | 'gate' | 'limitKey'>;

/** The settings that are stored in the policy of a job, with their names in the policy. */
export const policyNames = {
  timeout: 'timeoutMs',
  prepareTimeout: 'prepareTimeoutMs',
  retention: 'retentionMs',
  onTaskFailure: 'onTaskFailure',
  leaderOnly: 'leaderOnly',
} as const;

const sameNames = [
  'params', 'priority', 'overlap', 'onePerType', 'manualRuns', 'tags', 'limitKey', 'on', 'afterFailure',
] as const;
const names = [
  ...sameNames, ...Object.keys(policyNames), 'schedules', 'after', 'misfire', 'retry', 'concurrency', 'policy', 'gate',
];

export function overridePatch(changes: DefChanges): OverridePatch {
  checkFields('a change of a definition', changes, names);
  const { schedules, after, misfire, concurrency, policy, gate } = changes;
  if (changes.on != null && changes.afterFailure != null) throw bothRules();
  const policyPatch = { ...objectOf('policy', policy), ...policyChanges(changes) };
  const gatePatch = { ...objectOf('gate', gate), ...limitOf(concurrency) };
  const same = sameNames.flatMap((name) => (changes[name] === undefined ? [] : [[name, changes[name]] as const]));
  return {
    ...Object.fromEntries(same),
    ...(schedules === undefined ? {} : { schedules: schedules && [schedules].flat().map(checkSchedule) }),
    ...(after === undefined ? {} : { after: after === null ? null : namesOfDefs(after) }),
    ...(misfire === undefined ? {} : { misfire: misfire && storedMisfire(misfire) }),
    ...(policy === null ? { policy: null } : isEmpty(policyPatch) ? {} : { policy: policyPatch }),
    ...(gate === null ? { gate: null } : isEmpty(gatePatch) ? {} : { gate: gatePatch }),
  };
}

/** Returns the changed settings that belong to the policy of a job, in their stored form, such as milliseconds. */
function policyChanges(changes: DefChanges): Record<string, unknown> {
  const { retry, leaderOnly } = changes;
  const settings = nonNull({ ...changes, retry: retry ? nonNull(checkObject('retry', retry)) : undefined });
  return {
    ...policyOf(settings),
    ...(leaderOnly == null ? {} : { leaderOnly }),
    ...nulls(policyNames, changes),
    ...(retry === null ? allNull(Object.values(retryNames)) : nulls(retryNames, retry)),
  };
}

const limitOf = (concurrency: number | null | undefined): { readonly defMax?: number | null } =>
  (concurrency === undefined ? {} : { defMax: concurrency === null ? null : checkConcurrency(concurrency) });

const nulls = (stored: Readonly<Record<string, string>>, given: object = {}): Record<string, null> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === null && stored[name] ? [[stored[name], null]] : [])),
  );

const allNull = (names: readonly string[]): Record<string, null> =>
  Object.fromEntries(names.map((name) => [name, null]));

const nonNull = (given: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));

const objectOf = (what: string, value: object | null | undefined): object =>
  (value == null ? {} : checkObject(what, value));

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

const storedMisfire = (misfire: NonNullable<DefChanges['misfire']>): Misfire =>
  typeof misfire === 'object' && 'windowMs' in misfire ? misfire : misfireOf(misfire);
