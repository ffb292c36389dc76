/** The operations on jobs that need only a `Writer`, so that they work in a caller's transaction, too. */
import { apply, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { Holding, Writer } from '../store/store.ts';
import { audit, type AuditEntry } from './audit.ts';
import { checkEdit, checkMs, checkTerminateCode } from './checks/command.ts';
import { checkAsker, checkFence, checkId, checkList } from './checks/values.ts';
import { createJobs, type Created, type Holder } from './create.ts';
import { createFlow, type FlowDraft } from './create-flow.ts';
import { createFollowers, type LeadingDraft } from './create-followers.ts';
import type { CreationHook } from './creation-hook.ts';
import type { Draft, UniqueRequest } from './draft.ts';
import { Ids } from './ids.ts';
import { cancelJob, editJob, type Act } from './operate.ts';

const draftsMax = 1_000_000;

export class JobWriting<Written extends Writer = Writer> {
  readonly store: Written;
  readonly ids: Ids;
  /** Called for each new run, before it is stored; null: there is no middleware around creations. */
  readonly creating: CreationHook | null;

  constructor(store: Written, creating: CreationHook | null = null, ids = new Ids(store)) {
    this.store = store;
    this.ids = ids;
    this.creating = creating;
  }

  /** Creates jobs. With a `holder`, jobs that are due now and have no gate are claimed for it in the same commit. */
  async createMany(drafts: readonly Draft[], by: string, holder: Holder | null = null): Promise<readonly Created[]> {
    return createJobs(this, checkDrafts(drafts), by, holder);
  }

  /** Creates the runs of a flow in one commit; returns them in the order of the drafts. */
  async createFlow(drafts: readonly FlowDraft[], by: string): Promise<readonly Job[]> {
    return createFlow(this, drafts, by);
  }

  /** Creates runs that follow others or have followers, in one commit. */
  async createFollowers(drafts: readonly LeadingDraft[], by: string, creating = this.creating): Promise<readonly Created[]> {
    return createFollowers(this, drafts, creating, by);
  }

  async cancel(id: number, act: Act, graceMs?: number): Promise<Job> {
    if (graceMs !== undefined) checkMs('graceMs', graceMs);
    return cancelJob(this.store, checkId(id), checkAct(act), graceMs);
  }

  async edit(id: number, edit: Edit, asker: Asker): Promise<Job> {
    await this.store.synchronize?.();
    return editJob(this.store, checkId(id), checkEdit(edit, this.store.now()), checkAsker(asker));
  }

  /** Ends a job with success. Refuses `lost.lease` if it is not held under this fence. */
  async succeedUnder({ id, fence }: Holding, result: string, asker: Asker): Promise<Change> {
    await this.store.synchronize?.();
    return apply(this.store, checkId(id), { do: 'succeed', fence: checkFence(fence), result }, checkAsker(asker));
  }

  async audit(entry: AuditEntry, asker: Asker, unique?: UniqueRequest): Promise<void> {
    return audit(this, entry, checkAsker(asker), unique);
  }

  async get(id: number): Promise<Job | null> {
    return (await this.store.load([checkId(id)]))[0] ?? null;
  }
}

export const checkDrafts = (drafts: readonly Draft[]): readonly Draft[] =>
  checkList('jobs', drafts, draftsMax, (draft: Draft) => draft);

export function checkAct(act: Act): Act {
  if (checkAsker(act).code !== undefined) checkTerminateCode(act.code);
  return act;
}
