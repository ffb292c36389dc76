/**
 * Converts rows of table `edge` of the SQL stores to edges. The driver of a caller's transaction may return 64-bit numbers
 * as text.
 */
import type { Edge, Link } from '../model/following.ts';
import type { Fate } from '../model/state.ts';
import { noEdges, type EdgeTally, type FlowTally } from './port/following.ts';

export interface EdgeRow {
  readonly follower: number;
  readonly followed: number;
  readonly outcome: Fate | null;
  /** JSON text; null: the edge has no links. */
  readonly links: string | null;
  readonly result: string | null;
}

export const edgeOfRow = ({ follower, followed, outcome, links, result }: EdgeRow): Edge => ({
  follower: Number(follower),
  followed: Number(followed),
  outcome,
  links: links === null ? [] : (JSON.parse(links) as Link[]),
  result,
});

export const linksText = ({ links }: Edge): string | null => (links.length === 0 ? null : JSON.stringify(links));

export interface EdgeTallyRow {
  readonly follower: number;
  readonly outcome: Fate | null;
  readonly count: number;
}

export function talliesOfRows(followers: readonly number[], rows: readonly EdgeTallyRow[]): Map<number, EdgeTally> {
  const tallies = new Map(followers.map((id) => [id, noEdges]));
  for (const { follower, outcome, count } of rows) {
    const id = Number(follower);
    tallies.set(id, { ...tallies.get(id)!, [outcome ?? 'open']: Number(count) });
  }
  return tallies;
}

export const flowTallyOfRow = ({ flow, type, standing, count, first, created }: FlowTally): FlowTally =>
  ({ flow: Number(flow), type, standing, count: Number(count), first: Number(first), created: Number(created) });
