/**
 * Definition documents: exports the definitions of the database as data, plans and applies such data, and changes many
 * definitions at once. Each call changes all of its definitions in one commit, or none. In-memory definitions are left
 * out: only code declares them, and no commit spans both stores.
 */
import { definitions, definitionsNamed, type Declaration, type KnownDefinition } from '../jobs/define.ts';
import { defineTogether, type DefinitionEdit } from '../jobs/define-together.ts';
import { checkOverride, mergeOverride } from '../jobs/checks/spec.ts';
import { checkAsker, checkFlag, checkName } from '../jobs/checks/values.ts';
import { isDeepStrictEqual } from 'node:util';
import { definitionKey, type Definition, type Spec } from '../model/definition.ts';
import { versionOfEntry } from '../model/type-entry.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import { Refusal } from '../refusal.ts';
import type { AuditTrail } from './audit-trail.ts';
import { checkAt, readDocument, type DefDocument, type WantedDefinition } from './declare/def-document.ts';
import {
  overrideSettings, overrideVersion, paramsVersion, wholeSettings, type DefEntry, type OverrideEntry,
} from './declare/def-entry.ts';
import type { DefFilter } from './declare/def-filter.ts';
import { isEffective, planDocument, type DefPlan, type PlannedDefinition, type PlanOptions } from './declare/def-plan.ts';
import { renamedLinks } from './declare/def-links.ts';
import { isStarted, refuseUnreadableLimits, rulesFor, specFrom } from './declare/job-def.ts';
import { checkStored } from './declare/stored-input.ts';
import type { TypeRules } from './declare/type-rules.ts';
import { checkedPatch, refuseNewLock } from './definition-actions.ts';
import type { EngineReads, ListedDefinition } from './reads.ts';
import type { ActOptions } from './run-handle.ts';
import type { StoreWorkers } from './store-workers.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';

export interface DefinitionDocumentsParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly audit: AuditTrail;
  readonly catalogue: TypeCatalogue;
  readonly reads: EngineReads;
}

export interface ExportOptions extends DefFilter {
  /**
   * True: definitions that code declares are exported whole, too, so that another store can have them without the code.
   * Default: only what operators have changed in them, because the code has the rest.
   */
  readonly whole?: boolean;
}

export interface ApplyOptions extends PlanOptions {
  /** The digest of a plan. If the definitions have changed since it was made, nothing is applied. */
  readonly digest?: string;
}

export class DefinitionDocuments {
  readonly #parts: DefinitionDocumentsParts;

  constructor(parts: DefinitionDocumentsParts) {
    this.#parts = parts;
  }

  async export({ whole = false, ...filter }: ExportOptions): Promise<DefDocument> {
    const isWhole = ({ build }: KnownDefinition): boolean => build === undefined || whole;
    const stored = await this.#matching(filter);
    const rules = await this.#parts.catalogue.rulesOf([...new Set(stored.map(({ code }) => code.type))]);
    return {
      definitions: stored.filter(isWhole).map((def) => wholeEntry(def, rules.get(def.code.type)!)),
      overrides: stored.filter((def) => !isWhole(def)).map((def) => overrideEntry(def, rules.get(def.code.type)!)),
    };
  }

  async plan(document: DefDocument, options: PlanOptions): Promise<DefPlan> {
    const wanted = readDocument(document, this.#now());
    const { plan, stored } = await this.#planned(wanted, options);
    await this.#prepare(wanted, plan, stored);
    return plan;
  }

  async apply(document: DefDocument, { digest, ...options }: ApplyOptions, act: ActOptions): Promise<DefPlan> {
    const wanted = readDocument(document, this.#now());
    const { plan, stored } = await this.#planned(wanted, options);
    if (digest !== undefined && digest !== plan.digest) throw stalePlan();
    const prepared = await this.#prepare(wanted, plan, stored);
    await this.#defineTogether(act, async () => {
      const now = await this.#planned(wanted, options);
      if (now.plan.digest !== plan.digest) throw stalePlan();
      return plan.definitions.filter(isEffective)
        .map((each) => editOf(each, now.stored.get(each.name), prepared.get(each.name)));
    });
    return plan;
  }

