/** Following: the edges between runs and the runs that they follow, and the flows to which runs belong. */
import type { Edge } from '../../model/following.ts';
import type { Job } from '../../model/job.ts';
import type { Standing } from '../query.ts';

export interface Edges {
  /**
   * Sets the outcome of the open edges to those of these runs that have ended. Returns the ids of the followers, each
   * once. A run that was reopened in the meantime keeps its open edges. An open edge to a run that does not exist is
   * closed as cancelled: the run was deleted while the edge was created.
   */
  closeEdges(followed: readonly number[]): Promise<readonly number[]>;

  /**
   * Returns those of these jobs that wait for runs that they follow, although none of their edges is open. The search
   * for an open edge reads one entry of an index, however many edges a job has.
   */
  proceedable(followers: readonly number[]): Promise<readonly Job[]>;

  /** Returns how many edges of each follower are open, and how many have each outcome. */
  tallyEdges(followers: readonly number[]): Promise<ReadonlyMap<number, EdgeTally>>;

  /** Returns the edges of a follower in the order of the runs that it follows, or those to a run by their followers. */
  edges(query: EdgeQuery): Promise<readonly Edge[]>;

  /** Returns the edges of several followers, or those to several runs, ordered by these and then by the other ends. */
  edgesOfMany(query: ManyEdgesQuery): Promise<readonly Edge[]>;

  /**
   * Reads a page of jobs that wait for runs that they follow, by id, and returns those of them without an open edge. Such
   * a job remains if a process crashed after it had closed the last edge.
   */
  stalledFollowers(after: number, limit: number): Promise<FollowingPage>;

  /**
   * Reads a page of runs to which open edges lead, by id, and returns those of them that have ended or do not exist. Such
   * a run remains if a process crashed after it had ended the run.
   */
  endedWithOpenEdges(after: number, limit: number): Promise<FollowingPage>;

  /** Returns the ids of flows, newest first. */
  flows(before: number | null, limit: number): Promise<readonly number[]>;

  /** Returns the ids of the runs of a flow, ascending. */
  flowRuns(flow: number, after: number, limit: number): Promise<readonly number[]>;

  /** Counts the first `runsMax` runs of each of these flows by type and standing, in one search. */
  tallyFlows(flows: readonly number[], runsMax: number): Promise<readonly FlowTally[]>;

  /** Returns the flow of a run; null: it belongs to none. */
  flowOf(run: number): Promise<number | null>;
}

/** How many runs of a flow have a type and a standing. */
export interface FlowTally {
  readonly flow: number;
  readonly type: string;
  readonly standing: Standing;
  readonly count: number;
  /** The lowest id among these runs. */
  readonly first: number;
  /** When the first of them was created. */
  readonly created: number;
}

export interface EdgeTally {
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

export const noEdges: EdgeTally = { open: 0, succeeded: 0, failed: 0, cancelled: 0 };

export type EdgeQuery = ({ readonly follower: number } | { readonly followed: number }) & {
  /** Only edges after this run: the followed one if `follower` is given, otherwise the follower. */
  readonly after?: number;
  readonly limit: number;
  readonly isOpen?: true;
};

export interface ManyEdgesQuery {
  /** At which end of the edges the runs in `ids` are. */
  readonly end: 'follower' | 'followed';
  /** Ascending. */
  readonly ids: readonly number[];
  /** Only edges after this one, in the order of the answer. */
  readonly after?: Pick<Edge, 'follower' | 'followed'>;
  readonly limit: number;
}

export const otherEnd = (end: ManyEdgesQuery['end']): ManyEdgesQuery['end'] => (end === 'follower' ? 'followed' : 'follower');

export interface FollowingPage {
  readonly ids: readonly number[];
  /** The `after` of the next page; null: this page was the last. */
  readonly next: number | null;
}

/** The runs that one commit adds to a flow. The id of a flow is the id of its first run. */
export interface FlowRuns {
  readonly id: number;
  readonly runs: readonly number[];
}
