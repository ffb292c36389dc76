/**
 * The graph of definitions that follow definitions. A run of a definition that follows none creates the runs of all that
 * follow it, directly or through others. So a definition must not follow itself, and all that it follows must start
 * from the same definition.
 */
import { Refusal } from '../refusal.ts';
import { definitionOf, specOf } from './definition.ts';
import type { Job } from './job.ts';

/** What each definition follows, by name. Contains all definitions that are connected with each other. */
export type DefGraph = ReadonlyMap<string, readonly string[]>;

/** The names of the definitions that a definition follows. */
export const followedBy = (def: Job): readonly string[] => specOf(definitionOf(def)).after ?? [];

/** The names of the definitions that follow a definition. */
export const followersOf = (def: Job): readonly string[] => definitionOf(def).followers ?? [];

/** How many definitions can be connected. A tick creates as many runs in one commit. */
export const connectedDefsMax = 1_000;

/** Returns why the definitions cannot follow each other like this; null: they can. */
export function refusedGraph(graph: DefGraph): Refusal | null {
  const order = followersLast(graph);
  if (order === null) return circular(graph);
  const roots = new Map<string, string>();
  for (const name of order) {
    const after = graph.get(name)!;
    const [first, other] = [...new Set(after.map((one) => roots.get(one)!))];
    if (other !== undefined) return apart(name, first!, other);
    roots.set(name, first ?? name);
  }
  return null;
}

/** Returns the names so that each comes after those that it follows; null: there is a cycle. */
export function followersLast(graph: DefGraph): readonly string[] | null {
  const followers = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, all] of graph) {
    const after = all.filter((one) => graph.has(one));
    open.set(name, after.length);
    for (const one of after) followers.set(one, [...(followers.get(one) ?? []), name]);
  }
  const order = [...graph.keys()].filter((name) => open.get(name) === 0);
  for (const name of order) {
    for (const follower of followers.get(name) ?? []) {
      open.set(follower, open.get(follower)! - 1);
      if (open.get(follower) === 0) order.push(follower);
    }
  }
  return order.length === graph.size ? order : null;
}

/** Returns the definition, among those that it follows directly or through others, that follows none. */
export function rootOf(graph: DefGraph, name: string): string {
  const [first] = graph.get(name) ?? [];
  return first === undefined ? name : rootOf(graph, first);
}

function circular(graph: DefGraph): Refusal {
  const cycle = cycleIn(graph);
  return new Refusal('malformed.flow', `definitions follow each other in a cycle: ${cycle.join(' follows ')}`, { cycle });
}

/** Walks from a definition of a cycle to one that it follows and that is in or above a cycle, until one comes again. */
function cycleIn(graph: DefGraph): readonly string[] {
  const left = new Map(graph);
  for (let isSmaller = true; isSmaller; ) {
    const ends = [...left].filter(([, after]) => !after.some((one) => left.has(one))).map(([name]) => name);
    for (const name of ends) left.delete(name);
    isSmaller = ends.length > 0;
  }
  const path = [left.keys().next().value!];
  for (;;) {
    const next = left.get(path.at(-1)!)!.find((one) => left.has(one))!;
    const start = path.indexOf(next);
    path.push(next);
    if (start >= 0) return path.slice(start);
  }
}

const apart = (name: string, root: string, other: string): Refusal => new Refusal(
  'malformed.flow',
  `definition ${name} follows runs that ${root} starts and runs that ${other} starts: let one of these two follow the other`,
  { name, roots: [root, other] },
);
