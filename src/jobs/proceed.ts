/**
 * Proceeding: continues runs when the last run that they follow has ended. This happens after that end is committed, as
 * in settling: of the last two ends, the later one finds no open edge. If the process crashes in between, the periodic
 * search of the maintenance closes the edges and continues the followers.
 */
import { applyTogether, isChange, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { isEncodedPayload } from '../model/encoded-payload.ts';
import { afterEnds, type Edge, type Path } from '../model/following.ts';
import type { Job } from '../model/job.ts';
import { jsonText, parseJson, type Json } from '../model/json.ts';
import { step, type Asking } from '../model/machine.ts';
import { isMalformed } from '../refusal.ts';
import { noEdges, type EdgeTally, type FollowingPage, type Store, type Writer } from '../store/store.ts';
import { edgePages } from './edge-outcomes.ts';
import { waitingInVain } from './waiting-in-vain.ts';

const portion = 500;
const edgePage = 1000;

/** Closes the edges to jobs that have ended, and continues or cancels their followers. */
export async function proceedAfter(store: Writer, ended: readonly Job[], asker: Asker): Promise<void> {
  const followed = followedIds(ended);
  if (followed.length > 0) await proceedAll(store, await store.closeEdges(followed), asker);
}

/** Cancels the followers that waited for the retry of a run that was deleted. */
export async function proceedAfterDeletion(store: Writer, { id, isFollowed }: Job, asker: Asker): Promise<void> {
  if (!isFollowed) return;
  for await (const edges of edgePages(store, 'followed', [id])) {
    await proceedAll(store, edges.map(({ follower }) => follower), asker);
  }
}

/** Continues or cancels followers that wait for no open run; returns them. */
async function proceed(store: Writer, followers: readonly number[], asker: Asker): Promise<readonly Job[]> {
  const changed: Job[] = [];
  for (let from = 0; from < followers.length; from += portion) {
    const some = followers.slice(from, from + portion);
    const changes = await applyTogether(store, async () => decide(store, await store.proceedable(some), asker));
    changed.push(...changes.flatMap(({ after, events }) => (events.length > 0 ? [after!] : [])));
  }
  return changed;
}

/**
 * Returns a function that closes the edges to ended runs that a crash left open, among some pages of the followed runs
 * per call: a flow may have a million runs. It returns how many such runs it found.
 */
export const forgottenEnds = (store: Store, asker: Asker): (() => Promise<number>) =>
  searchInPages((after) => store.endedWithOpenEdges(after, portion), async (ids) => {
    await proceedAll(store, await store.closeEdges(ids), asker);
    return ids.length;
  });

/**
 * Returns a function that continues followers that a crash left behind without an open edge, among some pages of the
 * waiting followers per call. It returns how many it continued or cancelled.
 */
export const forgottenFollowers = (store: Store, asker: Asker): (() => Promise<number>) =>
  searchInPages((after) => store.stalledFollowers(after, portion), (ids) => proceedAll(store, ids, asker));

/** The pages that one call of a search reads, if there are so many: 10,000 runs. */
const pagesPerCall = 20;

/** Returns a function that reads the next pages and repairs what they contain; after the last page it starts again. */
function searchInPages(
  read: (after: number) => Promise<FollowingPage>,
  repair: (ids: readonly number[]) => Promise<number>,
): () => Promise<number> {
  let after = 0;
  return async () => {
    let count = 0;
    for (let page = 0; page < pagesPerCall; page++) {
      const { ids, next } = await read(after);
      after = next ?? 0;
      if (ids.length > 0) count += await repair(ids);
      if (next === null) break;
    }
    return count;
  };
}

/** Continues followers, and the followers of those that are cancelled; returns how many changed. */
export async function proceedAll(store: Writer, followers: readonly number[], asker: Asker): Promise<number> {
  let count = 0;
  for (let some = followers; some.length > 0; ) {
    const changed = await proceed(store, some, asker);
    const ended = followedIds(changed.filter(({ state }) => state === 'ended'));
    some = ended.length === 0 ? [] : await store.closeEdges(ended);
    count += changed.length;
  }
  return count;
}

const followedIds = (jobs: readonly Job[]): number[] => jobs.filter(({ isFollowed }) => isFollowed).map(({ id }) => id);

async function decide(store: Writer, followers: readonly Job[], asker: Asker): Promise<readonly Change[]> {
  if (followers.length === 0) return [];
  const tallies = await store.tallyEdges(followers.map(({ id }) => id));
  const asking = { ...asker, now: store.now() };
  const unsuccessfulOf = ({ id }: Job): number => unsuccessfulIn(tallies.get(id) ?? noEdges);
  const waits = (job: Job): boolean => job.follows !== null && afterEnds(job.follows, unsuccessfulOf(job)) === 'wait';
  const inVain = await waitingInVain(store, followers.filter(waits));
  const changes: Change[] = [];
  for (const follower of followers) {
    const change = inVain.has(follower.id)
      ? changeOf(step(follower, { do: 'stop', code: 'automation' }, { ...asking, why: cannotBeRetried }))
      : await decideOne(store, follower, unsuccessfulOf(follower), asking);
    if (change !== null) changes.push(change);
  }
  return changes;
}

const unsuccessfulIn = ({ failed, cancelled }: EdgeTally): number => failed + cancelled;

const cannotBeRetried = 'runs for whose retry it waited were deleted';

/** Returns the change of a follower whose runs have ended; null: this process cannot read the results for its input. */
async function decideOne(store: Writer, follower: Job, unsuccessful: number, asking: Asking): Promise<Change | null> {
  const what = follower.follows && afterEnds(follower.follows, unsuccessful);
  const why = 'the runs that it follows did not end as it requires';
  if (what !== 'proceed' || !follower.follows?.hasLinks) {
    return changeOf(step(follower, { do: 'proceed', unsuccessful }, what === 'cancel' ? { ...asking, why } : asking));
  }
  const input = await inputWithResults(store, follower);
  if (input === null) return null;
  const command = 'text' in input
    ? ({ do: 'proceed', unsuccessful, input: input.text } as const)
    : ({ do: 'stop', code: 'automation' } as const);
  return changeOf(step(follower, command, 'text' in input ? asking : { ...asking, why: input.problem }));
}

const changeOf = (answer: ReturnType<typeof step>): Change | null => (isChange(answer) ? answer : null);

/** The input of a follower with the results of the runs that it follows, or why it cannot be stored. */
type LinkedInput = { readonly text: string } | { readonly problem: string };

async function inputWithResults(store: Writer, follower: Job): Promise<LinkedInput | null> {
  if (isEncodedPayload(follower.input)) return null;
  const input = { value: parseJson(follower.input) };
  let bytes = 0;
  for (let after = 0; ; ) {
    const edges = await store.edges({ follower: follower.id, after, limit: edgePage });
    for (const { edge, result } of await resultsOf(store, edges.filter(({ links }) => links.length > 0))) {
      if (result !== null && isEncodedPayload(result)) return null;
      bytes += result?.length ?? 0;
      if (bytes > bytesMax) return { problem: tooLarge };
      const value = result === null ? null : parseJson(result);
      for (const { from, to } of edge.links) setAt(input, to, partOf(value, from));
    }
    if (edges.length < edgePage) break;
    after = edges.at(-1)!.followed;
  }
  return textOf(input.value);
}

/** The results are not read beyond this size: an input is smaller than the results of which it has parts. */
const bytesMax = 64 * 1024 * 1024;
const tooLarge = `the results of the runs that it follows have more than ${bytesMax} characters`;

function textOf(value: Json): LinkedInput {
  try {
    return { text: jsonText(value) };
  } catch (error) {
    if (isMalformed(error)) return { problem: `its input with the results of other runs is refused: ${error.message}` };
    throw error;
  }
}

interface EdgeResult {
  readonly edge: Edge;
  readonly result: string | null;
}

async function resultsOf(store: Writer, edges: readonly Edge[]): Promise<readonly EdgeResult[]> {
  if (edges.length === 0) return [];
  const runs = new Map((await store.load(edges.map(({ followed }) => followed))).map((job) => [job.id, job]));
  return edges.map((edge) => ({ edge, result: runs.get(edge.followed)?.result ?? edge.result }));
}

function partOf(value: Json, path: Path): Json {
  let part: Json | undefined = value;
  for (const name of path) {
    part = typeof part === 'object' && part !== null && Object.hasOwn(part, name)
      ? (part as Record<string | number, Json>)[name]
      : undefined;
  }
  return part ?? null;
}

/** Sets a part of the input. The input was stored with null in this place, so all objects of the path exist. */
function setAt(input: { value: Json }, path: Path, part: Json): void {
  const last = path.at(-1);
  if (last === undefined) {
    input.value = part;
    return;
  }
  const holder = partOf(input.value, path.slice(0, -1));
  if (typeof holder === 'object' && holder !== null && Object.hasOwn(holder, last)) {
    (holder as Record<string | number, Json>)[last] = part;
  }
}
