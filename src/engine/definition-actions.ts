/** Definition actions: declare what the code has, and what operators define, override, enable, disable and end. */
import { declare, definition, disable, enable, override, undefine, type KnownDefinition } from '../jobs/define.ts';
import type { Jobs } from '../jobs.ts';
import type { Spec } from '../model/definition.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Handlers } from './declare/handlers.ts';
import { jobDef, type DefOptions, type JobDef } from './declare/job-def.ts';
import type { JobType } from './declare/job-type.ts';
import type { Runnable } from './declare/run-request.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { Workers } from './workers.ts';

export interface DefinitionActionsParts {
  readonly stores: Stores;
  readonly workers: Workers;
  readonly audit: AuditTrail;
  readonly handlers: Handlers;
  readonly instance: string;
}

const declareBatch = 100;

export class DefinitionActions {
  readonly #parts: DefinitionActionsParts;

  constructor(parts: DefinitionActionsParts) {
    this.#parts = parts;
  }

  /** In batches: declarations that run together share commits, and an engine may have thousands of them. */
  async declareAll(defs: readonly JobDef[]): Promise<void> {
    const { stores, workers, instance } = this.#parts;
    if (defs.some(({ spec }) => spec.inMemory)) await workers.startMemory();
    for (let from = 0; from < defs.length; from += declareBatch) {
      const batch = defs.slice(from, from + declareBatch);
      await Promise.all(
        batch.map(({ name, spec, enabled }) => declare(stores.forSpec(spec), name, spec, enabled, instance)),
      );
    }
  }

  /** Reads a definition, and declares it if the engine has not been resumed yet. */
  async declared({ name, spec, enabled }: JobDef, jobs: Jobs): Promise<KnownDefinition> {
    const known = await knownIn(jobs, name);
    if (known) return known;
    await declare(jobs, name, spec, enabled, this.#parts.instance);
    return definition(jobs.store, name);
  }

  /** A type or definition that the caller knows by name only. */
  async named(what: { readonly type: string } | { readonly def: string }): Promise<Runnable> {
    if ('type' in what) return this.#typeOf(what.type) as Runnable;
    const { name, spec, isEnabled } = await this.#parts.stores.definition(what.def);
    return { name, spec, type: this.#typeOf(spec.type), enabled: isEnabled } as Runnable;
  }

  async define(name: string, type: string, options: DefOptions<unknown>, act?: ActOptions): Promise<void> {
    const { stores, workers, audit } = this.#parts;
    const { spec, enabled } = jobDef<unknown, unknown>(name, this.#typeOf(type) as never, options);
    const jobs = stores.forSpec(spec);
    if (await knownIn(jobs, name)) {
      throw new Refusal('taken.key', `there is a definition ${name} already: override it instead`, { name });
    }
    if (spec.inMemory) await workers.startMemory();
    await audit.ofDefinition('define', name, act, () => declare(jobs, name, spec, enabled, audit.asker(act).by));
    workers.reschedule();
  }

  async undefine(name: string, act?: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.ofDefinition('undefine', name, act, () => undefine(store, name, audit.asker(act)));
  }

  async enable(name: string, act?: ActOptions): Promise<void> {
    const { stores, workers, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.ofDefinition('enable', name, act, () => enable(store, name, audit.asker(act)));
    workers.reschedule();
  }

  async disable(name: string, act?: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    const { store } = await stores.forDefinition(name);
    await audit.ofDefinition('disable', name, act, () => disable(store, name, audit.asker(act)));
  }

  async override(name: string, overrides: Partial<Spec> | null, act?: ActOptions): Promise<void> {
    const { stores, workers, audit } = this.#parts;
    const jobs = await stores.forDefinition(name);
    await audit.ofDefinition('override', name, act, () => override(jobs, name, overrides, audit.asker(act)));
    workers.reschedule();
  }

  /** A type whose code is in another program is known by name only. */
  #typeOf(name: string): JobType {
    return this.#parts.handlers.get(name) ?? { name, options: {} };
  }
}

async function knownIn({ store }: Jobs, name: string): Promise<KnownDefinition | null> {
  try {
    return await definition(store, name);
  } catch (error) {
    if (isRefusal(error) && error.code === 'unknown.definition') return null;
    throw error;
  }
}
