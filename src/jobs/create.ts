/**
 * Creating jobs: one, many, as children, or in the caller's transaction. If the unique key of a draft is taken, the job
 * that has the key is returned or updated instead.
 */
import { applyTogether, insert, knownOf } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import { childHold } from '../model/family.ts';
import type { Job } from '../model/job.ts';
import { create, step, type Asking } from '../model/machine.ts';
import { isEndedStep } from '../model/step.ts';
import { knowsVersion, type TypeVersions } from '../model/type-version.ts';
import { Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';
import { checkedInput, originOf, firstStateOf, type Draft } from './draft.ts';
import { newJobs, type Creator, type Producer } from './new-jobs.ts';

export interface Created {
  readonly id: number;
  /** `existing` and `updated`: the unique key was taken, and `id` is the job that has the key. */
  readonly outcome: 'created' | 'existing' | 'updated';
  /** The stored job; null: the job that has the key was deleted, but its key stays taken until `forMs` has passed. */
  readonly job: Job | null;
}

/** An instance that claims the jobs that it creates, and the versions of types that it knows. */
export interface Holder {
  readonly name: string;
  readonly versions: readonly TypeVersions[];
}

/**
 * How often one draft is tried if its unique key is taken at the insert and free again at the following read. After
 * that the draft is refused as `contended`.
 */
const triesMax = 10;

/**
 * Stores each draft, or finds the job that has its unique key. If one draft is malformed, all are refused. If `holder`
 * is set, new jobs that are due and have no gate are claimed for this holder in the same commit, unless their type is
 * paused.
 */
export async function createJobs(
  producer: Creator,
  drafts: readonly Draft[],
  by: string,
  holder: Holder | null = null,
  tries = 1,
): Promise<readonly Created[]> {
  const unclaimed = await newJobs(producer, drafts, by);
  const changes = holder === null ? unclaimed : unclaimed.map((newJob) => claimOnCreate(holder, newJob));
  const written = await insert(producer.store, changes);
  producer.ids.reserveAhead();
  if (!written.includes(false)) return changes.map(created);
  return Promise.all(
    changes.map(async (change, index) =>
      written[index] ? created(change) : await createUnclaimed(producer, drafts[index]!, by, holder, tries),
    ),
  );
}

/** Handles a draft whose job was not written: its key is taken, or it was claimed and its type is paused. */
async function createUnclaimed(
  producer: Creator,
  draft: Draft,
  by: string,
  holder: Holder | null,
  tries: number,
): Promise<Created> {
  if (holder === null) return keyHolder(producer, draft, by, tries);
  return (await createJobs(producer, [draft], by, null, tries))[0]!;
}

/**
 * Claims a new job if it is due and has no gate; otherwise returns it unchanged. A job with a gate must be claimed by
 * the store, which counts how many jobs of the gate execute.
 */
function claimOnCreate({ name: holder, versions }: Holder, newJob: Change): Change {
  const job = newJob.after!;
  if (job.state !== 'pending' || job.gate !== null) return newJob;
  if (!knowsVersion(versions, job.type, job.typeVersion)) return newJob;
  const command = { do: 'claim', holder, until: null, parentCancelled: false, ...knownOf(versions, job.type) } as const;
  const claimed = step(job, command, { by: holder, now: job.changed });
  if (claimed instanceof Refusal || claimed.after?.state !== 'running') return newJob;
  return { before: null, after: claimed.after, events: [...newJob.events, ...claimed.events] };
}

const created = ({ after }: Change): Created => ({ id: after!.id, outcome: 'created', job: after });

/**
 * Stores children in one commit with the event `adopted` of their parent. With a fence, the commit is refused if the
 * parent is no longer held under this fence.
 */
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

async function keyHolder(
  producer: Creator,
  draft: Draft,
  by: string,
  tries: number,
): Promise<Created> {
  const { store } = producer;
  const key = draft.unique?.key;
  if (key === undefined) throw new Error('an id from the store was not new');
  const id = (await store.jobsByKey([key])).get(key);
  if (id === undefined && tries < triesMax) return (await createJobs(producer, [draft], by, null, tries + 1))[0]!;
  if (id === undefined) {
    throw new Refusal('contended', 'other jobs took and released the unique key again and again: try again', { key });
  }
  const updated = draft.unique?.onTaken === 'update' ? await update(store, id, draft, by) : null;
  return updated
    ? { id, outcome: 'updated', job: updated }
    : { id, outcome: 'existing', job: (await store.load([id]))[0] ?? null };
}

/** Edits the job as the draft says and returns the job; null: it was deleted or is not waiting (see `isWaiting`). */
async function update(store: Writer, id: number, draft: Draft, by: string): Promise<Job | null> {
  const [change] = await applyTogether(store, async () => {
    const asking = { by, now: store.now() };
    const [job] = await store.load([id]);
    const answer = job ? await updateOf(store, job, draft, asking) : null;
    if (answer === null) return [];
    return answer instanceof Refusal ? answer : [answer];
  });
  return change?.after ?? null;
}

/**
 * Returns the edit that makes a job as the draft says; null: the job is not waiting (see `isWaiting`), or has finished
 * steps, whose results belong to its input.
 */
export async function updateOf(
  store: Pick<Writer, 'steps'>,
  job: Job,
  draft: Draft,
  asking: Asking,
): Promise<Change | Refusal | null> {
  if (!isWaiting(job) || (hasInput(draft) && (await hasSteps(store, job)))) return null;
  return step(job, { do: 'edit', edit: editOf(job, draft, asking.now) }, asking);
}

const hasInput = ({ input, inputText, [checkedInput]: checked }: Draft): boolean =>
  input !== undefined || inputText !== undefined || checked !== undefined;

/** Only a job that was claimed can have steps. Its steps cannot change before the edit: a claim changes its version. */
const hasSteps = async (store: Pick<Writer, 'steps'>, { id, fence }: Job): Promise<boolean> =>
  fence > 0 && (await store.steps([id])).some(isEndedStep);

/** Whether a new input would still be used: the job is not running, has planned neither tasks nor children, and has not ended. */
const isWaiting = (job: Job): boolean =>
  (job.state === 'pending' || (job.state === 'held' && job.hold !== 'children')) && job.phase !== 'gather' &&
  job.details === null;

/** Returns the edit that sets the fields of a draft in an existing job; fields that the draft omits stay unchanged. */
function editOf(job: Job, draft: Draft, now: number): Edit {
  const { input, policy, tags, typeVersion } = originOf(draft, 0, now);
  const { priority, due } = firstStateOf(draft, now);
  return {
    ...(hasInput(draft) ? { input } : {}),
    ...(hasInput(draft) && typeVersion !== job.typeVersion ? { typeVersion } : {}),
    ...(draft.policy == null ? {} : { policy }),
    ...(draft.tags == null ? {} : { tags }),
    ...(draft.priority === undefined ? {} : { priority }),
    ...(draft.due === undefined ? {} : { due }),
  };
}
