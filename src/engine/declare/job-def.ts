/** The job definition as declared in code: a type, its parameters, schedules and settings. */
import { isFollower, overlaps, specOf, type Overlap, type OwnSettings, type Spec } from '../../model/definition.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { versionOfEntry, type TypeEntry } from '../../model/type-entry.ts';
import { dependsOnInput, limitsWithFairness } from '../../model/type-limit.ts';
import { checkFields, checkFlag, checkName, checkPriority, checkTags, checkWhole } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { isPromiseLike, type MaybePromise } from '../../time/maybe-promise.ts';
import { checkSchedule, type Schedule } from '../../time/schedule.ts';
import { checkMisfire, type Misfire } from '../../time/ticks.ts';
import { followingFields, refuseBesideAfter, type DefFollowing } from './def-following.ts';
import { DefinedResult, linksOf, withReferences } from './def-links.ts';
import type { MaybeFollowing, SureFollowing } from './follow-request.ts';
import type { JobType } from './job-type.ts';
import { policyOf } from './policy.ts';
import { resultOrNullPart, resultPart, type Linked, type MaybePart, type ResultPart } from './result-part.ts';
import type { Settings } from './settings.ts';
import { checkStored } from './stored-input.ts';
import { rulesOfType, type TypeRules } from './type-rules.ts';
import { uncheckedRules } from './unchecked-rules.ts';

export interface DefOptions<Input> extends Settings, DefFollowing {
  /**
   * The input of the definition's runs; validated by the schema of the type. Parts of it may be results of other
   * definitions, such as `extract.result.rows`, which this one then follows.
   */
  readonly params?: Input;
  /** When runs are due: `cron()`, `every()`, `repeat()`, `at()`, or several of them. */
  readonly schedules?: readonly Schedule[] | Schedule;
  /**
   * What a tick does while an earlier run is open. `skip` (default) creates no run, and `allow` creates a run at once.
   * `queue` creates a run that waits until the earlier run has ended. `replace` cancels the earlier run and creates a
   * run that starts when the earlier run has ended. Runs of a definition with `after` wait for each other, unless it is
   * `allow`.
   */
  readonly overlap?: Overlap;
  /** How to make up for missed ticks: `once` (default) runs the newest, `all` runs each, `skip` runs none. */
  readonly misfire?: Misfire['policy'] | MisfireSettings;
  /** How many runs of the definition may be running at a time, across all instances. */
  readonly concurrency?: number;
  /** False: the definition is created disabled. After its creation, operators enable and disable it; deploys do not. */
  readonly enabled?: boolean;
  /**
   * True: only the leader starts runs of the definition. Runs that it has started continue if another instance becomes
   * leader.
   */
  readonly leaderOnly?: boolean;
  /** True: the runs are in the memory of this process, not in the database, and are lost when the process ends. */
  readonly inMemory?: boolean;
  /** False: only the schedules create runs; `createJobRun` is refused. */
  readonly manualRuns?: boolean;
  /**
   * True: only one run of the type at a time, scheduled or manual, of this and any other definition. It has the same
   * effect as `onePerType` on the type. False has no effect: a definition cannot remove the limit of its type.
   */
  readonly onePerType?: boolean;
  /** The tags of the runs of the definition. A request for a run can add tags and replace values. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface MisfireSettings {
  /** `skip`, `once` or `all`. */
  readonly policy: Misfire['policy'];
  /** How far back missed ticks are made up for. Default: 1d. */
  readonly window?: Duration;
  /** The maximum number of missed ticks to make up for; older ticks are skipped. Default: 100. */
  readonly cap?: number;
  /** How late a tick may be before it counts as missed. Default: 1m. */
  readonly grace?: Duration;
}

