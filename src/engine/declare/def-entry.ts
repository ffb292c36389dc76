/**
 * The definition entry: a definition as data, in the words of `jobDef` and of the HTTP API. This file writes entries;
 * `def-document.ts` reads them. `policy`, `gate` and `limitKey`, in their stored form, appear only if an operator has
 * set what no option of `jobDef` can.
 */
import { specOf, type Definition, type OwnSettings, type Spec, type SpecGate } from '../../model/definition.ts';
import type { Policy } from '../../model/job.ts';
import { firstTypeVersion } from '../../model/type-version.ts';
import { durationMax, formatDuration, type Duration } from '../../time/duration.ts';
import { scheduleEntry, type ScheduleEntry } from '../../time/schedule-entry.ts';
import type { Misfire } from '../../time/ticks.ts';
import { policyNames } from './def-changes.ts';
import { misfireOf, type DefOptions, type MisfireSettings } from './job-def.ts';
import { retryNames } from './policy.ts';

/** The settings of a definition, as JSON. */
export interface DefSettings extends Omit<DefOptions<unknown>, 'schedules' | 'after' | 'enabled' | 'inMemory'> {
  /** The names of the definitions that it follows. */
  readonly after?: readonly string[];
  readonly schedules?: readonly ScheduleEntry[];
  readonly policy?: Policy;
  readonly gate?: SpecGate;
  /** Left out: it is computed from `params` by the rule of the job type. */
  readonly limitKey?: string;
  /**
   * The version of the job type for which `params` were made. Left out: parameters that stay the same keep their version,
   * others have the version of the type.
   */
  readonly typeVersion?: number;
}

/** A whole definition. A setting that is left out has the value of the job type, or the default. */
export interface DefEntry extends DefSettings {
  readonly name: string;
  readonly type: string;
  /** Left out: a new definition is enabled, and an existing one stays as it is. */
  readonly enabled?: boolean;
}

/** The override of a definition that code declares. A setting that is left out has the value from the code. */
export interface OverrideEntry extends DefSettings {
  readonly name: string;
  /** Left out: the definition stays enabled or disabled. */
  readonly enabled?: boolean;
}

/** Returns the version of the type for which the parameters in effect were made. */
export const paramsVersion = ({ code, override }: Definition): number =>
  overrideVersion({ override }) ?? code.typeVersion ?? firstTypeVersion;

/** Returns the version of the parameters in the override of a definition; undefined: it has no parameters. */
export const overrideVersion = ({ override }: Pick<Definition, 'override'>): number | undefined =>
  override?.params === undefined ? undefined : (override.typeVersion ?? firstTypeVersion);

/** Returns the settings in the override of a definition, without the version of its parameters. */
export const overrideSettings = ({ override }: Pick<Definition, 'override'>): DefSettings => {
  // The uses of named limits and the links are computed from the parameters again.
  const {
    policy, gate, priority, onePerType, limitUses: _uses, links: _links, typeVersion: _version, ...rest
  } = override ?? {};
  const { defMax, ...otherGate } = gate ?? {};
  return settingsOf({
    ...rest, policy: policy ?? {}, priority, onePerType, concurrency: defMax, gate: otherGate,
  });
};

/**
 * Returns all settings that a definition sets itself, in its declaration or in its override, without defaults. A
 * definition that is created from them and `paramsVersion` has the same effect.
 */
