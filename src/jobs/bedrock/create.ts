/**
 * Creating Bedrock jobs: all jobs of a request or none. If a unique job is requested and a job of that name exists, no
 * job is created. The existing job is updated, or stays unchanged if it has the same data or `overwrite` is false.
 */
import { applyTogether } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import { childHold } from '../../model/family.ts';
import { isLate, type Job, type Policy, type Tags } from '../../model/job.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { create, step, type Asking } from '../../model/machine.ts';
import type { Kind } from '../../model/state.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { checkName, checkTags } from '../checks/values.ts';
import type { CreationHook } from '../creation-hook.ts';
import type { Producer } from '../new-jobs.ts';
import { originOf } from '../draft.ts';
import { checkPolicy } from '../checks/policy.ts';
import { checkObjectText, isMarked, marked, merged, noData } from './data.ts';
import { checkDue, checkQueuePriority, checkRetryAfter, priorityDefault } from './check.ts';
import { isGone } from './query.ts';

export interface QueueDraft {
  readonly name: string;
  /** JSON text of an object; null: the request has no data. */
  readonly data: string | null;
  readonly firstRun?: number;
  readonly repeat?: string;
  readonly retryAfter?: string;
  readonly priority?: number;
  readonly isUnique?: boolean;
  /** Whether an existing unique job is updated; default: true. If false, it stays unchanged. */
  readonly overwrite?: boolean;
  readonly parent?: number;
  /** Tags that a middleware adds; Bedrock has none. */
  readonly tags?: Tags;
}

/**
 * How often a job with `retryAfter` may be handed out without finishing. After that it fails. Jobs whose name starts
 * with `manual` do not have this limit.
 */
const handOutsMax = 10;
/** How often a create is tried if a unique key is taken. After that it is refused with `taken.key`. */
const triesMax = 10;

/** Returns the ids in the order of the drafts. If one draft is refused, all are. */
export async function createQueued(
  producer: Producer,
  drafts: readonly QueueDraft[],
  isMock: boolean,
  by: string,
): Promise<number[]> {
  for (const draft of drafts) checkDraft(draft, producer.store.now());
  const changed = await throughHook(producer, drafts, isMock, by);
  const numbers: number[] = [];
  for (let tries = 1; ; tries++) {
    try {
      return await createOnce(producer, changed, { numbers, isMock, by, isRetry: tries > 1 });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'taken.key' || tries === triesMax) throw error;
    }
  }
}

/** Returns the drafts as the creation hook has changed them, validated again. */
async function throughHook(
  { creating, store }: Producer,
  drafts: readonly QueueDraft[],
  isMock: boolean,
  by: string,
): Promise<readonly QueueDraft[]> {
  if (!creating) return drafts;
  const changed = await Promise.all(drafts.map((draft) => changedDraft(creating, draft, isMock, by)));
  for (const draft of changed) checkDraft(draft, store.now());
  return changed;
}

async function changedDraft(
  creating: CreationHook,
  draft: QueueDraft,
  isMock: boolean,
  by: string,
): Promise<QueueDraft> {
  const kind = isMock || (draft.data !== null && isMarked(draft.data)) ? 'mock' : 'bedrock';
  const given = parseJson(draft.data ?? noData);
  const { input, priority, tags } = await creating({
    kind, type: draft.name, def: null, tickTime: null, by, input: given, priority: draft.priority, tags: {},
  });
  return {
    ...draft,
    // Unchanged data stays as the client wrote it: other numbers than those of JavaScript would lose digits.
    ...(input === given ? {} : { data: jsonText(input) }),
    ...(priority === undefined ? {} : { priority }),
    ...(Object.keys(tags).length === 0 ? {} : { tags: checkTags(tags) }),
  };
}

/**
 * Checks the fields in the order in which Bedrock reports errors. `Creation.add` checks the repeat rule later, except
 * for a unique job that exists already with the same data.
 */
function checkDraft({ name, priority, data, retryAfter, firstRun }: QueueDraft, now: number): void {
  checkName('name', name);
  if (priority !== undefined) checkQueuePriority(priority);
  if (data !== null) checkObjectText(data);
  if (retryAfter !== undefined) checkRetryAfter(retryAfter, now);
  if (firstRun !== undefined) checkDue('firstRun', firstRun);
}

interface Circumstances {
  /** The ids that this request has taken. A further try uses them again. */
  readonly numbers: number[];
  readonly isMock: boolean;
  readonly by: string;
  /** Whether an earlier try found a unique key taken. A renamed job may have this key; see `#keyOf`. */
  readonly isRetry: boolean;
}

