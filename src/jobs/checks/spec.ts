/** Validates an operator's override of a spec, so that an invalid override is refused before it is stored. */
import { connectedDefsMax } from '../../model/def-graph.ts';
import { overlaps, type DefLink, type Spec } from '../../model/definition.ts';
import { afterFailures, followOns } from '../../model/following.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { checkSchedule } from '../../time/schedule.ts';
import { checkMisfire } from '../../time/ticks.ts';
import {
  checkFields, checkFlag, checkList, checkName, checkObject, checkOneOf, checkPriority, checkText, checkWhole, keyMax, checkTags,
  checkTypeVersion,
} from './values.ts';
import { checkLimitUses } from './limit-uses.ts';
import { checkPolicy } from './policy.ts';

const schedulesMax = 100;
const limitMax = 1_000_000;
/** Each link has a reference in the parameters, whose size is limited. */
const linksMax = 100_000;

/** The fields that an operator can override. The others are set by the code of the job type, which depends on them. */
type Overridable = Exclude<keyof Spec, 'type' | 'phase' | 'inMemory' | 'own'>;

const checks: { readonly [F in Overridable]-?: (value: never, now: number) => Spec[F] } = {
  params: (value) => parseJson(jsonText(value)),
  schedules: (value) => checkList('schedules', value, schedulesMax, checkSchedule),
  after: (value) => checkList('after', value, connectedDefsMax, (name) => checkName('definition', name)),
  on: (value) => checkOneOf('on', value, followOns),
  afterFailure: (value) => checkOneOf('afterFailure', value, afterFailures),
  links: (value) => checkList('links', value, linksMax, checkLink),
  policy: checkPolicy,
  priority: (value) => checkPriority(value),
  overlap: (value) => checkOneOf('overlap', value, overlaps),
  misfire: (value) => checkMisfire(checkFields('misfire', value, ['policy', 'windowMs', 'cap', 'graceMs'])),
  onePerType: (value) => checkFlag('onePerType', value),
  manualRuns: (value) => checkFlag('manualRuns', value),
  tags: (value) => (value === null ? null : checkTags(value)),
  gate: (value) => (value === null ? null : checkGate(value)),
  limitKey: (value) => (value === null ? null : checkText('limit key', value, keyMax)),
  limitUses: (value) => checkLimitUses(value),
  typeVersion: (value) => checkTypeVersion(value),
};

/**
 * Changes to an override. Null removes a setting from the override, so that the value from the code applies again.
 * Exception: `params: null` makes null the input of the runs. The fields of `policy` and `gate` are merged one by one.
 */
export type OverridePatch = {
  readonly [F in Overridable]?: F extends 'policy' | 'gate' ? Nullable<NonNullable<Spec[F]>> | null : Spec[F] | null;
};

type Nullable<T> = { readonly [F in keyof T]?: T[F] | null };

/**
 * Returns the override with the patch applied. `params` is replaced as a whole, also by null, which is a valid input of
 * a run.
 */
export function mergeOverride(before: Partial<Spec> | null, patch: OverridePatch): Partial<Spec> {
  checkFields('an override', patch, Object.keys(checks));
  const merged: Record<string, unknown> = withoutOtherRule(before ?? {}, patch);
  for (const [field, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null && field !== 'params') delete merged[field];
    else merged[field] = isMerged(field) ? mergeFields(field, merged[field], value) : value;
    if (isMerged(field) && Object.keys(merged[field] ?? {}).length === 0) delete merged[field];
  }
  return merged;
}

/** `on` and `afterFailure` exclude each other: the one that the patch sets replaces the other of the override. */
function withoutOtherRule({ on, afterFailure, ...rest }: Partial<Spec>, patch: OverridePatch): Partial<Spec> {
  return {
    ...rest,
    ...(on === undefined || patch.afterFailure != null ? {} : { on }),
    ...(afterFailure === undefined || patch.on != null ? {} : { afterFailure }),
  };
}

const isMerged = (field: string): boolean => field === 'policy' || field === 'gate';

const mergeFields = (what: string, before: unknown, patch: unknown): object =>
  Object.fromEntries(
    Object.entries({ ...(before as object), ...checkObject(what, patch as object) })
      .filter(([, value]) => value !== null),
  );

export function checkOverride(override: Partial<Spec>, now: number): Partial<Spec> {
  const fields = Object.entries(checkFields('an override', override, Object.keys(checks)));
  const known = fields.filter(([, value]) => value !== undefined);
  return Object.fromEntries(known.map(([field, value]) => [field, checks[field as Overridable](value as never, now)]));
}

const checkLink = (link: DefLink): DefLink => checkFields('a link', link, ['def', 'from', 'to']);

function checkGate(gate: NonNullable<Spec['gate']>): Spec['gate'] {
  for (const max of Object.values(checkFields('gate', checkObject('gate', gate), ['typeMax', 'defMax']))) {
    checkWhole('a limit', max, 1, limitMax);
  }
  return { ...gate };
}
