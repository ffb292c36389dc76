/** The type catalogue of an engine: the rules of its own types, and of those that other programs have registered. */
import { readTypes } from '../jobs/catalogue.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import { specOf } from '../model/definition.ts';
import type { Limits } from '../model/gate.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import type { Clock } from '../time/clock.ts';
import { limitsOf, type TypeRegistry } from './declare/type-registry.ts';
import { withBurstsInForce } from './declare/bursts.ts';
import { rulesOfEntry, rulesOfUnknown, type TypeRules } from './declare/type-rules.ts';
import type { Stores } from './stores.ts';

export interface TypeCatalogueParts {
  readonly stores: Stores;
  readonly registry: TypeRegistry;
  readonly clock: Clock;
}

/** How long the rules of a type without local code are cached before the store is read again. */
const freshMs = 1_000;
const rulesMax = 1_000;

interface ReadRules {
  readonly rules: TypeRules;
  /** The entry as JSON text, to detect changes; null: the type is not registered. */
  readonly text: string | null;
  readonly readAt: number;
}

export class TypeCatalogue {
  readonly #parts: TypeCatalogueParts;
  readonly #read = new BoundedMap<string, ReadRules>(rulesMax);

  constructor(parts: TypeCatalogueParts) {
    this.#parts = parts;
  }

  /**
   * Returns the rules of a type by its name. If no instance has registered the type, its rules accept any input,
   * because its program may start later.
   */
  async rules(name: string): Promise<TypeRules> {
    return this.#localRules(name) ?? this.#freshRules(name) ?? (await this.#readRules([name])).get(name)!;
  }

  /** Like `rules`; the rules accept costs up to bursts that overrides have raised. */
  async rulesInForce(name: string): Promise<TypeRules> {
    return withBurstsInForce(this.#parts.stores.database.store, await this.rules(name));
  }

  /** Like `rules`, for many types: those that are not known here are read from the store together. */
  async rulesOf(names: readonly string[]): Promise<ReadonlyMap<string, TypeRules>> {
    const known = new Map(names.map((name) => [name, this.#localRules(name) ?? this.#freshRules(name)]));
    const read = await this.#readRules(names.filter((name) => known.get(name) === undefined));
    return new Map(names.map((name) => [name, known.get(name) ?? read.get(name)!]));
  }

  /**
   * Returns the limits that apply to jobs of these types: the declared limits of a type whose code this engine has, and
   * the registered limits of any other type.
   */
  async limits(names: readonly string[]): Promise<Limits> {
    const rules = await this.rulesOf(names);
    return limitsOf(names.map((name) => rules.get(name)!.entry));
  }

  /**
   * Returns the registered entry of each type; for a type that is not registered, the entry from this engine's code.
   * The map does not contain unknown types.
   */
  async entries(names: readonly string[]): Promise<ReadonlyMap<string, TypeEntry>> {
    const { stores, registry } = this.#parts;
    const entries = new Map(await readTypes(stores.database.store, names));
    for (const name of names) {
      const local = entries.has(name) ? undefined : registry.get(name);
      if (local) entries.set(name, registry.rules(local).entry);
    }
    return entries;
  }

  /** Returns definitions with the settings in effect. A setting that a definition leaves out comes from its type. */
  async resolve(known: readonly KnownDefinition[]): Promise<readonly KnownDefinition[]> {
    const entries = await this.entries([...new Set(known.map(({ code }) => code.type))]);
    return known.map((def) => ({ ...def, spec: specOf(def, entries.get(def.code.type) ?? null) }));
  }

  #localRules(name: string): TypeRules | undefined {
    const local = this.#parts.registry.get(name);
    return local && this.#parts.registry.rules(local);
  }

  #freshRules(name: string): TypeRules | undefined {
    const known = this.#read.get(name);
    return known && this.#parts.clock.monotonic() - known.readAt < freshMs ? known.rules : undefined;
  }

  async #readRules(names: readonly string[]): Promise<ReadonlyMap<string, TypeRules>> {
    const { stores, clock } = this.#parts;
    const readAt = clock.monotonic();
    const entries = await readTypes(stores.database.store, names);
    return new Map(names.map((name) => [name, this.#keep(name, entries.get(name), readAt)]));
  }

  /**
   * Caches the rules of an entry. If the entry has not changed, reuses them: parsing its schema again would be slow.
   */
  #keep(name: string, entry: TypeEntry | undefined, readAt: number): TypeRules {
    const known = this.#read.get(name);
    const text = entry === undefined ? null : JSON.stringify(entry);
    const rules = known?.text === text ? known.rules : entry === undefined ? rulesOfUnknown(name) : rulesOfEntry(entry);
    this.#read.set(name, { rules, text, readAt });
    return rules;
  }
}
