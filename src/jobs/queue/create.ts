/** Creating queued jobs: all or none, each new or, if it is to be unique, the one that has its name already. */
import { applyTogether } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import { childHold } from '../../model/family.ts';
import type { Job, Policy } from '../../model/job.ts';
import { create, step, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import type { Producer } from '../create.ts';
import { birthOf } from '../draft.ts';
import { marked, merged, noData } from './data.ts';

export interface QueueDraft {
  readonly name: string;
  /** JSON text of an object; null: none was given. */
  readonly data: string | null;
  readonly firstRun?: number;
  readonly repeat?: string;
  readonly retryAfter?: string;
  readonly priority?: number;
  readonly isUnique?: boolean;
  /** False: a unique job that exists is left as it is. */
  readonly overwrite?: boolean;
  readonly parent?: number;
}

export const priorityDefault = 500;
const handOutsMax = 10;
/** A queued job fails when its worker says so; lost workers are counted by hand-outs. */
const crashesMax = 1000;

/** The ids, in the order of the drafts. */
export async function createQueued({ store, ids }: Producer, drafts: readonly QueueDraft[], isMock: boolean, by: string): Promise<number[]> {
  const numbers = await ids.take(drafts.length);
  for (;;) {
    try {
      return await createOnce(store, drafts, numbers, isMock, by);
    } catch (error) {
      // Someone else has just created a job of this name: it is there to be found now.
      if (!(error instanceof Refusal) || error.code !== 'taken.key') throw error;
    }
  }
}

async function createOnce(store: Store, drafts: readonly QueueDraft[], numbers: readonly number[], isMock: boolean, by: string): Promise<number[]> {
  let answer: number[] = [];
  await applyTogether(store, async () => {
    const asking = { by, now: store.now() };
    const creation = new Creation(store, asking, await parentsOf(store, drafts), isMock);
    for (const [index, draft] of drafts.entries()) await creation.add(draft, numbers[index]!);
    answer = creation.ids;
    return creation.changes();
  });
  return answer;
}

async function parentsOf(store: Store, drafts: readonly QueueDraft[]): Promise<ReadonlyMap<number, Job>> {
  const wanted = drafts.flatMap(({ parent }) => parent ?? []);
  const found = wanted.length === 0 ? [] : await store.load(wanted);
  return new Map(found.map((job) => [job.id, job]));
}

/** One request to create: what it adds to the store, bit by bit. */
class Creation {
  readonly ids: number[] = [];
  readonly #store: Store;
  readonly #asking: Asking;
  readonly #parents: ReadonlyMap<number, Job>;
  readonly #isMock: boolean;
  readonly #births: Change[] = [];
  readonly #edits: Change[] = [];
  readonly #adoptions = new Map<number, number>();
  readonly #named = new Map<string, number>();

  constructor(store: Store, asking: Asking, parents: ReadonlyMap<number, Job>, isMock: boolean) {
    this.#store = store;
    this.#asking = asking;
    this.#parents = parents;
    this.#isMock = mockOf(parents, isMock);
  }

  async add(draft: QueueDraft, id: number): Promise<void> {
    const parent = draft.parent === undefined ? null : this.#parentOf(draft.parent);
    const known = draft.isUnique ? (this.#named.get(draft.name) ?? (await this.#existing(draft))) : undefined;
    this.ids.push(known ?? this.#bear(draft, id, parent));
  }

  changes(): Change[] {
    const adopted = [...this.#adoptions].map(([parent, tasks]) => step(this.#parents.get(parent)!, { do: 'adopt', tasks }, this.#asking));
    const refused = adopted.find((answer) => answer instanceof Refusal);
    if (refused instanceof Refusal) throw wrongParent(refused.detail);
    return [...(adopted as Change[]), ...this.#births, ...this.#edits];
  }

  #parentOf(id: number): Job {
    const parent = this.#parents.get(id);
    if (!parent) throw new Refusal('unknown.parent', `there is no job ${id} to be the parent`, { parent: id });
    const mayHaveChildren = parent.state === 'running' || (parent.state === 'held' && parent.hold === 'children');
    if (!mayHaveChildren) throw wrongParent({ parent: id, state: parent.state });
    if (parent.parent !== null) throw new Refusal('grandchildren', `job ${id} is a child itself and can have no children`, { parent: id });
    return parent;
  }

  #bear(draft: QueueDraft, id: number, parent: Job | null): number {
    const { now } = this.#asking;
    const birth = birthOf({
      kind: this.#isMock ? 'mock' : 'bedrock',
      type: draft.name,
      inputText: this.#dataOf(draft),
      policy: policyOf(draft, this.#isMock),
      ...(draft.isUnique ? { unique: { key: nameKey(draft.name, this.#isMock) } } : {}),
    }, id, now);
    const hold = parent === null ? null : childHold(parent);
    const first = { due: draft.firstRun ?? now, priority: draft.priority ?? priorityDefault, ...(hold ? { hold } : {}) };
    this.#births.push(create({ ...birth, parent: parent?.id ?? null }, first, this.#asking));
    if (parent) this.#adoptions.set(parent.id, (this.#adoptions.get(parent.id) ?? 0) + 1);
    if (draft.isUnique) this.#named.set(draft.name, id);
    return id;
  }

  /** The id of the job that has the name; it takes on what is new, unless its data says the same. */
  async #existing(draft: QueueDraft): Promise<number | undefined> {
    const job = await byName(this.#store, draft.name, this.#isMock);
    if (!job) return undefined;
    if (job.parent !== null && job.parent !== (draft.parent ?? 0)) {
      throw new Refusal('other.parent', `job ${job.id} has this name and belongs to another parent`, { id: job.id, parent: job.parent });
    }
    const given = this.#dataOf(draft);
    if (given !== job.input && (draft.overwrite ?? true)) this.#take(job, draft, given);
    this.#named.set(draft.name, job.id);
    return job.id;
  }

  #take(job: Job, draft: QueueDraft, given: string): void {
    const { repeat: _repeat, ...kept } = job.policy;
    const { repeat } = policyOf(draft, this.#isMock);
    const edit = {
      input: merged(job.input, given),
      priority: draft.priority ?? priorityDefault,
      policy: { ...kept, ...(repeat === undefined ? {} : { repeat }) },
    };
    const change = step(job, { do: 'edit', edit }, this.#asking);
    if (change instanceof Refusal) throw change;
    this.#edits.push(change);
  }

  #dataOf({ data }: QueueDraft): string {
    return this.#isMock ? marked(data ?? noData, true) : (data ?? noData);
  }
}

/** The mark of parents decides over the request's; parents of both sorts cannot be served together. */
function mockOf(parents: ReadonlyMap<number, Job>, isMock: boolean): boolean {
  const sorts = new Set([...parents.values()].map((parent) => parent.kind === 'mock'));
  if (sorts.size < 2) return sorts.size === 0 ? isMock : sorts.has(true);
  throw new Refusal('mismatched.mock', 'the parents named are mocked and real: ask for their children apart', {});
}

function policyOf({ name, repeat, retryAfter }: QueueDraft, isMock: boolean): Policy {
  return {
    ...(repeat === undefined || isMock ? {} : { repeat }),
    ...(retryAfter === undefined ? {} : { retryAfter, crashesMax }),
    ...(retryAfter === undefined || name.startsWith('manual') ? {} : { handOutsMax }),
  };
}

/** What has ended well and has no parent is gone, as far as the queue is concerned. */
const known = ['pending', 'held', 'running', 'failed', 'cancelled'] as const;

async function byName(store: Store, name: string, isMock: boolean): Promise<Job | undefined> {
  const kinds = [isMock ? 'mock' : 'bedrock'] as const;
  const { jobs } = await store.find({ kinds, types: [name], standings: known }, { order: 'oldest', limit: 1 });
  return jobs[0];
}

const nameKey = (name: string, isMock: boolean): string => `${isMock ? 'mock' : 'bedrock'} ${name}`;

const wrongParent = (detail: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal('wrong.parent', 'children can be created only while their parent is running or waits for children', detail);
