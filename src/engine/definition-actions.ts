/** Definition actions: the code declares definitions; operators define, override, enable, disable and end them. */
import { isDeepStrictEqual } from 'node:util';
import {
  changedDeclarations, declare, definition, disable, enable, override, undefine, type Declaration, type KnownDefinition,
} from '../jobs/define.ts';
import { declareConnected } from '../jobs/define-together.ts';
import { checkRunLimits } from '../jobs/tick.ts';
import type { Jobs } from '../jobs.ts';
import { mergeOverride, type OverridePatch } from '../jobs/checks/spec.ts';
import { checkName, checkRunnableType } from '../jobs/checks/values.ts';
import { specOf, type DefLink, type Spec } from '../model/definition.ts';
import type { Json } from '../model/json.ts';
import { keyAt } from '../model/path.ts';
import { versionOfEntry } from '../model/type-entry.ts';
import { limitsWithFairness, needsCode, usesAt } from '../model/type-limit.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { AuditTrail } from './audit-trail.ts';
import { overridePatch, type DefChanges } from './declare/def-changes.ts';
import { refuseBesideAfter } from './declare/def-following.ts';
import type { TypeRegistry } from './declare/type-registry.ts';
import { linksOf, refuseStrandedLinks, withReferences } from './declare/def-links.ts';
import {
  checkedSpec, checkParams, refuseInMemory, refuseUnreadableLimits, rulesFor, specFrom, type DefOptions, type JobDef,
} from './declare/job-def.ts';
import { isJobType } from './declare/job-type.ts';
import type { Runnable } from './declare/run-request.ts';
import type { TypeRules } from './declare/type-rules.ts';
import { uncheckedRules } from './declare/unchecked-rules.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';
import type { StoreWorkers } from './store-workers.ts';

export interface DefinitionActionsParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly audit: AuditTrail;
  readonly registry: TypeRegistry;
  readonly catalogue: TypeCatalogue;
  readonly instance: string;
}

/** A type or definition that the caller knows by name only. */
export type NamedRunnable = { readonly type: string } | { readonly def: string };

/** A type of Stint itself, such as `stint.bulk`, which no request can name. */
export interface OwnRunnable {
  readonly own: string;
}

/** For runs to be created: the rules of their type, their definition (null: none) and their store. */
export interface RunTarget {
  readonly rules: TypeRules;
  readonly known: KnownDefinition | null;
  readonly jobs: Jobs;
}

/** The build that declares definitions, and its knowledge of other living builds. */
export interface Declarer {
  readonly build: string;
  /** Whether another living build declares a definition of this name. */
  readonly isShared: (name: string) => boolean;
}

const declareBatch = 100;

export class DefinitionActions {
  readonly #parts: DefinitionActionsParts;

  constructor(parts: DefinitionActionsParts) {
    this.#parts = parts;
  }

  /**
   * Stores definitions that are new or have changed. An engine may have thousands of definitions, so they are stored in
   * batches of `declareBatch`: the definitions of a batch are stored concurrently and share commits.
   */
  async declareAll(defs: readonly JobDef[], { build, isShared }: Declarer): Promise<void> {
    const { stores, workers, instance } = this.#parts;
    const checked = await Promise.all(defs.map(async (def) => ({ ...def, spec: await checkedSpec(def) })));
    if (checked.some(({ spec }) => spec.inMemory)) await workers.startMemory();
    for (const jobs of [stores.database, stores.memory]) {
      const declarations = checked
        .filter(({ spec }) => stores.forSpec(spec) === jobs)
        .map(({ name, spec, enabled }) => ({ name, spec, enabled, build, isShared: isShared(name) }));
      const different = await changedDeclarations(jobs.store, declarations);
      const changed = await declareConnected(jobs, different, instance);
      for (let from = 0; from < changed.length; from += declareBatch) {
        await Promise.all(changed.slice(from, from + declareBatch).map((each) => declare(jobs, each, instance)));
      }
      if (different.length > 0) workers.reschedule();
    }
  }