export interface JobDef<Input = never, Result = unknown> {
  readonly name: string;
  readonly type: JobType<Input, Result>;
  readonly spec: Spec;
  readonly enabled: boolean;
  /**
   * The result of the run of this definition, as a part of the parameters of a definition that follows it. `result.rows` is
   * the member `rows` of the result.
   */
  readonly result: ResultPart<Result>;
  /** Like `result`, for definitions whose runs start although the run of this one fails: null if it does not succeed. */
  readonly resultOrNull: MaybePart<Result | null>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- neither unknown nor never fits every type
export type AnyJobDef = JobDef<any, any>;

/**
 * The options of `jobDef`. One with schedules or `after` requires `params`, unless the type accepts `undefined`. Parts of the
 * parameters of a definition without schedules may be results of definitions that it follows.
 */
export type DefOptionsOf<Input> =
  | (undefined extends Input
    ? DefOptions<Input>
    : DefOptions<Input> & ({ readonly params: Input } | { readonly schedules?: undefined; readonly after?: undefined }))
  | (LinkedFields & SureFollowing & { readonly params: Linked<Input, 'sure'> })
  | (LinkedFields & MaybeFollowing & { readonly params: Linked<Input, 'maybe'> });

type LinkedFields = Omit<DefOptions<never>, 'params' | 'schedules' | 'on' | 'afterFailure'> & { readonly schedules?: never };

export function jobDef<Input, Result>(
  name: string,
  type: JobType<Input, Result>,
  options: DefOptionsOf<NoInfer<Input>> = {},
): JobDef<Input, Result> {
  checkName('definition', name);
  const given = withReferences<DefOptions<unknown>>(options);
  const rules = rulesFor(rulesOfType(type), given);
  // Throws if the parameters are invalid. A promise of an asynchronous schema is not awaited here: the engine validates
  // the parameters again when it declares the definition.
  const output = checkParams(rules, given);
  const isLater = isPromiseLike(output);
  if (isLater) output.then(undefined, () => {});
  const spec = specFrom(rules, given, isLater ? undefined : output);
  return frozenDef({ name, type, spec, enabled: given.enabled ?? true });
}

/** Returns a definition with its results, which are not enumerable: nobody can compare or serialize them. */
export function frozenDef<Input, Result>(
  def: Omit<JobDef<Input, Result>, 'result' | 'resultOrNull'>,
): JobDef<Input, Result> {
  const { name, type, spec, enabled } = def;
  const defined = new DefinedResult(name);
  return Object.freeze(Object.defineProperties({ name, type, spec, enabled }, {
    result: { value: resultPart(defined) }, resultOrNull: { value: resultOrNullPart(defined) },
  })) as JobDef<Input, Result>;
}

/** Returns the rules for the parameters of a definition. They are not validated if results are missing in them. */
export const rulesFor = (rules: TypeRules, options: DefFollowing & { readonly params?: unknown }): TypeRules =>
  (linksOf(options.params, followingFields(options)).length === 0 ? rules : uncheckedRules(rules));

/**
 * Returns the spec to store. An asynchronous schema validates the parameters now, and its output gives the limit key. A
 * synchronous schema has done so in `jobDef`, and its second answer is ignored.
 */
export async function checkedSpec({ type, spec }: JobDef): Promise<Spec> {
  if (spec.links !== undefined || (spec.params === null && spec.schedules.length === 0 && !isFollower(spec))) return spec;
  const rules = rulesOfType(type);
  let output: MaybePromise<unknown>;
  try {
    output = checkStored(rules.check, spec.params);
  } catch {
    return spec;
  }
  if (!isPromiseLike(output)) return spec;
  const valid = await output;
  return { ...spec, limitKey: keyOf(rules, valid), ...usesOf(rules, valid) };
}

/** Whether something creates runs of the definition by itself: a schedule, or a definition that it follows. */
export const isStarted = ({ schedules = [], after = [] }: Pick<DefOptions<unknown>, 'schedules' | 'after'>): boolean =>
  [schedules].flat().length > 0 || [after].flat().length > 0;

/**
 * Validates the parameters by the schema of the type, and returns the output of the schema. A definition with schedules
 * or `after` needs valid parameters. If a definition has neither of them nor parameters, nothing is validated and
 * undefined is returned: each of its runs has its own input.
 */
export function checkParams(
  { check }: Pick<TypeRules, 'check'>,
  options: Pick<DefOptions<unknown>, 'params' | 'schedules' | 'after'>,
): MaybePromise<unknown> {
  const { params } = options;
  return isStarted(options) || params !== undefined ? check(params) : undefined;
}

/**
 * Refuses parameters of a version of the type that cannot be upgraded here, if the limits of their runs depend on them.
 * Other parameters are upgraded and validated when a run starts.
 */
export function refuseUnreadableLimits({ entry }: TypeRules, version: number): void {
  const { name, keyConcurrency } = entry;
  if (keyConcurrency === null && !limitsWithFairness(entry).some(dependsOnInput)) return;
  const message =
    `only code that knows version ${version} of ${name} can compute the limits of these parameters: ` +
    `give parameters of version ${versionOfEntry(entry)}, or change the definition where that code runs`;
  throw new Refusal('needs.code', message, { type: name, version });
}

/** All option names: any other name is refused as misspelt. `satisfies` makes the compiler report a missing one. */
export const defOptionNames = Object.keys({
  params: 0, schedules: 0, after: 0, on: 0, afterFailure: 0, overlap: 0, misfire: 0, concurrency: 0, enabled: 0,
  leaderOnly: 0, inMemory: 0, manualRuns: 0, onePerType: 0, tags: 0, timeout: 0, prepareTimeout: 0, retry: 0,
  onTaskFailure: 0, priority: 0,
  retention: 0,
} satisfies Record<keyof DefOptions<unknown>, 0>);

/**
 * Returns a complete spec. An option that is left out has the value of the type; if the type has none, the default.
 * `output` is the output of the schema for the parameters, which gives the limit key.
 */
export function specFrom(rules: TypeRules, options: DefOptions<unknown>, output: unknown): Spec {
  checkFields('a definition', options, defOptionNames);
  const { entry } = rules;
  const own = ownSettings(options);
  const following = followingFields(options);
  refuseBesideAfter(following.after !== undefined, options);
  const params = parseJson(jsonText(options.params ?? null));
  const links = linksOf(params, following);
  const code: Spec = {
    type: entry.name,
    params,
    ...(entry.version === undefined ? {} : { typeVersion: entry.version }),
    schedules: [options.schedules ?? []].flat().map(checkSchedule),
    ...following,
    ...(links.length === 0 ? {} : { links }),
    policy: own.policy,
    priority: own.priority ?? 0,
    overlap: checkOverlap(options.overlap ?? 'skip'),
    misfire: misfireOf(options.misfire ?? 'once'),
    onePerType: own.onePerType ?? false,
    inMemory: flagOf('inMemory', options.inMemory, false),
    manualRuns: flagOf('manualRuns', options.manualRuns, true),
    tags: options.tags === undefined ? null : checkTags(options.tags),
    phase: entry.phase,
    gate: null,
    limitKey: keyOf(rules, output),
    own,
  };
  refuseInMemory(entry, code);
  const { limitUses: _uses, ...spec } = specOf({ code, override: null }, entry);
  return { ...spec, limitKey: code.limitKey, ...usesOf(rules, output), own };
}

const keyOf = (rules: TypeRules, output: unknown): string | null =>
  output === undefined ? null : (rules.limitKey(output) ?? null);

function usesOf(rules: TypeRules, output: unknown): Pick<Spec, 'limitUses'> {
  const limitUses = output === undefined ? [] : rules.limitUses(output);
  return limitUses.length === 0 ? {} : { limitUses };
}

/**
 * Refuses `inMemory` for a type with `onePerType` or named limits. What enforces them is in the database; a run in the
 * memory of one process would not be counted.
 */
export function refuseInMemory(entry: TypeEntry, spec: Pick<Spec, 'inMemory' | 'onePerType'>): void {
  const { name, onePerType, limits, taskLimits } = entry;
  const isNamed = limits !== undefined || taskLimits !== undefined;
  if (!spec.inMemory || !(onePerType || spec.onePerType || isNamed)) return;
  const why = isNamed ? 'are limited by name' : 'run one at a time';
  const message = `runs of ${name} ${why} on all instances, so that none can be in memory: leave out inMemory`;
  throw new Refusal('malformed.option', message, { type: name });
}

/**
 * Returns the settings that the definition itself sets; the others come from its type. `onePerType: false` is left out
 * like an absent option, because a definition cannot remove the limit of its type.
 */
function ownSettings(options: DefOptions<unknown>): OwnSettings {
  const { priority, concurrency, leaderOnly, onePerType, enabled } = options;
  if (enabled !== undefined) checkFlag('enabled', enabled);
  return {
    policy: { ...policyOf(options), ...(flagOf('leaderOnly', leaderOnly, false) ? { leaderOnly: true } : {}) },
    ...(priority === undefined ? {} : { priority: checkPriority(priority) }),
    ...(concurrency === undefined ? {} : { concurrency: checkConcurrency(concurrency) }),
    ...(flagOf('onePerType', onePerType, false) ? { onePerType: true } : {}),
  };
}

const concurrencyMax = 1_000_000;

export const checkConcurrency = (concurrency: unknown): number =>
  checkWhole('concurrency', concurrency, 1, concurrencyMax);

const flagOf = (name: string, value: boolean | undefined, byDefault: boolean): boolean =>
  value === undefined ? byDefault : checkFlag(name, value);

const misfireNames = ['policy', 'window', 'cap', 'grace'];

export function misfireOf(setting: Misfire['policy'] | MisfireSettings): Misfire {
  const settings: MisfireSettings =
    typeof setting === 'string' ? { policy: setting } : checkFields('misfire', setting, misfireNames);
  const { policy, window = '1d', cap = 100, grace = '1m' } = settings;
  return checkMisfire({ policy, windowMs: durationMs(window), cap, graceMs: durationMs(grace) });
}

function checkOverlap(overlap: Overlap): Overlap {
  if (overlaps.includes(overlap)) return overlap;
  throw new Refusal('malformed.option', `overlap must be one of ${overlaps.join(', ')}`, { overlap });
}
