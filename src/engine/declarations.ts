/**
 * The declarations of a program: its build, its types, its definitions and its alerts. If several builds run at a time, each type
 * and definition has the settings of the newest living build that declares it. An instance of an older build that
 * restarts does not change them. When the last instance of the newest build is gone, the next newest build declares
 * again, so that a roll-back needs no further step.
 */
import { createHash } from 'node:crypto';
import {
  declaresAlert, declaresDef, declaresType, newestChanges, readBuilds, registerBuild, registerNewest, registerTypes,
} from '../jobs/catalogue.ts';
import { declareLimits, type LimitDeclaration } from '../jobs/limits.ts';
import { isOwnType } from '../model/own-type.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import type { AlertActions } from './alert-actions.ts';
import type { JobAlert } from './declare/alert.ts';
import type { TypeRegistry } from './declare/type-registry.ts';
import type { JobDef } from './declare/job-def.ts';
import type { Limit } from './declare/limit.ts';
import type { DefinitionActions } from './definition-actions.ts';
import { isNewer, limitNames, livingBuildIds } from './living-builds.ts';
import type { Stores } from './stores.ts';

export interface DeclarationsParts {
  readonly stores: Stores;
  readonly registry: TypeRegistry;
  readonly defs: readonly JobDef[];
  readonly alerts: readonly JobAlert[];
  readonly definitions: DefinitionActions;
  readonly alertActions: AlertActions;
  /** The id of the program as it was deployed. */
  readonly build: string;
  readonly instance: string;
  readonly leaseMs: number;
}

/** With more instances than this, each checks for new builds less often, so that the load on the store is limited. */
const watchersMax = 20;
/** How many lease durations pass between two checks. A check has two calls of the store. */
const checkEvery = 2;

export class Declarations {
  readonly #parts: DeclarationsParts;
  /** The living builds when `declare` last succeeded, as one text; empty: it has not succeeded yet. */
  #declaredFor = '';
  #limits: readonly LimitDeclaration[] = [];

  constructor(parts: DeclarationsParts) {
    this.#parts = parts;
  }

  async declare(): Promise<void> {
    const { stores, registry, defs, alerts, definitions, alertActions, build, instance: by } = this.#parts;
    const { store } = stores.database;
    // Every engine has Stint's own types: they are not registered.
    const entries = registry.entries.filter(({ name }) => !isOwnType(name));
    const names = {
      types: entries.map(({ name }) => name),
      defs: defs.map(({ name }) => name),
      limits: [...new Set(entries.flatMap(limitNames))],
      alerts: alerts.map(({ name }) => name),
    };
    const own = await registerBuild(store, { build, ...names }, { by });
    const living = await livingBuildIds(stores.database.store);
    const others = (await readBuilds(store, living)).filter(({ id }) => id !== build);
    const newer = others.filter((other) => isNewer(other, own));
    if (newer.length === 0) await registerNewest(store, build, { by });
    const changes = await newestChanges(store);
    const isOurs = (name: string): boolean => !newer.some((other) => declaresType(other, name));
    await registerTypes(store, entries.filter(({ name }) => isOurs(name)), { by });
    this.#limits = declaredLimits(registry, isOurs);
    await this.declareLimits();
    await alertActions.declare(alerts.filter(({ name }) => !newer.some((other) => declaresAlert(other, name))));
    await definitions.declareAll(
      defs.filter(({ name, spec }) => spec.inMemory || !newer.some((other) => declaresDef(other, name))),
      { build, isShared: (name) => others.some((other) => declaresDef(other, name)) },
    );
    this.#declaredFor = this.#listOf(living, changes);
  }

  /**
   * Stores the limits of the last declaration. Call it again when this instance is registered: only then does
   * `deleteLimit` know that its code declares them.
   */
  async declareLimits(): Promise<void> {
    const { stores, instance } = this.#parts;
    await declareLimits(stores.database.store, this.#limits, instance);
  }

  /** Declares again if builds have come or gone since the last declaration; returns the ms until the next check. */
  async turn(): Promise<number> {
    const { stores, leaseMs } = this.#parts;
    const living = await livingBuildIds(stores.database.store);
    const changes = await newestChanges(stores.database.store);
    if (this.#listOf(living, changes) !== this.#declaredFor) await this.declare();
    return checkEvery * leaseMs * Math.max(1, living.length / watchersMax);
  }

  #listOf(living: readonly string[], changes: number): string {
    return [changes, ...[...new Set([...living, this.#parts.build])].sort()].join(' ');
  }
}

/** Returns the named limits with values in the code. A limit of a type that a newer build declares is left to it. */
function declaredLimits(registry: TypeRegistry, isOurs: (type: string) => boolean): LimitDeclaration[] {
  const others = new Set(registry.entries.filter(({ name }) => !isOurs(name)).flatMap(limitNames));
  return registry.namedLimits.flatMap(({ name, values, key }) =>
    values === null || others.has(name) ? [] : [{ name, values, keyed: key !== null }]);
}

/** The default id of a build: a hash of its types, definitions and limits. */
export function buildOf(entries: readonly TypeEntry[], defs: readonly JobDef[], limits: readonly Limit[]): string {
  const values = limits.map(({ name, values }) => ({ name, values })).sort(byName);
  const declared = [
    entries.toSorted(byName), defs.map(({ name, spec, enabled }) => ({ name, spec, enabled })).sort(byName),
    ...(values.length === 0 ? [] : [values]),
  ];
  return createHash('sha256').update(JSON.stringify(declared)).digest('hex').slice(0, 16);
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
