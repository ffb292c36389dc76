/** Creating jobs: one, many, as children, or in the caller's transaction. A taken unique key determines the outcome. */
import { applyTogether, insert } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import { childHold } from '../model/family.ts';
import type { Job } from '../model/job.ts';
import { create, step, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';
import { originOf, firstStateOf, type Draft } from './draft.ts';
import { newJobs, type Creator, type Producer } from './new-jobs.ts';

export interface Created {
  readonly id: number;
  /** `existing` and `updated`: the unique key was taken, and `id` is the job that has it. */
  readonly outcome: 'created' | 'existing' | 'updated';
  /** The stored job; null: it was deleted, and its key stays taken until its period ends. */
  readonly job: Job | null;
}

/** How often a key may become free and be taken by another job during one create. */
const triesMax = 10;

/**
 * Stores each draft, or finds the holder of its key. If one draft is malformed, all are refused. With a holder, jobs
 * that are due are claimed for it in the same commit.
 */
export async function createJobs(
  producer: Creator,
  drafts: readonly Draft[],
  by: string,
  holder: string | null = null,
  tries = 1,
): Promise<readonly Created[]> {
  const unclaimed = await newJobs(producer, drafts, by);
  const changes = holder === null ? unclaimed : unclaimed.map((newJob) => claimOnCreate(holder, newJob));
  const written = await insert(producer.store, changes);
  if (!written.includes(false)) return changes.map(created);
  return Promise.all(
    changes.map(async (change, index) =>
      written[index] ? created(change) : keyHolder(producer, drafts[index]!, by, tries),
    ),
  );
}

/** Claims a new job that can run now and has no gate; only the store can count admitted jobs. */
function claimOnCreate(holder: string, newJob: Change): Change {
  const job = newJob.after!;
  if (job.state !== 'pending' || job.gate !== null) return newJob;
  const command = { do: 'claim', holder, until: null, parentCancelled: false } as const;
  const claimed = step(job, command, { by: holder, now: job.changed });
  if (claimed instanceof Refusal || claimed.after?.state !== 'running') return newJob;
  return { before: null, after: claimed.after, events: [...newJob.events, ...claimed.events] };
}

const created = ({ after }: Change): Created => ({ id: after!.id, outcome: 'created', job: after });

/** Stores children and the event of their parent in one commit, under the parent's fence. */
export async function createChildren(
  { store, ids }: Producer,
  parent: number,
  drafts: readonly Draft[],
  by: string,
  fence?: number,
): Promise<readonly Job[]> {
  const unattached = await newJobs({ store, ids }, drafts, by);
  const changes = await applyTogether(store, async () => {
    const asking = { by, now: store.now() };
    const [seen] = await store.load([parent]);
    if (!seen) return new Refusal('unknown.parent', `there is no job ${parent} to be the parent`, { parent });
    const command = { do: 'adopt', tasks: drafts.length, ...(fence === undefined ? {} : { fence }) } as const;
    const adopted = step(seen, command, asking);
    if (adopted instanceof Refusal) return adopted;
    if (seen.parent !== null) {
      return new Refusal('grandchildren', `job ${parent} is a child itself and can have no children`, { parent });
    }
    return [adopted, ...unattached.map(({ after }) => attach(after!, seen, asking))];
  });
  return changes.slice(1).map(({ after }) => after!);
}

function attach(child: Job, parent: Job, asking: Asking): Change {
  const hold = childHold(parent);
  const { due, priority } = child;
  return create({ ...child, parent: parent.id }, { due, priority, ...(hold ? { hold } : {}) }, asking);
}

async function keyHolder(producer: Creator, draft: Draft, by: string, tries: number): Promise<Created> {
  const { store } = producer;
  const key = draft.unique?.key;
  if (key === undefined) throw new Error('an id from the store was not new');
  const id = (await store.holders([key])).get(key);
  if (id === undefined && tries < triesMax) return (await createJobs(producer, [draft], by, null, tries + 1))[0]!;
  if (id === undefined) {
    throw new Refusal('contended', 'other jobs took and released the unique key again and again: try again', { key });
  }
  const updated = draft.unique?.onTaken === 'update' ? await update(store, id, draft, by) : null;
  return updated
    ? { id, outcome: 'updated', job: updated }
    : { id, outcome: 'existing', job: (await store.load([id]))[0] ?? null };
}

/** Edits the job by the draft; null: the job is not open and stays unchanged. */
async function update(store: Writer, id: number, draft: Draft, by: string): Promise<Job | null> {
  const [change] = await applyTogether(store, async () => {
    const asking = { by, now: store.now() };
    const [job] = await store.load([id]);
    if (!job || !isWaiting(job)) return [];
    const answer = step(job, { do: 'edit', edit: editOf(draft, asking.now) }, asking);
    return answer instanceof Refusal ? answer : [answer];
  });
  return change?.after ?? null;
}

/** Whether its next attempt would use a new input: the job is neither running nor planned nor ended. */
const isWaiting = (job: Job): boolean =>
  (job.state === 'pending' || (job.state === 'held' && job.hold !== 'children')) && job.phase !== 'gather';

/** The fields of a draft that an existing job takes over; fields that the draft does not set stay. */
function editOf(draft: Draft, now: number): Edit {
  const { input, policy, tags } = originOf(draft, 0, now);
  const { priority, due } = firstStateOf(draft, now);
  return {
    ...(draft.input === undefined && draft.inputText === undefined ? {} : { input }),
    ...(draft.policy == null ? {} : { policy }),
    ...(draft.tags == null ? {} : { tags }),
    ...(draft.priority === undefined ? {} : { priority }),
    ...(draft.due === undefined ? {} : { due }),
  };
}