async function createOnce(
  producer: Producer,
  drafts: readonly QueueDraft[],
  circumstances: Circumstances,
): Promise<number[]> {
  const { store } = producer;
  let answer: number[] = [];
  await applyTogether(store, async () => {
    const parents = await parentsOf(store, drafts);
    const creation = new Creation(producer, parents, circumstances);
    for (const draft of drafts) await creation.add(draft);
    answer = creation.ids;
    return creation.changes();
  });
  producer.ids.reserveAhead();
  return answer;
}

async function parentsOf(store: Store, drafts: readonly QueueDraft[]): Promise<ReadonlyMap<number, Job>> {
  const wanted = new Set(drafts.flatMap(({ parent }) => parent ?? []));
  const found = wanted.size === 0 ? [] : await store.load([...wanted]);
  const parents = new Map(found.filter((job) => !isGone(job)).map((job) => [job.id, job]));
  for (const id of wanted) checkParent(id, parents.get(id));
  return parents;
}

/** Collects the changes of one create request, and the ids of its jobs. */
class Creation {
  readonly ids: number[] = [];
  readonly #producer: Producer;
  readonly #asking: Asking;
  readonly #parents: ReadonlyMap<number, Job>;
  readonly #circumstances: Circumstances;
  readonly #kind: Kind;
  /** The changes by job id, in the order in which they are written. */
  readonly #changes = new Map<number, Change>();
  /** How many children each parent gets, by the id of the parent. */
  readonly #adoptions = new Map<number, number>();
  #idsUsed = 0;

  constructor(producer: Producer, parents: ReadonlyMap<number, Job>, circumstances: Circumstances) {
    this.#producer = producer;
    this.#asking = { by: circumstances.by, now: producer.store.now() };
    this.#parents = parents;
    this.#circumstances = circumstances;
    this.#kind = kindOf(parents, circumstances.isMock);
  }