  async target(what: Runnable | NamedRunnable | OwnRunnable): Promise<RunTarget> {
    const { stores, registry, catalogue } = this.#parts;
    if (isJobDef(what)) return this.#targetOfDef(what);
    if (isJobType(what)) return { rules: registry.rules(what), known: null, jobs: stores.database };
    if (isNamed(what, 'def')) return this.#targetNamed(what.def);
    if (isNamed(what, 'type')) {
      const rules = await catalogue.rules(checkRunnableType(what.type));
      return { rules, known: null, jobs: stores.database };
    }
    if (isNamed(what, 'own')) return { rules: await catalogue.rules(what.own), known: null, jobs: stores.database };
    throw new Refusal(
      'malformed.option', 'cannot create a run: pass a job type or a definition', { given: typeof what },
    );
  }

  async define(name: string, type: string, given: DefOptions<unknown>, act?: ActOptions): Promise<void> {
    const { stores, workers, audit, catalogue } = this.#parts;
    checkName('definition', name);
    const options = withReferences(given);
    const rules = rulesFor(await catalogue.rulesInForce(checkRunnableType(type)), options);
    const spec = specFrom(rules, options, await checkParams(rules, options));
    refuseNewLock(rules, spec.onePerType);
    const jobs = stores.forSpec(spec);
    if (await knownIn(jobs, name)) {
      throw new Refusal('taken.key', `there is a definition ${name} already: override it instead`, { name });
    }
    if (spec.inMemory) await workers.startMemory();
    const declaration: Declaration = { name, spec, enabled: options.enabled ?? true, build: null };
    await audit.performOnDefinition('define', name, act, () => declare(jobs, declaration, audit.asker(act).by));
    workers.reschedule();
  }

  async undefine(name: string, act?: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.performOnDefinition('undefine', name, act, () => undefine(store, name, audit.asker(act)));
  }

  async enable(name: string, act?: ActOptions): Promise<void> {
    const { stores, workers, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.performOnDefinition('enable', name, act, () => enable(store, name, audit.asker(act)));
    workers.reschedule();
  }

  async disable(name: string, act?: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.performOnDefinition('disable', name, act, () => disable(store, name, audit.asker(act)));
  }

  async override(name: string, changes: DefChanges | null, act?: ActOptions): Promise<void> {
    const { stores, workers, audit, catalogue } = this.#parts;
    const jobs = await stores.forDefinition(name);
    const known = await definition(jobs.store, name);
    const patch = changes === null ? null : await checkedPatch(await catalogue.rulesInForce(known.code.type), known, changes);
    await audit.performOnDefinition('override', name, act, () => override(jobs, name, patch, audit.asker(act)));
    workers.reschedule();
  }

  async #targetOfDef(def: JobDef): Promise<RunTarget> {
    const { stores, workers, registry } = this.#parts;
    const rules = registry.rules(def.type);
    const jobs = stores.forSpec(def.spec);
    refuseInMemory(rules.entry, def.spec);
    if (jobs === stores.memory) await workers.startMemory();
    const known = await this.#declared(def, jobs);
    if (known.code.type !== def.type.name) {
      const message =
        `definition ${def.name} has the job type ${known.code.type} in the database, not ${def.type.name}`;
      throw new Refusal('taken.key', `${message}: give one of them another name`, { name: def.name });
    }
    return { rules, known: { ...known, spec: specOf(known, rules.entry) }, jobs };
  }

  async #targetNamed(name: string): Promise<RunTarget> {
    const { stores, catalogue } = this.#parts;
    const jobs = await stores.forDefinition(name);
    const known = await definition(jobs.store, name);
    const rules = await catalogue.rules(known.code.type);
    return { rules, known: { ...known, spec: specOf(known, rules.isKnown ? rules.entry : null) }, jobs };
  }

  /** Reads a definition. If it is not stored yet (possible before the engine's first `resume`), declares it first. */
  async #declared(def: JobDef, jobs: Jobs): Promise<KnownDefinition> {
    const { name, enabled } = def;
    const known = await knownIn(jobs, name);
    if (known) return known;
    const spec = await checkedSpec(def);
    await declare(jobs, { name, spec, enabled, build: null }, this.#parts.instance);
    return definition(jobs.store, name);
  }
}

const isJobDef = (what: unknown): what is JobDef => isObject(what) && 'spec' in what && isJobType(what['type']);

const isNamed = <F extends 'type' | 'def' | 'own'>(what: unknown, field: F): what is { readonly [N in F]: string } =>
  isObject(what) && typeof what[field] === 'string';

const isObject = (what: unknown): what is Record<string, unknown> => typeof what === 'object' && what !== null;

