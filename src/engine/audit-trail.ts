/**
 * The audit trail: records the operations of named people, with the state before and after each. Changes that the
 * program makes by itself are only in the histories of the jobs.
 */
import type { Asker } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import { auditView } from '../jobs/audit.ts';
import { recordedFields } from '../jobs/define-together.ts';
import type { JobWriting } from '../jobs/job-writing.ts';
import type { Job } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';

/** An operation on a job. */
interface JobAction {
  readonly action: string;
  readonly id: number;
  readonly act: ActOptions | undefined;
}

export class AuditTrail {
  readonly #stores: Stores;
  readonly #instance: string;

  constructor(stores: Stores, instance: string) {
    this.#stores = stores;
    this.#instance = instance;
  }

  asker({ by = this.#instance, why }: ActOptions = {}): Asker {
    return { by, ...(why === undefined ? {} : { why }) };
  }

  /** Performs an operation on a job, and records it if the options name a person. */
  async performOnJob(
    action: string,
    id: number,
    act: ActOptions | undefined,
    perform: (jobs: Jobs) => Promise<Job>,
  ): Promise<Job> {
    return this.#perform(this.#stores.forJob(id), this.#stores.database, { action, id, act }, perform);
  }

  /** Like `performOnJob`, in the caller's transaction, which the record becomes a part of. */
  async performInTransaction(
    transaction: unknown,
    { action, id, act }: JobAction,
    perform: (jobs: JobWriting) => Promise<Job>,
  ): Promise<Job> {
    const jobs = this.#stores.forJob(id).within(transaction);
    return this.#perform(jobs, jobs, { action, id, act }, perform);
  }

  async #perform<Writing extends JobWriting>(
    jobs: Writing,
    records: JobWriting,
    { action, id, act }: JobAction,
    perform: (jobs: Writing) => Promise<Job>,
  ): Promise<Job> {
    if (act?.by === undefined) return perform(jobs);
    const before = await jobs.get(id);
    const after = await perform(jobs);
    const views = { before: before && auditView(before), after: auditView(after) };
    await records.audit({ action, job: id, def: after.def, ...views }, this.asker(act));
    return after;
  }

  /**
   * Deletes a job, and records it if the options name a person. If the database has the job, one commit does both. The
   * record of the deletion of an in-memory job is written after it, because it is stored in the database, too.
   */
  async deleteJob(id: number, act: ActOptions | undefined): Promise<void> {
    const jobs = this.#stores.forJob(id);
    if (act?.by === undefined) return jobs.delete(id);
    const { database } = this.#stores;
    if (jobs === database) return jobs.delete(id, this.asker(act));
    const before = await jobs.get(id);
    await jobs.delete(id);
    const entry = { action: 'delete', job: id, def: before!.def, before: auditView(before!), after: null };
    await database.audit(entry, this.asker(act));
  }

  /** Performs an operation on a definition, and records it if the options name a person. */
  async performOnDefinition(
    action: string,
    name: string,
    act: ActOptions | undefined,
    perform: () => Promise<unknown>,
  ): Promise<void> {
    if (act?.by === undefined) return void (await perform());
    const before = await this.#definitionView(name);
    await perform();
    const after = await this.#definitionView(name);
    await this.#stores.database.audit({ action, job: null, def: name, before, after }, this.asker(act));
  }

  /** The recorded fields of a definition; null: there is no definition with this name. */
  async #definitionView(name: string): Promise<unknown> {
    try {
      return recordedFields(await this.#stores.definition(name));
    } catch (error) {
      if (isRefusal(error) && error.code === 'unknown.definition') return null;
      throw error;
    }
  }
}
