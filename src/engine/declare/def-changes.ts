/** Changes of a definition by an operator, in the words of `jobDef`, and the patch of its override that they become. */
import type { OverridePatch } from '../../jobs/checks/spec.ts';
import { checkFields, checkObject } from '../../jobs/checks/values.ts';
import type { Spec } from '../../model/definition.ts';
import { checkSchedule } from '../../time/schedule.ts';
import type { Misfire } from '../../time/ticks.ts';
import { misfireOf, type DefOptions, type MisfireSettings } from './job-def.ts';
import { policyOf } from './policy.ts';
import type { RetrySettings } from './settings.ts';

/** The settings that only the code has. */
type Fixed = 'enabled' | 'inMemory';

/** Null takes a setting back, so that the declared one counts. What is left out stays as it is. */
export type DefChanges = {
  readonly [F in keyof Omit<DefOptions<unknown>, Fixed | 'misfire' | 'retry'>]?: DefOptions<unknown>[F] | null;
} & {
  readonly retry?: { readonly [F in keyof RetrySettings]?: RetrySettings[F] | null } | null;
  /** A policy, its settings, or its stored form. */
  readonly misfire?: Misfire['policy'] | MisfireSettings | Spec['misfire'] | null;
} & Pick<OverridePatch, 'policy' | 'gate' | 'limitKey'>;

/** The settings that are stored in the policy, and their names there. */
const policyNames = {
  timeout: 'timeoutMs',
  prepareTimeout: 'prepareTimeoutMs',
  retention: 'retentionMs',
  onTaskFailure: 'onTaskFailure',
  leaderOnly: 'leaderOnly',
} as const;

const retryNames = {
  attempts: 'attemptsMax',
  backoff: 'backoff',
  base: 'baseMs',
  max: 'maxMs',
  jitter: 'jitter',
  crashes: 'crashesMax',
} as const;

const sameNames = ['params', 'priority', 'overlap', 'onePerType', 'manualRuns', 'tags', 'limitKey'] as const;
const names = [
  ...sameNames, ...Object.keys(policyNames), 'schedules', 'misfire', 'retry', 'concurrency', 'policy', 'gate',
];

export function overridePatch(changes: DefChanges): OverridePatch {
  checkFields('a change of a definition', changes, names);
  const { schedules, misfire, concurrency, policy, gate } = changes;
  const policyPatch = { ...objectOf('policy', policy), ...policyChanges(changes) };
  const gatePatch = { ...objectOf('gate', gate), ...(concurrency === undefined ? {} : { defMax: concurrency }) };
  const same = sameNames.flatMap((name) => (changes[name] === undefined ? [] : [[name, changes[name]] as const]));
  return {
    ...Object.fromEntries(same),
    ...(schedules === undefined ? {} : { schedules: schedules && [schedules].flat().map(checkSchedule) }),
    ...(misfire === undefined ? {} : { misfire: misfire && storedMisfire(misfire) }),
    ...(policy === null ? { policy: null } : isEmpty(policyPatch) ? {} : { policy: policyPatch }),
    ...(gate === null ? { gate: null } : isEmpty(gatePatch) ? {} : { gate: gatePatch }),
  };
}

/** Durations and retries in their stored form. */
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

const nulls = (stored: Readonly<Record<string, string>>, given: object = {}): Record<string, null> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === null && stored[name] ? [[stored[name], null]] : [])),
  );

const allNull = (names: readonly string[]): Record<string, null> => Object.fromEntries(names.map((name) => [name, null]));

const nonNull = (given: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));

const objectOf = (what: string, value: object | null | undefined): object => (value == null ? {} : checkObject(what, value));

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

const storedMisfire = (misfire: NonNullable<DefChanges['misfire']>): Misfire =>
  typeof misfire === 'object' && 'windowMs' in misfire ? misfire : misfireOf(misfire);