  /** Creates a definition with the settings of another one. */
  async clone(name: string, clone: string, enabled: boolean | undefined, act: ActOptions): Promise<void> {
    const add = await this.#copy(await this.#stored(name), clone, enabled);
    await this.#defineTogether(act, async () => [{ action: 'define', add }]);
  }

  /**
   * Gives a definition another name: a new definition continues its schedules and settings, and the old one ends in the
   * same commit. The name is part of a job's identity, so the history before the change stays with the ended definition.
   */
  async rename(name: string, renamed: string, act: ActOptions): Promise<void> {
    checkName('definition', renamed);
    await this.#defineTogether(act, async () => {
      const known = await this.#stored(name);
      refuseDeclared(known);
      await this.#refuseTaken(renamed);
      const { code: spec, override, isEnabled: enabled, job } = known;
      const add: Declaration = { name: renamed, spec, override, enabled, build: null };
      const followers = await definitionsNamed(this.#parts.stores.database.store, known.followers ?? []);
      const moved = [...followers.values()].map((follower) => renamedAfter(follower, name, renamed));
      return [{ action: 'define', add, continues: job }, { action: 'undefine', end: job }, ...moved];
    });
  }

  /** Enables or disables the matching definitions; returns the names of those that change. */
  async switch(filter: DefFilter, enabled: boolean, isDryRun: boolean, act: ActOptions): Promise<readonly string[]> {
    checkFlag('enabled', enabled);
    const changing = (await this.#matching(filter)).filter(({ isEnabled }) => isEnabled !== enabled);
    const names = changing.map(({ name }) => name);
    if (isDryRun || names.length === 0) return names;
    const action = enabled ? 'enable' : 'disable';
    await this.#defineTogether(act, async () => {
      const now = await definitionsNamed(this.#parts.stores.database.store, names);
      return [...now.values()].filter(({ isEnabled }) => isEnabled !== enabled)
        .map(({ job }): DefinitionEdit => ({ action, edit: job, enabled }));
    });
    return names;
  }

  #now(): number {
    return this.#parts.stores.database.store.now();
  }

  async #matching(filter: DefFilter): Promise<readonly ListedDefinition[]> {
    return (await this.#parts.reads.definitions(filter)).filter(({ spec }) => !spec.inMemory);
  }

  async #stored(name: string): Promise<KnownDefinition> {
    const known = await this.#parts.stores.definition(name);
    if (known.code.inMemory) throw inMemoryRefusal(known);
    return known;
  }

  async #refuseTaken(name: string): Promise<void> {
    const { database, memory } = this.#parts.stores;
    for (const { store } of [database, memory]) {
      if ((await store.jobsByKey([definitionKey(name)])).size === 0) continue;
      throw new Refusal('taken.key', `there is a definition ${name} already: choose another name`, { name });
    }
  }

  async #copy(known: KnownDefinition, name: string, enabled = known.isEnabled): Promise<Declaration> {
    checkName('definition', name);
    await this.#refuseTaken(name);
    const entry = { ...settingsEntry(known), typeVersion: paramsVersion(known) };
    const [wanted] = readDocument({ definitions: [{ ...entry, name, enabled }] }, this.#now());
    const prepared = await this.#preparedDefinition(wanted!, known, []);
    return { ...prepared, name, enabled, build: null };
  }

  /** Reads the definitions that the document is about, and plans the document. */
  async #planned(wanted: readonly WantedDefinition[], options: PlanOptions) {
    const { database, memory } = this.#parts.stores;
    const names = wanted.map(({ name }) => name);
    for (const inMemory of (await definitionsNamed(memory.store, names)).values()) throw inMemoryRefusal(inMemory);
    const stored = options.prune
      ? new Map((await definitions(database.store)).map((def) => [def.name, def]))
      : await definitionsNamed(database.store, names);
    return { stored, plan: planDocument(wanted, stored, options) };
  }

  /** Checks what changes by the rules of the job types, and returns what to store, by name. */
  async #prepare(
    wanted: readonly WantedDefinition[],
    plan: DefPlan,
    stored: ReadonlyMap<string, KnownDefinition>,
  ): Promise<ReadonlyMap<string, Prepared>> {
    const prepared = new Map<string, Prepared>();
    for (const [index, each] of wanted.entries()) {
      const planned = plan.definitions[index]!;
      if (!isEffective(planned)) continue;
      const changed = planned.fields.map(({ field }) => field);
      const known = stored.get(each.name);
      prepared.set(each.name, await checkAt(each.path, () => (each.list === 'definitions'
        ? this.#preparedDefinition(each, known, changed)
        : this.#preparedOverride(each, known!))));
    }
    return prepared;
  }

  async #preparedDefinition(
    { type, options, override, enabled, typeVersion }: WantedDefinition,
    known: KnownDefinition | undefined,
    changed: readonly string[],
  ): Promise<Prepared> {
    const rules = rulesFor(await this.#parts.catalogue.rulesInForce(type!), options);
    refuseNewLock(rules, options.onePerType === true);
    const current = versionOfEntry(rules.entry);
    const hasNewParams = known === undefined || changed.includes('params') || changed.includes('typeVersion');
    const version = typeVersion ?? (hasNewParams ? current : paramsVersion(known));
    const check = rules.checkOfVersion(version);
    if (hasNewParams && check === null) refuseUnreadableLimits(rules, version);
    if (check !== null && (hasNewParams || changed.includes('schedules') || changed.includes('after'))) {
      const output = await outputOf(check, options);
      return { spec: withVersion(specFrom(rules, options, output), version), override, enabled };
    }
    const spec = withVersion(specFrom(rules, options, undefined), version);
    return { spec: hasNewParams ? spec : { ...spec, ...storedLimits(known) }, override, enabled };
  }

  async #preparedOverride(
    { override, enabled, typeVersion }: WantedDefinition,
    known: KnownDefinition,
  ): Promise<Prepared> {
    const { code } = known;
    if (override === null) return { spec: code, override, enabled };
    const rules = await this.#parts.catalogue.rulesInForce(code.type);
    const isSame = isDeepStrictEqual(override.params, known.override?.params);
    const version = typeVersion ?? (isSame ? overrideVersion(known) : undefined);
    const patch = await checkedPatch(rules, { ...known, override: null }, override, version);
    const checked = checkOverride(mergeOverride(null, patch), this.#now());
    return { spec: code, override: checked, enabled };
  }

  async #defineTogether(act: ActOptions, decide: () => Promise<readonly DefinitionEdit[]>): Promise<void> {
    const { stores, workers, audit } = this.#parts;
    const asker = checkAsker(audit.asker(act));
    await defineTogether(stores.database, { decide, asker, isRecorded: act.by !== undefined });
    workers.reschedule();
  }
}

/** What to store for a definition of a document. */
interface Prepared {
  readonly spec: Spec;
  readonly override: Partial<Spec> | null;
  readonly enabled: boolean | undefined;
}

function editOf(
  { name, action, list, fields }: PlannedDefinition,
  known: KnownDefinition | undefined,
  prepared: Prepared | undefined,
): DefinitionEdit {
  if (known === undefined) {
    const { spec, override, enabled = true } = prepared!;
    return { action: 'define', add: { name, spec, override, enabled, build: null } };
  }
  const { job } = known;
  if (action === 'delete') return { action: 'undefine', end: job };
  const enabled = prepared?.enabled;
  if (fields.every(({ field }) => field === 'enabled')) {
    return { action: enabled ? 'enable' : 'disable', edit: job, enabled: enabled! };
  }
  const toggle = enabled === undefined || enabled === known.isEnabled ? {} : { enabled };
  const override = prepared?.override ?? null;
  return list === 'overrides'
    ? { action: 'override', edit: job, redefineBy: (before) => ({ ...before, override }), ...toggle }
    : { action: 'redefine', edit: job, redefineBy: () => ({ code: prepared!.spec, override }), ...toggle };
}

/** Validates the parameters. A definition without schedules, `after` and parameters has none: each run has its own input. */
async function outputOf(check: TypeRules['check'], options: WantedDefinition['options']) {
  const { params = null } = options;
  return params === null && !isStarted(options) ? undefined : checkStored(check, params);
}

const storedLimits = ({ spec: { limitKey, limitUses } }: KnownDefinition): Pick<Spec, 'limitKey' | 'limitUses'> =>
  ({ limitKey, ...(limitUses === undefined ? {} : { limitUses }) });

const wholeEntry = (known: KnownDefinition, rules: TypeRules): DefEntry => {
  const entry = settingsEntry(known);
  const hasInput = entry.params !== undefined || entry.schedules !== undefined || entry.after !== undefined;
  return { ...entry, ...versionField(rules, hasInput ? paramsVersion(known) : undefined) };
};

const settingsEntry = (known: KnownDefinition): DefEntry =>
  ({ name: known.name, type: known.code.type, enabled: known.isEnabled, ...wholeSettings(known) });

const overrideEntry = (known: KnownDefinition, rules: TypeRules): OverrideEntry => ({
  name: known.name, enabled: known.isEnabled, ...overrideSettings(known), ...versionField(rules, overrideVersion(known)),
});

/** An entry of a type that has had one version only states no version. */
function versionField({ entry }: TypeRules, version: number | undefined): Pick<DefEntry, 'typeVersion'> {
  const isFirst = version === firstTypeVersion && versionOfEntry(entry) === firstTypeVersion;
  return version === undefined || isFirst ? {} : { typeVersion: version };
}

/** A spec of the first version states no version. */
function withVersion({ typeVersion: _version, ...spec }: Spec, version: number): Spec {
  return version === firstTypeVersion ? spec : { ...spec, typeVersion: version };
}

function refuseDeclared({ name, build }: KnownDefinition): void {
  if (build === undefined) return;
  throw new Refusal('declared.definition', `code declares definition ${name}: rename it in the code`, { name });
}

/** Returns the edit by which a definition follows another one under its new name. */
function renamedAfter(follower: KnownDefinition, name: string, renamed: string): DefinitionEdit {
  const { build, override } = follower;
  const hasResultByCode = override?.params === undefined && follower.code.links?.some(({ def }) => def === name);
  if (build !== undefined && (override?.after === undefined || hasResultByCode)) {
    const message = `code declares definition ${follower.name}, which follows ${name}: rename it in the code`;
    throw new Refusal('declared.definition', message, { name: follower.name });
  }
  const moved = <T extends Partial<Spec>>(spec: T): T => renamedLinks(
    spec.after === undefined ? spec : { ...spec, after: spec.after.map((one) => (one === name ? renamed : one)) }, name, renamed,
  );
  const redefineBy = (before: Definition): Definition => ({
    ...before,
    code: build === undefined ? moved(before.code) : before.code,
    override: before.override && moved(before.override),
  });
  return { action: 'redefine', edit: follower.job, redefineBy };
}

const inMemoryRefusal = ({ name }: KnownDefinition): Refusal =>
  new Refusal('declared.definition', `definition ${name} is in the memory of a program: change its code`, { name });

const stalePlan = (): Refusal =>
  new Refusal('stale.plan', 'the definitions have changed since the plan was made: make a new plan', {});