export function wholeSettings({ code, override }: Definition): DefSettings {
  const own = ownOf(code);
  const { policy, gate, limitKey, ...rest } = override ?? {};
  const { defMax, ...otherGate } = gate ?? {};
  const { params, schedules, overlap, misfire, manualRuns, tags } = { ...code, ...rest };
  const { after, on, afterFailure } = specOf({ code, override });
  const { leaderOnly, ...mergedPolicy }: Policy = { ...own.policy, ...policy };
  return settingsOf({
    params: params ?? undefined,
    schedules: schedules.length === 0 || after !== undefined ? undefined : schedules,
    after,
    on,
    afterFailure,
    overlap: overlap === 'skip' || (overlap === 'replace' && after !== undefined) ? undefined : overlap,
    misfire: isDefault(misfire) ? undefined : misfire,
    manualRuns: manualRuns ? undefined : manualRuns,
    tags,
    policy: leaderOnly ? { ...mergedPolicy, leaderOnly } : mergedPolicy,
    priority: rest.priority ?? own.priority,
    onePerType: (rest.onePerType ?? own.onePerType) ? true : undefined,
    concurrency: defMax ?? own.concurrency,
    gate: otherGate,
    limitKey,
  });
}

/** The settings that the definition sets itself. A spec without `own` applies as it is, so all of it is its own. */
function ownOf({ own, policy, priority, gate, onePerType }: Spec): OwnSettings {
  if (own !== undefined) return own;
  return {
    policy, priority, ...(gate?.defMax === undefined ? {} : { concurrency: gate.defMax }),
    ...(onePerType ? { onePerType } : {}),
  };
}

type Stored = { readonly [F in 'params' | 'schedules' | 'overlap' | 'misfire' | 'manualRuns' | 'tags' | 'limitKey'
  | 'priority' | 'onePerType' | 'after' | 'on' | 'afterFailure']?: Spec[F] | undefined } & {
  readonly policy: Policy;
  readonly concurrency: number | undefined;
  readonly gate: SpecGate;
};

function settingsOf({ schedules, misfire, policy, tags, limitKey, gate, ...same }: Stored): DefSettings {
  const { settings, rest } = policySettings(policy);
  const all = {
    ...same,
    schedules: schedules?.map(scheduleEntry),
    misfire: misfire && misfireEntry(misfire),
    tags: tags ?? undefined,
    ...settings,
    policy: isEmpty(rest) ? undefined : rest,
    gate: isEmpty(gate) ? undefined : gate,
    limitKey: limitKey ?? undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Splits a policy into the settings of `jobDef`, and the fields that have no such setting. */
function policySettings(policy: Policy): { readonly settings: DefSettings; readonly rest: Policy } {
  const [own, afterOwn] = renamed(policy, policyNames);
  const [retry, rest] = renamed(afterOwn, retryNames);
  return { settings: { ...own, ...(isEmpty(retry) ? {} : { retry }) }, rest };
}

/** Returns the fields that have a setting's name, under that name, and the other fields. Milliseconds become texts. */
function renamed(policy: object, names: Readonly<Record<string, string>>): [object, object] {
  const rest = new Map(Object.entries(policy));
  const settings = Object.entries(names).flatMap(([name, stored]) => {
    const value: unknown = rest.get(stored);
    if (value === undefined || isTooLong(stored, value)) return [];
    rest.delete(stored);
    return [[name, stored.endsWith('Ms') ? durationText(value as number) : value]];
  });
  return [Object.fromEntries(settings) as object, Object.fromEntries(rest)];
}

/** Whether a duration of the stored form is longer than a duration in text may be. */
const isTooLong = (stored: string, value: unknown): boolean => stored.endsWith('Ms') && (value as number) > durationMax;

const misfireDefault = misfireOf('once');

const isDefault = (misfire: Misfire): boolean => JSON.stringify(misfireEntry(misfire)) === '"once"';

function misfireEntry({ policy, windowMs, cap, graceMs }: Misfire): Misfire['policy'] | MisfireSettings {
  const settings: MisfireSettings = {
    policy,
    ...(windowMs === misfireDefault.windowMs ? {} : { window: durationText(windowMs) }),
    ...(cap === misfireDefault.cap ? {} : { cap }),
    ...(graceMs === undefined || graceMs === misfireDefault.graceMs ? {} : { grace: durationText(graceMs) }),
  };
  return Object.keys(settings).length === 1 ? policy : settings;
}

const durationText = (ms: number): Duration => formatDuration(ms) as Duration;

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
