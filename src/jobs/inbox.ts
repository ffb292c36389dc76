/**
 * Creates jobs for requests of the inbox. A request is removed in the commit that creates its job, so a crash leaves
 * either the request or the job. If two instances have the same request, the second commit does not find it any more.
 */
import { takeRequests } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { isMalformed, Refusal } from '../refusal.ts';
import { updateOf } from './create.ts';
import { firstStateOf, originOf, type Draft } from './draft.ts';
import { newJobs, type Producer } from './new-jobs.ts';

/** A valid request of the inbox: its id, and the draft of its job. */
export interface RequestDraft {
  readonly request: number;
  readonly draft: Draft;
  /** Returns the refusal if a job has the unique key of the draft; absent: that job fulfils the request. */
  readonly refuseTaken?: (job: number) => Refusal;
}

export interface RefusedRequest {
  readonly request: number;
  readonly refusal: Refusal;
}

/** How often an update of the job that has the unique key is tried, if other changes of the job come in between. */
const updateTriesMax = 10;

/**
 * Creates a job for each request, or updates the job that has its unique key, and removes the requests. Returns the
 * requests that are refused; they are still in the inbox, and so are those that another instance is taking.
 */
export async function createFromInbox(
  producer: Producer,
  drafts: readonly RequestDraft[],
  by: string,
): Promise<readonly RefusedRequest[]> {
  const first = firstOfEachKey(drafts);
  const { changes, refused } = await validJobs(producer, first, by);
  const taken = await takeRequests(producer.store, changes);
  const settled = new Set([
    ...changes.filter((_, index) => taken[index]).map(({ request }) => request),
    ...refused.map(({ request }) => request),
  ]);
  const others = drafts.filter(({ request, draft }) => draft.unique !== undefined && !settled.has(request));
  return others.length === 0 ? refused : [...refused, ...(await answerTaken(producer, others, by))];
}

/** Leaves out drafts whose unique key an earlier draft has: the job of the earlier one will have the key. */
function firstOfEachKey(drafts: readonly RequestDraft[]): readonly RequestDraft[] {
  const keys = new Set<string>();
  return drafts.filter(({ draft: { unique } }) => unique === undefined || keys.size < keys.add(unique.key).size);
}

interface ValidJobs {
  readonly changes: readonly { readonly request: number; readonly change: Change }[];
  readonly refused: readonly RefusedRequest[];
}

/** Returns the new jobs of the drafts. The drafts are checked one by one only if one of them is malformed. */
async function validJobs(producer: Producer, drafts: readonly RequestDraft[], by: string): Promise<ValidJobs> {
  try {
    const jobs = await newJobs(producer, drafts.map(({ draft }) => draft), by);
    return { changes: drafts.map(({ request }, index) => ({ request, change: jobs[index]! })), refused: [] };
  } catch (error) {
    const refused = isMalformed(error) ? malformed(drafts, producer.store.now()) : [];
    if (refused.length === 0) throw error;
    const ids = new Set(refused.map(({ request }) => request));
    const { changes } = await validJobs(producer, drafts.filter(({ request }) => !ids.has(request)), by);
    return { changes, refused };
  }
}

function malformed(drafts: readonly RequestDraft[], now: number): readonly RefusedRequest[] {
  return drafts.flatMap(({ request, draft }) => {
    try {
      originOf(draft, 0, now);
      firstStateOf(draft, now);
      return [];
    } catch (error) {
      if (isMalformed(error)) return [{ request, refusal: error }];
      throw error;
    }
  });
}

/**
 * Answers requests whose unique key was taken, in their order. A request whose key is free by now stays in the inbox.
 */
async function answerTaken(
  producer: Producer,
  drafts: readonly RequestDraft[],
  by: string,
): Promise<readonly RefusedRequest[]> {
  const { store } = producer;
  const holders = await store.jobsByKey([...new Set(drafts.map(({ draft }) => draft.unique!.key))]);
  const fulfilled: number[] = [];
  const refused: RefusedRequest[] = [];
  for (const { request, draft, refuseTaken } of drafts) {
    const holder = holders.get(draft.unique!.key);
    if (holder === undefined) continue;
    if (refuseTaken) refused.push({ request, refusal: refuseTaken(holder) });
    else if (draft.unique!.onTaken !== 'update') fulfilled.push(request);
    else refused.push(...(await updateHolder(producer, { request, draft }, holder, by)));
  }
  if (fulfilled.length > 0) await takeRequests(store, fulfilled.map((request) => ({ request, change: null })));
  return refused;
}

async function updateHolder(
  { store }: Producer,
  { request, draft }: RequestDraft,
  holder: number,
  by: string,
): Promise<readonly RefusedRequest[]> {
  for (let tries = 0; tries < updateTriesMax; tries++) {
    const [job] = await store.load([holder]);
    const change = job === undefined ? null : await updateOf(store, job, draft, { by, now: store.now() });
    if (change instanceof Refusal) return [{ request, refusal: change }];
    const isEffective = change !== null && change.events.length > 0;
    const [isTaken] = await takeRequests(store, [{ request, change: isEffective ? change : null }]);
    if (isTaken) return [];
  }
  return [];
}
