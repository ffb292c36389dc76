/** The handlers: the job types of this instance by name, and the limits that they declare. */
import type { Limits } from '../../model/gate.ts';
import { Refusal } from '../../refusal.ts';
import type { JobDef } from './job-def.ts';
import type { JobType } from './job-type.ts';

export class Handlers {
  readonly #types = new Map<string, JobType>();
  readonly #limits: Limits;

  constructor(types: readonly JobType[], defs: readonly JobDef[]) {
    for (const type of [...types, ...defs.map((def) => def.type)]) this.#add(type);
    this.#limits = limitsOf([...this.#types.values()]);
  }

  get names(): readonly string[] {
    return [...this.#types.keys()];
  }

  /** The names of the isolated types. */
  get isolated(): readonly string[] {
    return this.names.filter((name) => this.get(name)?.options.isolate !== undefined);
  }

  get(name: string): JobType | undefined {
    return this.#types.get(name);
  }

  require(name: string): JobType {
    const type = this.#types.get(name);
    if (type) return type;
    const message = `this engine has no job type ${name}: pass it in types`;
    throw new Refusal('unknown.type', message, { type: name, known: this.names });
  }

  /** The limits that the code declares now. They override those that a waiting job was created with. */
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

/** The name under which the tasks of a type are limited, apart from its runs. */
export const taskGate = (type: string): string => `${type} tasks`;

function limitsOf(all: readonly JobType[]): Limits {
  const types = new Map<string, number>();
  const keys = new Map<string, number>();
  for (const { name, options } of all) {
    if (options.onePerType) types.set(name, 1);
    else if (options.concurrency !== undefined) types.set(name, options.concurrency);
    if (options.taskConcurrency !== undefined) types.set(taskGate(name), options.taskConcurrency);
    if (options.limit) keys.set(name, options.limit.concurrency);
  }
  return { types, defs: new Map(), keys };
}