/**
 * Checks changes of a definition, and returns the patch of its override. `version` is the version of the type for which
 * the new parameters were made; left out: the current one.
 */
export async function checkedPatch(
  rulesOfType: TypeRules,
  known: KnownDefinition,
  changes: DefChanges,
  version = versionOfEntry(rulesOfType.entry),
): Promise<OverridePatch> {
  const patch = overridePatch(changes);
  refuseNewLock(rulesOfType, patch.onePerType === true);
  refuseBesideAfter((patch.after ?? []).length > 0, changes);
  const { code, override: before } = known;
  const spec = specOf({ code, override: mergeOverride(before, patch) });
  refuseStrandedLinks(specOf({ code, override: before }), spec, patch.params !== undefined);
  const links = linksOf(spec.params, spec);
  if (patch.params === undefined && patch.schedules === undefined && patch.after === undefined) return patch;
  const rules = links.length === 0 ? rulesOfType : uncheckedRules(rulesOfType);
  const { params, schedules, after = [] } = spec;
  const typeVersion = patch.params === undefined ? (spec.typeVersion ?? firstTypeVersion) : version;
  const check = rules.checkOfVersion(typeVersion);
  if (check === null) {
    if (patch.params !== undefined) refuseUnreadableLimits(rules, typeVersion);
    return { ...versionPatch(patch, typeVersion), ...linksPatch(patch, links), ...patch };
  }
  // In the stored definition, null means that there are no parameters. In the patch, null is an input to validate.
  const given = patch.params === undefined ? (params ?? undefined) : params;
  const output = await checkParams({ check }, { params: given, schedules, after });
  if (patch.params === undefined) return patch;
  return {
    ...limitsPatch(rules, known.name, spec, output), ...versionPatch(patch, typeVersion), ...linksPatch(patch, links), ...patch,
  };
}

const linksPatch = ({ params }: OverridePatch, links: readonly DefLink[]): OverridePatch =>
  (params === undefined ? {} : { links: links.length === 0 ? null : links });

const versionPatch = ({ params }: OverridePatch, version: number): OverridePatch =>
  params === undefined ? {} : { typeVersion: version === firstTypeVersion ? null : version };

function limitsPatch(rules: TypeRules, name: string, spec: Spec, output: unknown): OverridePatch {
  const { params } = spec;
  checkRunLimits(name, { ...spec, limitKey: rules.limitKey(output) ?? null, limitUses: rules.limitUses(output) });
  return { ...limitUsesPatch(rules, params, output), ...keyPatch(rules, params, output) };
}

/** Returns the part of a patch that has the limit key of new parameters; `output` is the output of their schema. */
function keyPatch(rules: TypeRules, params: Json, output: unknown): OverridePatch {
  const limitKey = rules.limitKey(output);
  const { keyPath } = rules.entry;
  // If the type names a path of the input as its limit key, each new run reads the key from its parameters. The key is
  // stored in the override only if the type computes it with a function, or its schema changes it.
  if (keyPath !== null && keyAt(params, keyPath) === limitKey) return { limitKey: null };
  return limitKey === undefined ? {} : { limitKey };
}

/** As `keyPatch`, for the named limits: each new run reads its parameters, unless only the code can compute the uses. */
function limitUsesPatch({ entry, limitUses }: TypeRules, params: Json, output: unknown): OverridePatch {
  const limits = limitsWithFairness(entry);
  const uses = limitUses(output);
  const isAtPaths = !needsCode(limits) && isDeepStrictEqual(usesAt(limits, params), uses);
  return { limitUses: isAtPaths ? null : uses };
}

/**
 * Refuses an operator's `onePerType` for a definition if its type is known and does not set `onePerType`. The limit
 * works only if it applies to every run of the type, and this setting would not apply to runs of other definitions.
 */
export function refuseNewLock({ entry, isKnown }: TypeRules, onePerType: boolean): void {
  if (!isKnown || entry.onePerType || !onePerType) return;
  const message =
    `job type ${entry.name} runs several at a time: set onePerType in its code, where all its runs see it`;
  throw new Refusal('malformed.option', message, { type: entry.name });
}

async function knownIn({ store }: Jobs, name: string): Promise<KnownDefinition | null> {
  try {
    return await definition(store, name);
  } catch (error) {
    if (isRefusal(error) && error.code === 'unknown.definition') return null;
    throw error;
  }
}
