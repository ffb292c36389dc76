/** The type registry: the job types whose code this instance has, by name, and the limits that they declare. */
import type { Limits } from '../../model/gate.ts';
import { Refusal } from '../../refusal.ts';
import { typeMaxOf, type TypeEntry } from '../../model/type-entry.ts';
import { refuseInMemory, type JobDef } from './job-def.ts';
import type { JobType } from './job-type.ts';
import { firstTypeVersion, type TypeVersions } from '../../model/type-version.ts';
import { distinctLimits, type Limit } from './limit.ts';
import { knownVersions } from './upgrade.ts';
import { rulesOfType, withOnePerType, type TypeRules } from './type-rules.ts';

export class TypeRegistry {
  readonly #types = new Map<string, JobType>();
  readonly #rules = new Map<string, TypeRules>();
  readonly #limits: Limits;
  /** The named limits that the types list, each once. */
  readonly namedLimits: readonly Limit[];

  constructor(types: readonly JobType[], defs: readonly JobDef[]) {
    for (const type of [...types, ...defs.map((def) => def.type)]) this.#add(type);
    for (const type of this.#types.values()) this.#rules.set(type.name, rulesOf(type, defs));
    checkDefs(defs, this.#rules);
    this.#limits = limitsOf(this.entries);
    this.namedLimits = distinctLimits([...this.#types.values()].map(listedLimits));
  }

  /** The catalogue entries of these types. They are stored so that programs without the code can create runs. */
  get entries(): readonly TypeEntry[] {
    return [...this.#rules.values()].map(({ entry }) => entry);
  }

  get names(): readonly string[] {
    return [...this.#types.keys()];
  }

  get isolated(): readonly string[] {
    return this.names.filter((name) => this.get(name)?.options.isolate !== undefined);
  }

  /** The versions that the code of these types knows. Of a type that is not listed, it knows only the first. */
  get versions(): readonly TypeVersions[] {
    return [...this.#types.values()].map(knownVersions).filter(({ to }) => to > firstTypeVersion);
  }

  get(name: string): JobType | undefined {
    return this.#types.get(name);
  }

  /**
   * Returns the rules of a type. For a type that was not passed to this engine, they are computed from the type alone:
   * `onePerType` of its definitions is not considered.
   */
  rules(type: JobType): TypeRules {
    const known = this.#types.get(type.name) === type ? this.#rules.get(type.name) : undefined;
    return known ?? rulesOfType(type);
  }

  require(name: string): JobType {
    const type = this.#types.get(name);
    if (type) return type;
    const message = `this engine has no job type ${name}: pass it in types`;
    throw new Refusal('unknown.type', message, { type: name, known: this.names });
  }

  /** The limits that the code declares now. At a claim they replace the limits that were stored with a waiting job. */
  limits(): Limits {
    return this.#limits;
  }

  #add(type: JobType): void {
    const known = this.#types.get(type.name);
    if (known && known !== type) {
      const message = `two job types are named ${type.name}: rename one of them`;
      throw new Refusal('malformed.option', message, { type: type.name });
    }
    this.#types.set(type.name, type);
  }
}

/** Returns the name of the gate that limits the tasks of a type. The gate that limits its runs has the type's name. */
export const taskGate = (type: string): string => `${type} tasks`;

const listedLimits = ({ options: { limits = [], taskLimits = [] } }: JobType): readonly Limit[] =>
  [...limits, ...taskLimits];

/** Returns the rules of a type. If one of its definitions has `onePerType`, that setting applies to the whole type. */
function rulesOf(type: JobType, defs: readonly JobDef[]): TypeRules {
  const rules = rulesOfType(type);
  return defs.some(({ spec }) => spec.type === type.name && spec.onePerType) ? withOnePerType(rules) : rules;
}

function checkDefs(defs: readonly JobDef[], rules: ReadonlyMap<string, TypeRules>): void {
  const seen = new Map<string, JobDef>();
  for (const def of defs) {
    if ((seen.get(def.name) ?? def) !== def) {
      const message = `two definitions are named ${def.name}: rename one of them`;
      throw new Refusal('malformed.option', message, { name: def.name });
    }
    seen.set(def.name, def);
    refuseInMemory(rules.get(def.type.name)!.entry, def.spec);
  }
}

export function limitsOf(entries: readonly TypeEntry[]): Limits {
  const types = new Map<string, number>();
  const keys = new Map<string, number>();
  for (const entry of entries) {
    const { name, taskConcurrency, keyConcurrency } = entry;
    const typeMax = typeMaxOf(entry);
    if (typeMax !== undefined) types.set(name, typeMax);
    if (taskConcurrency !== null) types.set(taskGate(name), taskConcurrency);
    if (keyConcurrency !== null) keys.set(name, keyConcurrency);
  }
  return { types, defs: new Map(), keys };
}