  async add(draft: QueueDraft): Promise<void> {
    const existing = draft.isUnique ? await this.#existing(draft) : undefined;
    if (existing !== undefined && this.#dataOf(draft) === existing.input) return this.#answer(existing.id);
    const policy = checkPolicy(this.#policyOf(draft), this.#asking.now);
    const parent = draft.parent === undefined ? null : this.#parents.get(draft.parent)!;
    if (parent !== null) checkGeneration(parent);
    if (existing === undefined) return this.#answer(await this.#createNew(draft, policy, parent));
    if (draft.overwrite ?? true) this.#take(existing, draft, policy);
    return this.#answer(existing.id);
  }

  changes(): Change[] {
    const adopted = [...this.#adoptions].map(([parent, tasks]) =>
      step(this.#parents.get(parent)!, { do: 'adopt', tasks }, this.#asking),
    );
    const refused = adopted.find((answer) => answer instanceof Refusal);
    if (refused instanceof Refusal) throw wrongParent(refused.detail);
    return [...(adopted as Change[]), ...this.#changes.values()];
  }

  #answer(id: number): void {
    this.ids.push(id);
  }

  async #createNew(draft: QueueDraft, policy: Policy, parent: Job | null): Promise<number> {
    const { now } = this.#asking;
    const id = await this.#nextId();
    const kind = this.#kindOf(draft);
    const unique = draft.isUnique ? { unique: { key: await this.#keyOf(draft.name, kind) } } : {};
    const tags = draft.tags === undefined ? {} : { tags: draft.tags };
    const described = { kind, type: draft.name, policy, ...unique, ...tags };
    const origin = { ...originOf(described, id, now), input: this.#dataOf(draft) };
    const hold = parent === null ? null : childHold(parent);
    const { firstRun: due = now, priority = priorityDefault } = draft;
    const first = { due, priority, ...(hold ? { hold } : {}) };
    this.#changes.set(id, create({ ...origin, parent: parent?.id ?? null }, first, this.#asking));
    if (parent) this.#adoptions.set(parent.id, (this.#adoptions.get(parent.id) ?? 0) + 1);
    return id;
  }

  /**
   * Returns the job with this name, which is stored or was created earlier in this request; undefined: there is none.
   * Throws a refusal if the job belongs to another parent.
   */
  async #existing(draft: QueueDraft): Promise<Job | undefined> {
    const { name, parent } = draft;
    const kind = this.#kindOf(draft);
    const job = (await byName(this.#producer.store, kind, name, parent)) ?? this.#createdAs(name, kind);
    if (job && job.parent !== null && job.parent !== parent) {
      const message = `job ${job.id} has this name and belongs to another parent`;
      throw new Refusal('other.parent', message, { id: job.id, parent: job.parent });
    }
    return job && (this.#changes.get(job.id)?.after ?? job);
  }

  #createdAs(name: string, kind: Kind): Job | undefined {
    const isWanted = ({ before, after }: Change): boolean =>
      before === null && after?.type === name && after.kind === kind;
    return [...this.#changes.values()].find(isWanted)?.after ?? undefined;
  }

  /** Updates the existing job. A priority or repeat rule that the draft does not set is reset, as in Bedrock. */
  #take(job: Job, draft: QueueDraft, { repeat }: Policy): void {
    const { repeat: _before, ...others } = job.policy;
    const edit = {
      input: merged(job.input, this.#dataOf(draft)),
      priority: draft.priority ?? priorityDefault,
      policy: { ...others, ...(repeat === undefined ? {} : { repeat }) },
    };
    const change = step(job, { do: 'edit', edit }, this.#asking);
    if (change instanceof Refusal) throw change;
    const { before, events } = this.#changes.get(job.id) ?? { before: job, events: [] };
    this.#changes.set(job.id, { before, after: change.after, events: [...events, ...change.events] });
  }

  async #nextId(): Promise<number> {
    const { numbers } = this.#circumstances;
    if (numbers.length === this.#idsUsed) numbers.push(...(await this.#producer.ids.take(1)));
    return numbers[this.#idsUsed++]!;
  }

  /**
   * Returns the unique key that prevents two concurrent requests from creating the same unique job. A renamed job keeps
   * the key of its old name; if such a job has this key, returns the key with a number appended.
   */
  async #keyOf(name: string, kind: Kind): Promise<string> {
    const { store } = this.#producer;
    const first = `${kind} ${name}`;
    if (!this.#circumstances.isRetry) return first;
    for (let n = 1; ; n++) {
      const key = n === 1 ? first : `${first} ${n}`;
      const holder = (await store.jobsByKey([key])).get(key);
      const [job] = holder === undefined ? [] : await store.load([holder]);
      if (!job || job.type === name) return key;
    }
  }

  #dataOf(draft: QueueDraft): string {
    return marked(draft.data ?? noData, this.#kindOf(draft) === 'mock');
  }

  #kindOf({ data, parent }: QueueDraft): Kind {
    return parent === undefined && data !== null && isMarked(data) ? 'mock' : this.#kind;
  }

  /**
   * Returns the policy, without the repeat rule if the kind of the request is `mock`. As in Bedrock, a job that is a
   * mock only because its data has `mockRequest` keeps the repeat rule.
   */
  #policyOf({ name, repeat, retryAfter }: QueueDraft): Policy {
    return {
      ...(repeat === undefined || this.#kind === 'mock' ? {} : { repeat }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(retryAfter === undefined || name.startsWith('manual') ? {} : { handOutsMax }),
    };
  }
}

function checkParent(id: number, parent: Job | undefined): void {
  if (!parent) throw new Refusal('unknown.parent', `there is no job ${id} to be the parent`, { parent: id });
  const isWorking = parent.state === 'running' || isLate(parent);
  if (!isWorking && parent.state !== 'held') throw wrongParent({ parent: id, state: parent.state });
}

function checkGeneration({ id, parent }: Job): void {
  if (parent === null) return;
  throw new Refusal('grandchildren', `job ${id} is a child itself and can have no children`, { parent: id });
}

/** Returns the kind of the parents; if there are none, that of the request. Refuses a mix of mock and real parents. */
function kindOf(parents: ReadonlyMap<number, Job>, isMock: boolean): Kind {
  const [first = isMock ? 'mock' : 'bedrock', ...others] = new Set([...parents.values()].map(({ kind }) => kind));
  if (others.length === 0) return first;
  throw new Refusal('mismatched.mock', 'the parents named are mocked and real: ask for their children apart', {});
}

/**
 * The standings in which a job is found by its name. A succeeded job without a parent no longer exists for Bedrock;
 * `byName` searches succeeded children separately.
 */
const known = ['pending', 'held', 'running', 'failed', 'cancelled'] as const;

async function byName(store: Store, kind: Kind, name: string, parent: number | undefined): Promise<Job | undefined> {
  const first = { order: 'oldest', limit: 1 } as const;
  const { jobs } = await store.find({ kinds: [kind], types: [name], standings: known }, first);
  if (jobs.length > 0 || parent === undefined) return jobs[0];
  const finished = await store.find({ kinds: [kind], types: [name], parent, standings: ['succeeded'] }, first);
  return finished.jobs[0];
}

const wrongParent = (detail: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal('wrong.parent', 'children join only while their parent is running or waits for children', detail);
