/**
 * The rules of a type: its catalogue entry, how to validate inputs, and how to find the limit key of a run. They come
 * from the code of the type, or, in a program without the code, from the catalogue.
 */
import { checkText, keyMax } from '../../jobs/checks/values.ts';
import { keyAt } from '../../model/path.ts';
import { unknownType, versionOfEntry, type TypeEntry } from '../../model/type-entry.ts';
import { firstTypeVersion, knowsVersion } from '../../model/type-version.ts';
import { Refusal } from '../../refusal.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';
import { batchWaitMs } from './batch.ts';
import { registeredShare, shareByCode, typeFairness } from './fairness.ts';
import { hasTasks, type AnyOptions, type JobType } from './job-type.ts';
import { jsonSchemaText, schemaFromText } from './json-schema.ts';
import { registeredUses, typeLimits, usesByCode, type UsesOf } from './limit-uses.ts';
import { policyOf } from './policy.ts';
import { checked, type Schema } from './schema.ts';
import { knownVersions, upgraded } from './upgrade.ts';

export interface TypeRules {
  readonly entry: TypeEntry;
  /** False: no instance has registered the type, and its entry is empty. */
  readonly isKnown: boolean;
  /** Validates an input and returns the output of the schema, which may transform it. Refuses an invalid input. */
  readonly check: (input: unknown) => MaybePromise<unknown>;
  /**
   * Returns the `check` of inputs of a version of the type, which upgrades them first. Null: they cannot be upgraded
   * here; without the code, only inputs of the current version are checked.
   */
  readonly checkOfVersion: (version: number) => TypeRules['check'] | null;
  /** Returns the limit key of a run, given the output of `check`; undefined: the run is not limited by a key. */
  readonly limitKey: (output: unknown) => string | undefined;
  /** Returns what a run takes of its named limits, and its share, given the output of `check`. */
  readonly limitUses: UsesOf;
  /** Returns what a task takes of its named limits, given the task. */
  readonly taskLimitUses: UsesOf;
}

const known = new WeakMap<JobType, TypeRules>();

/** Returns the rules of a type from its code. Cached, because the options of a type do not change. */
export function rulesOfType(type: JobType): TypeRules {
  const cached = known.get(type);
  if (cached) return cached;
  const { input, limit, limits, cost, fairness, taskLimits, taskCost } = type.options;
  const check = checkBy(input ?? null, type.name);
  const rules: TypeRules = {
    entry: entryOf(type),
    isKnown: true,
    check,
    checkOfVersion: (version) => (isKnown(type, version) ? (old) => check(upgraded(type, old, version)) : null),
    limitKey: limit ? (output) => limitKeyOf(limit, output) : () => undefined,
    limitUses: both(usesByCode(`a run of ${type.name}`, limits, cost), shareByCode(`a run of ${type.name}`, fairness)),
    taskLimitUses: usesByCode(`a task of ${type.name}`, taskLimits, taskCost),
  };
  known.set(type, rules);
  return rules;
}

/** Returns the rules of a type whose code is in another program, from its catalogue entry. */
export function rulesOfEntry(entry: TypeEntry): TypeRules {
  const { name, schema, limits, fairness, taskLimits } = entry;
  const check = checkBy(schema === null ? null : schemaFromText(schema), name);
  return {
    entry,
    isKnown: true,
    check,
    checkOfVersion: (version) => (version === versionOfEntry(entry) ? check : null),
    limitKey: (output) => registeredKey(entry, output),
    limitUses: both(registeredUses(`a run of ${name}`, limits), registeredShare(`a run of ${name}`, fairness)),
    taskLimitUses: registeredUses(`a task of ${name}`, taskLimits),
  };
}

const isKnown = (type: JobType, version: number): boolean => knowsVersion([knownVersions(type)], type.name, version);

/** If the type has no fairness, the list of uses is passed on: the store writes new jobs with one list together. */
const both = (usesOf: UsesOf, shareOf: UsesOf): UsesOf => (input, burstOf) => {
  const [uses, share] = [usesOf(input, burstOf), shareOf(input)];
  return share.length === 0 ? uses : [...uses, ...share];
};

export const rulesOfUnknown = (name: string): TypeRules =>
  ({ ...rulesOfEntry(unknownType(name)), isKnown: false });

export const withOnePerType = (rules: TypeRules): TypeRules =>
  ({ ...rules, entry: { ...rules.entry, onePerType: true } });

const checkBy = (schema: Schema | null, name: string): TypeRules['check'] =>
  schema === null ? (input) => input : (input) => checked(schema, input, name);

function entryOf(type: JobType): TypeEntry {
  const { options } = type;
  return {
    name: type.name,
    schema: options.input ? jsonSchemaText(options.input as Schema) : null,
    ...versionFields(type),
    policy: { ...policyOf(options), ...(options.batch ? { batchMax: options.batch.size } : {}) },
    priority: options.priority ?? 0,
    phase: hasTasks(type) ? 'prepare' : 'run',
    onePerType: options.onePerType ?? false,
    concurrency: options.concurrency ?? null,
    taskConcurrency: options.taskConcurrency ?? null,
    keyConcurrency: options.limit?.concurrency ?? null,
    keyPath: typeof options.limit?.key === 'string' ? options.limit.key.split('.') : null,
    isolate: options.isolate ?? null,
    ...(options.batch ? { batch: { size: options.batch.size, waitMs: batchWaitMs(options.batch) } } : {}),
    ...(options.limits?.length ? { limits: typeLimits(options.limits, options.cost) } : {}),
    ...(options.taskLimits?.length ? { taskLimits: typeLimits(options.taskLimits, options.taskCost) } : {}),
    ...(options.fairness ? { fairness: typeFairness(options.fairness) } : {}),
    ...(options.taskFairness ? { taskFairness: options.taskFairness } : {}),
  };
}

/** A type of the first version has no such fields, so that its entry and the id of its build stay as they were. */
function versionFields(type: JobType): Pick<TypeEntry, 'version' | 'oldestVersion'> {
  const { from, to } = knownVersions(type);
  if (to === firstTypeVersion) return {};
  return { version: to, ...(from === to ? {} : { oldestVersion: from }) };
}

function limitKeyOf({ key }: NonNullable<AnyOptions['limit']>, output: unknown): string | undefined {
  return checkLimitKey(typeof key === 'string' ? keyAt(output, key.split('.')) : key(output));
}

function registeredKey({ name, keyConcurrency, keyPath }: TypeEntry, output: unknown): string | undefined {
  if (keyConcurrency === null) return undefined;
  if (keyPath !== null) return checkLimitKey(keyAt(output, keyPath));
  const message =
    `runs of ${name} are limited by a key that only its code can compute: create them where the code is, ` +
    `or declare the key as a path of the input, as in limit: { key: 'tenant', concurrency: ${keyConcurrency} }`;
  throw new Refusal('needs.code', message, { type: name });
}

const checkLimitKey = (key: string | undefined): string | undefined =>
  key == null ? key : checkText('limit key', key, keyMax);
