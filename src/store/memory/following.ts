/** The edges and flows of the memory store. */
import type { Edge } from '../../model/following.ts';
import type { Fate } from '../../model/state.ts';
import { noEdges, type EdgeQuery, type EdgeTally, type FlowRuns } from '../store.ts';

export class MemoryFollowing {
  readonly #byFollower = new Map<number, Map<number, Edge>>();
  readonly #byFollowed = new Map<number, Set<number>>();
  /** How many edges of each follower are open. */
  readonly #open = new Map<number, number>();
  readonly #flows = new Map<number, number>();

  write(edges: readonly Edge[], flows: readonly FlowRuns[]): void {
    for (const edge of edges) this.#put(edge);
    for (const { id, runs } of flows) for (const run of runs) this.#flows.set(run, id);
  }

  /** Sets the outcome of the open edges to a run that has ended; returns the followers. */
  close(followed: number, outcome: Fate): readonly number[] {
    const open = this.#edgesTo(followed).filter((edge) => edge.outcome === null);
    for (const edge of open) this.#put({ ...edge, outcome });
    return open.map(({ follower }) => follower);
  }

  /**
   * Deletes the edges of a deleted job; its followers keep its outcome, and its result if they use it. Returns a function
   * that undoes this.
   */
  delete(id: number, outcome: Fate, result: string | null): () => void {
    const [before, flow] = [[...this.#edgesTo(id), ...this.#edgesOf(id)], this.#flows.get(id)];
    for (const edge of this.#edgesTo(id)) {
      const isUsed = edge.links.length > 0;
      this.#put({ ...edge, outcome: edge.outcome ?? outcome, result: isUsed ? (edge.result ?? result) : null });
    }
    for (const followed of this.#byFollower.get(id)?.keys() ?? []) this.#byFollowed.get(followed)?.delete(id);
    this.#byFollower.delete(id);
    this.#open.delete(id);
    this.#flows.delete(id);
    return () => this.write(before, flow === undefined ? [] : [{ id: flow, runs: [id] }]);
  }

  hasOpen(follower: number): boolean {
    return (this.#open.get(follower) ?? 0) > 0;
  }

  tally(follower: number): EdgeTally {
    const tally = { ...noEdges };
    for (const { outcome } of this.#edgesOf(follower)) tally[outcome ?? 'open'] += 1;
    return tally;
  }

  find(query: EdgeQuery): readonly Edge[] {
    const { after = 0, limit, isOpen = false } = query;
    const isOfFollower = 'follower' in query;
    const other = (edge: Edge): number => (isOfFollower ? edge.followed : edge.follower);
    return (isOfFollower ? this.#edgesOf(query.follower) : this.#edgesTo(query.followed))
      .filter((edge) => other(edge) > after && (!isOpen || edge.outcome === null))
      .sort((a, b) => other(a) - other(b))
      .slice(0, limit);
  }

  /** The runs to which open edges lead, by id. */
  openFollowed(after: number, limit: number): readonly number[] {
    const isOpen = (id: number): boolean => this.#edgesTo(id).some(({ outcome }) => outcome === null);
    return [...this.#byFollowed.keys()].filter((id) => id > after && isOpen(id)).sort((a, b) => a - b).slice(0, limit);
  }

  flows(before: number | null, limit: number): readonly number[] {
    const ids = [...new Set(this.#flows.values())].filter((id) => before === null || id < before);
    return ids.sort((a, b) => b - a).slice(0, limit);
  }

  flowRuns(flow: number, after: number, limit: number): readonly number[] {
    const runs = [...this.#flows].filter(([run, id]) => id === flow && run > after).map(([run]) => run);
    return runs.sort((a, b) => a - b).slice(0, limit);
  }

  flowOf(run: number): number | null {
    return this.#flows.get(run) ?? null;
  }

  #put(edge: Edge): void {
    const { follower, followed, outcome } = edge;
    const before = this.#byFollower.get(follower)?.get(followed);
    const [wasOpen, isOpen] = [before?.outcome === null, outcome === null];
    this.#open.set(follower, (this.#open.get(follower) ?? 0) + Number(isOpen) - Number(wasOpen));
    this.#byFollower.set(follower, (this.#byFollower.get(follower) ?? new Map<number, Edge>()).set(followed, edge));
    this.#byFollowed.set(followed, (this.#byFollowed.get(followed) ?? new Set<number>()).add(follower));
  }

  #edgesOf(follower: number): Edge[] {
    return [...(this.#byFollower.get(follower)?.values() ?? [])];
  }

  #edgesTo(followed: number): Edge[] {
    return [...(this.#byFollowed.get(followed) ?? [])].map((id) => this.#byFollower.get(id)!.get(followed)!);
  }
}
