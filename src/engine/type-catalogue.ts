/** The type catalogue of an engine: the rules of its own types, and of those that other programs have registered. */
import { readTypes } from '../jobs/catalogue.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import { specOf } from '../model/definition.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import type { Clock } from '../time/clock.ts';
import type { Handlers } from './declare/handlers.ts';
import { rulesOfEntry, rulesOfUnknown, type TypeRules } from './declare/type-rules.ts';
import type { Stores } from './stores.ts';

export interface TypeCatalogueParts {
  readonly stores: Stores;
  readonly handlers: Handlers;
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
   * Returns the rules of a type by its name. A type that no instance has registered is not refused, since its program
   * may start later: its rules accept any input.
   */
  async rules(name: string): Promise<TypeRules> {
    const { handlers, clock } = this.#parts;
    const local = handlers.get(name);
    if (local) return handlers.rules(local);
    const known = this.#read.get(name);
    if (known && clock.monotonic() - known.readAt < freshMs) return known.rules;
    return this.#refresh(name, known);
  }

  /** Returns the registered entries of types, or else those of this engine's code; the map lacks unknown types. */
  async entries(names: readonly string[]): Promise<ReadonlyMap<string, TypeEntry>> {
    const { stores, handlers } = this.#parts;
    const entries = new Map(await readTypes(stores.database.store, names));
    for (const name of names) {
      const local = entries.has(name) ? undefined : handlers.get(name);
      if (local) entries.set(name, handlers.rules(local).entry);
    }
    return entries;
  }

  /** Returns definitions with the settings in effect. A setting that a definition leaves out comes from its type. */
  async resolve(known: readonly KnownDefinition[]): Promise<readonly KnownDefinition[]> {
    const entries = await this.entries([...new Set(known.map(({ code }) => code.type))]);
    return known.map((def) => ({ ...def, spec: specOf(def, entries.get(def.code.type) ?? null) }));
  }

  async #refresh(name: string, known: ReadRules | undefined): Promise<TypeRules> {
    const { stores, clock } = this.#parts;
    const readAt = clock.monotonic();
    const entry = (await readTypes(stores.database.store, [name])).get(name);
    const text = entry === undefined ? null : JSON.stringify(entry);
    // If the entry has not changed, its rules are reused: parsing its schema again would be slow.
    const rules = known?.text === text ? known.rules : entry === undefined ? rulesOfUnknown(name) : rulesOfEntry(entry);
    this.#read.set(name, { rules, text, readAt });
    return rules;
  }
}
