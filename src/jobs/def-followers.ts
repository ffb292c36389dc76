/**
 * The followers of definitions. Each definition has the list of those that follow it, so that a tick finds them without a
 * search. The list is changed in one commit with the definition that follows, or no longer does. That commit also
 * changes the first definition of the graph, which all concurrent changes of the graph therefore conflict at: two of
 * them that are valid alone cannot form a cycle together.
 */
import type { Change } from '../model/change.ts';
import { connectedDefsMax, followedBy, followersOf, refusedGraph, rootOf, type DefGraph } from '../model/def-graph.ts';
import { definitionOf, type Definition } from '../model/definition.ts';
import { isOpen, type Job } from '../model/job.ts';
import type { Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Writer } from '../store/store.ts';
import { definitionJobs } from '../store/definition-jobs.ts';
import { alsoRecord } from './joined-changes.ts';

export interface LinkedChanges {
  /** The given changes, in their order, some with a new list of followers. */
  readonly defs: readonly Change[];
  /** Changes of other definitions. */
  readonly others: readonly Change[];
}

/**
 * Adds to the changes of definitions those of the definitions that they follow, or followed before. Refuses a definition
 * that does not exist, a cycle, and the end of a definition that others follow.
 */
export async function linked(store: Writer, defs: readonly Change[], asking: Asking): Promise<LinkedChanges | Refusal> {
  const links = defs.flatMap(newLinks);
  if (links.length === 0 && !defs.some(endsFollowed)) return { defs, others: [] };
  const changed = new Map(defs.map((change) => [nameOf(change), change]));
  const family = await connected(store, changed);
  if (family instanceof Refusal) return family;
  const graph: DefGraph = new Map([...family].map(([name, job]) => [name, followedBy(job)]));
  const refusal = strandedIn(graph, changed) ?? refusedGraph(graph);
  if (refusal) return refusal;
  const names = new Set(links.flatMap(({ follower, followed }) => [followed, rootOf(graph, followed), rootOf(graph, follower)]));
  const result = new Map<string, Change>();
  for (const name of names) {
    const job = family.get(name);
    if (job === undefined) continue;
    const input = JSON.stringify(withFollowers(definitionOf(job), links.filter(({ followed }) => followed === name)));
    const change = changed.get(name) ?? { before: job, after: job, events: [] };
    result.set(name, alsoRecord(change, () => [{ kind: 'edited', edit: { input } }], asking));
  }
  return {
    defs: defs.map((change) => result.get(nameOf(change)) ?? change),
    others: [...result].filter(([name]) => !changed.has(name)).map(([, change]) => change),
  };
}

/** One definition begins to follow another, or no longer does. */
interface FollowerLink {
  readonly follower: string;
  readonly followed: string;
  readonly isNew: boolean;
}

const nameOf = ({ before, after }: Change): string => (after ?? before)!.def!;

const followedIfOpen = (job: Job | null): readonly string[] => (job !== null && isOpen(job) ? followedBy(job) : []);

function newLinks(change: Change): readonly FollowerLink[] {
  const [was, is] = [followedIfOpen(change.before), followedIfOpen(change.after)];
  const follower = nameOf(change);
  return [
    ...is.filter((followed) => !was.includes(followed)).map((followed) => ({ follower, followed, isNew: true })),
    ...was.filter((followed) => !is.includes(followed)).map((followed) => ({ follower, followed, isNew: false })),
  ];
}

const endsFollowed = ({ before, after }: Change): boolean =>
  before !== null && (after === null || !isOpen(after)) && followersOf(before).length > 0;

function withFollowers({ followers = [], ...definition }: Definition, links: readonly FollowerLink[]): Definition {
  const left = new Set(links.filter(({ isNew }) => !isNew).map(({ follower }) => follower));
  const joined = links.filter(({ isNew }) => isNew).map(({ follower }) => follower);
  const names = [...new Set([...followers.filter((name) => !left.has(name)), ...joined])].sort();
  return names.length === 0 ? definition : { ...definition, followers: names };
}

/** Returns the open definitions that are connected with the changed ones, as the changes leave them. */
async function connected(store: Writer, changed: ReadonlyMap<string, Change>): Promise<ReadonlyMap<string, Job> | Refusal> {
  const family = new Map<string, Job>();
  const seen = new Set<string>();
  const neighboursOf = (job: Job): readonly string[] => [...followedBy(job), ...followersOf(job)];
  let names = [...changed].flatMap(([name, { before }]) => [name, ...(before === null ? [] : neighboursOf(before))]);
  while (names.length > 0) {
    const fresh = [...new Set(names)].filter((name) => !seen.has(name));
    for (const name of fresh) seen.add(name);
    const stored = await definitionJobs(store, fresh.filter((name) => !changed.has(name)));
    const found = fresh.flatMap((name) => changed.get(name)?.after ?? stored.get(name) ?? []).filter(isOpen);
    for (const job of found) family.set(job.def!, job);
    if (family.size > connectedDefsMax) return tooMany();
    names = found.flatMap(neighboursOf);
  }
  return family;
}

/** The refusal if a definition follows one that does not exist, or that the changes end; otherwise undefined. */
function strandedIn(graph: DefGraph, changed: ReadonlyMap<string, Change>): Refusal | undefined {
  for (const [name, after] of graph) {
    const missing = after.find((one) => !graph.has(one));
    if (missing === undefined) continue;
    if (changed.has(missing)) {
      const message = `definition ${name} follows ${missing}: change or delete it first`;
      return new Refusal('followed.definition', message, { name: missing, follower: name });
    }
    return new Refusal('unknown.definition', `definition ${name} follows ${missing}, which does not exist`, { name: missing });
  }
  return undefined;
}

const tooMany = (): Refusal => new Refusal(
  'malformed.flow', `at most ${connectedDefsMax} definitions can follow each other`, { most: connectedDefsMax },
);
