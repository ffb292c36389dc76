/**
 * Opens the edges to reopened runs that a race left closed. A follower may be created, or reopened, between the read and
 * the commit of a retry: the retry then does not know it, and it does not know the retry. Whichever commits later reads
 * the edges again.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import type { Edge } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import { steps } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { ManyEdgesQuery, Writer } from '../store/store.ts';
import { edgePages, openAgain } from './edge-outcomes.ts';

/** Opens the closed edges of these followers, or to these runs, if the run is open and the follower waits. */
export async function openClosedEdges(
  store: Writer,
  end: ManyEdgesQuery['end'],
  runs: Iterable<number>,
  asker: Asker,
): Promise<void> {
  for await (const edges of edgePages(store, end, runs)) {
    const closed = edges.filter(({ outcome }) => outcome !== null);
    if (closed.length > 0) await openThose(store, closed, asker);
  }
}

/** The run is changed in the same commit, so that it cannot end in between. */
async function openThose(store: Writer, closed: readonly Edge[], asker: Asker): Promise<void> {
  let edges: readonly Edge[] = [];
  await applyTogether(store, async () => {
    const jobs = await jobsOf(store, closed);
    edges = closed.filter(({ follower, followed }) => isWaiting(jobs.get(follower)) && isStillOpen(jobs.get(followed)));
    const asking = { ...asker, now: store.now() };
    const answers = [...commandsFor(edges)].map(([id, commands]) => steps(jobs.get(id)!, commands, asking));
    return answers.find((answer) => answer instanceof Refusal) ?? (answers as Change[]);
  }, () => ({ edges: edges.map(openAgain) }));
}

async function jobsOf(store: Writer, edges: readonly Edge[]): Promise<ReadonlyMap<number, Job>> {
  const ids = new Set(edges.flatMap(({ follower, followed }) => [follower, followed]));
  return new Map((await store.load([...ids])).map((job) => [job.id, job]));
}

const isWaiting = (job: Job | undefined): boolean => job?.state === 'held' && job.hold === 'runs';
const isStillOpen = (job: Job | undefined): boolean => job !== undefined && isOpen(job);

/** A job can be at both ends of edges; it gets its commands in one change. */
function commandsFor(edges: readonly Edge[]): ReadonlyMap<number, readonly Command[]> {
  const commands = new Map<number, Command[]>();
  const add = (id: number, command: Command): unknown => commands.set(id, [...(commands.get(id) ?? []), command]);
  for (const [id, runs] of countBy(edges, 'follower')) add(id, { do: 'await', runs });
  for (const [id, runs] of countBy(edges, 'followed')) add(id, { do: 'follow', runs });
  return commands;
}

function countBy(edges: readonly Edge[], end: ManyEdgesQuery['end']): readonly (readonly [number, number])[] {
  const counts = new Map<number, number>();
  for (const edge of edges) counts.set(edge[end], (counts.get(edge[end]) ?? 0) + 1);
  return [...counts];
}
