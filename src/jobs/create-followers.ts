/**
 * Creating runs that follow others, and runs of definitions together with runs of the definitions that follow them, as a
 * tick does: all new runs of a call in one commit. A run whose unique key is taken is not created; the job that has the
 * key follows what it followed before, and keeps the followers that it has. With `onTaken: 'update'`, that job is
 * updated in a commit of its own, before the new runs are created. So all drafts are checked first; a refusal that
 * depends on other jobs (`unknown.job`) may still follow updates.
 */
import type { Job } from '../model/job.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import { checkTogether, createTogether, flowOf, type FlowDraft } from './create-flow.ts';
import { createJobs, type Created } from './create.ts';
import type { CreationHook } from './creation-hook.ts';
import { followerDrafts, followerPlan, followingOf, linksTo } from './follower-runs.ts';
import type { Creator } from './new-jobs.ts';
import { registered } from './tick-knowledge.ts';

/** A draft of a run, with the definition whose followers get runs, too. */
export interface LeadingDraft extends FlowDraft {
  readonly leader?: Job | undefined;
}

/** A run, and behind it those that are created only together with it. */
type DraftedFlow = readonly [FlowDraft, ...FlowDraft[]];

/** How often keys that others take at the same moment are looked up again, before the call is refused as `contended`. */
const triesMax = 10;

export async function createFollowers(
  creator: Creator,
  drafts: readonly LeadingDraft[],
  creating: CreationHook | null,
  by: string,
): Promise<readonly Created[]> {
  drafts.forEach(refuseUpdate);
  await creator.store.synchronize?.();
  const flows = await flowsOf(creator, drafts, creating, by);
  checkTogether(creator, flows.flat(), by);
  const created = new Map<DraftedFlow, Created>();
  for (let open = flows, tries = 0; open.length > 0; open = flows.filter((flow) => !created.has(flow)), tries += 1) {
    if (tries === triesMax) throw contended(open);
    for (const [flow, outcome] of await holdersOf(creator, open, by)) created.set(flow, outcome);
    // Of the runs with one key, the first is created; the others find it in the next turn.
    const free = firstOfEachKey(open.filter((flow) => !created.has(flow)));
    for (const [flow, outcome] of await createFlows(creator, free, by)) created.set(flow, outcome);
  }
  return flows.map((flow) => created.get(flow)!);
}

function refuseUpdate({ draft: { unique }, after }: FlowDraft): void {
  if (unique?.onTaken !== 'update' || after.length === 0) return;
  const message = 'a run that follows others cannot update the run that has its key: leave out onTaken';
  throw new Refusal('malformed.option', message, { key: unique.key });
}

function contended(flows: readonly DraftedFlow[]): Refusal {
  const keys = flows.flatMap(([{ draft: { unique } }]) => unique?.key ?? []);
  return new Refusal('contended', 'other jobs took and released unique keys again and again: try again', { keys });
}

async function flowsOf(
  creator: Creator,
  drafts: readonly LeadingDraft[],
  creating: CreationHook | null,
  by: string,
): Promise<readonly DraftedFlow[]> {
  const flows: DraftedFlow[] = [];
  const plans = new Map<Job, ReturnType<typeof followerPlan>>();
  for (const { leader, ...draft } of drafts) {
    const { store } = creator;
    if (leader !== undefined && !plans.has(leader)) plans.set(leader, followerPlan(store, leader, registered(creator)));
    const plan = leader === undefined ? [] : await plans.get(leader)!;
    const followers = leader === undefined ? []
      : await followerDrafts(plan, { def: leader, nominal: null, now: store.now(), by, creating });
    const created = followers.flatMap(({ draft: own, name, spec }) => (typeof own === 'string' ? [] : [{ own, name, spec }]));
    const indexes = new Map([[leader?.def, 0], ...created.map(({ name }, index) => [name, index + 1] as const)]);
    flows.push([draft, ...created.map(({ own, spec }): FlowDraft => ({
      draft: own,
      after: spec.after!.map((name) => ({ run: { index: indexes.get(name)! }, links: linksTo(name, spec) })),
      follows: followingOf(spec),
    }))]);
  }
  return flows;
}

/** The flows whose keys are taken, each with the job that has the key. */
async function holdersOf(creator: Creator, flows: readonly DraftedFlow[], by: string): Promise<ReadonlyMap<DraftedFlow, Created>> {
  const keys = new Set(flows.flatMap(([{ draft: { unique } }]) => (unique === undefined ? [] : [unique.key])));
  const found = new Map<DraftedFlow, Created>();
  if (keys.size === 0) return found;
  const ids = await creator.store.jobsByKey([...keys]);
  const jobs = new Map((await creator.store.load([...new Set(ids.values())])).map((job) => [job.id, job]));
  for (const flow of flows) {
    const [{ draft }] = flow;
    const id = draft.unique === undefined ? undefined : ids.get(draft.unique.key);
    if (id === undefined) continue;
    found.set(flow, draft.unique?.onTaken === 'update' ? (await createJobs(creator, [draft], by))[0]!
      : { id, outcome: 'existing', job: jobs.get(id) ?? null });
  }
  return found;
}

function firstOfEachKey(flows: readonly DraftedFlow[]): readonly DraftedFlow[] {
  const keys = new Set<string>();
  return flows.filter(([{ draft: { unique } }]) => {
    if (unique === undefined) return true;
    const isFirst = !keys.has(unique.key);
    keys.add(unique.key);
    return isFirst;
  });
}

/** Creates the flows in one commit; returns nothing if a key was taken meanwhile. */
async function createFlows(creator: Creator, flows: readonly DraftedFlow[], by: string): Promise<ReadonlyMap<DraftedFlow, Created>> {
  if (flows.length === 0) return new Map();
  const starts = [0];
  for (const flow of flows) starts.push(starts.at(-1)! + flow.length);
  const runsOf = (runs: readonly Job[], index: number): readonly Job[] => runs.slice(starts[index], starts[index + 1]);
  const drafts = flows.flatMap((flow, index) => flow.map((draft) => shifted(draft, starts[index]!)));
  try {
    const jobs = await createTogether(creator, drafts, by, (runs) =>
      flows.flatMap((flow, index) => (flow.length === 1 ? [] : [flowOf(runsOf(runs, index))])));
    return new Map(flows.map((flow, index) => {
      const [job] = runsOf(jobs, index);
      return [flow, { id: job!.id, outcome: 'created', job: job! }];
    }));
  } catch (error) {
    const isOwnKey = isRefusal(error) && error.code === 'taken.key' &&
      flows.some(([{ draft }]) => draft.unique?.key === error.detail['key']);
    if (!isOwnKey) throw error;
    return new Map();
  }
}

const shifted = (draft: FlowDraft, by: number): FlowDraft => ({
  ...draft,
  after: draft.after.map((each) => ('index' in each.run ? { ...each, run: { index: each.run.index + by } } : each)),
});
