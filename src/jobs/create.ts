/** Creating jobs: one, many, as children, in the caller's transaction; a unique key gives an outcome, never a silence. */
import { apply, applyTogether, insert } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import { childHold } from '../model/family.ts';
import { isOpen, type Job } from '../model/job.ts';
import { create, step, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { birthOf, checkPriority, checkTime, type Draft } from './draft.ts';
import type { Ids } from './ids.ts';

export interface Created {
  readonly id: number;
  /** `existing` and `updated`: the unique key was taken, and this is the job that has it. */
  readonly outcome: 'created' | 'existing' | 'updated';
  /** As it is stored now. */
  readonly job: Job;
}

export interface Producer {
  readonly store: Store;
  readonly ids: Ids;
}

/** Stores each draft, or finds who has its key. Refuses all of them when one is malformed. */
export async function createJobs(
  { store, ids }: Producer,
  drafts: readonly Draft[],
  by: string,
  writer: Pick<Store, 'commit'> = store,
): Promise<readonly Created[]> {
  const changes = await births({ store, ids }, drafts, by);
  const written = await insert(writer, changes);
  return Promise.all(changes.map((change, index) => {
    const job = change.after!;
    return written[index] ? { id: job.id, outcome: 'created', job } : whoHasTheKey({ store, ids }, drafts[index]!, by, writer);
  }));
}

/** Stores children together with the note of it in their parent, under the fence of whoever works on the parent. */
export async function createChildren(
  { store, ids }: Producer,
  parent: number,
  drafts: readonly Draft[],
  by: string,
  fence?: number,
): Promise<readonly Job[]> {
  const unattached = await births({ store, ids }, drafts, by);
  const changes = await applyTogether(store, async () => {
    const asking = { by, now: store.now() };
    const [seen] = await store.load([parent]);
    if (!seen) return new Refusal('unknown.parent', `there is no job ${parent} to be the parent`, { parent });
    const adopted = step(seen, { do: 'adopt', tasks: drafts.length, ...(fence === undefined ? {} : { fence }) }, asking);
    if (adopted instanceof Refusal) return adopted;
    if (seen.parent !== null) return new Refusal('grandchildren', `job ${parent} is a child itself and can have no children`, { parent });
    return [adopted, ...unattached.map(({ after }) => attach(after!, seen, asking))];
  });
  return changes.slice(1).map(({ after }) => after!);
}

/** New jobs as changes, not yet stored. */
export async function births({ store, ids }: Producer, drafts: readonly Draft[], by: string, parent: number | null = null): Promise<Change[]> {
  const now = store.now();
  const numbers = await ids.take(drafts.length);
  return drafts.map((draft, index) =>
    create({ ...birthOf(draft, numbers[index]!, now), parent }, firstState(draft, now), { by, now }),
  );
}

const firstState = ({ due, priority = 0, phase }: Draft, now: number) => ({
  due: due === undefined ? now : checkTime('due', due),
  priority: checkPriority(priority),
  ...(phase === undefined || phase === 'run' ? {} : { phase }),
});

function attach(child: Job, parent: Job, asking: Asking): Change {
  const hold = childHold(parent);
  const { due, priority } = child;
  return create({ ...child, parent: parent.id }, { due, priority, ...(hold ? { hold } : {}) }, asking);
}

async function whoHasTheKey(producer: Producer, draft: Draft, by: string, writer: Pick<Store, 'commit'>): Promise<Created> {
  const { store } = producer;
  const key = draft.unique?.key;
  if (key === undefined) throw new Error('an id from the store was not new');
  const id = (await store.holders([key])).get(key);
  const [job] = id === undefined ? [] : await store.load([id]);
  if (!job) return (await createJobs(producer, [draft], by, writer))[0]!;
  if (draft.unique?.onTaken !== 'update' || !isOpen(job)) return { id: job.id, outcome: 'existing', job };
  const { after } = await apply(store, job, { do: 'edit', edit: editOf(draft, store.now()) }, { by });
  return { id: job.id, outcome: 'updated', job: after! };
}

/** What of a draft an existing job can take on. */
function editOf(draft: Draft, now: number): Edit {
  const { input, policy, tags } = birthOf(draft, 1, now);
  return {
    input,
    policy,
    tags,
    ...(draft.priority === undefined ? {} : { priority: checkPriority(draft.priority) }),
    ...(draft.due === undefined ? {} : { due: checkTime('due', draft.due) }),
  };
}
