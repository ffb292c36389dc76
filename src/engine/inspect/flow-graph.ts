/**
 * The graph of a flow: its runs in layers, each behind the layers of the runs that it follows, and the edges between them.
 * A large flow is shown by groups of runs that have the same definition or type and the same standing; the runs of a long
 * chain share layers. So the answer is small, however many runs there are.
 */
import type { Jobs } from '../../jobs.ts';
import type { FollowOn } from '../../model/following.ts';
import type { Job } from '../../model/job.ts';
import type { Fate } from '../../model/state.ts';
import { standingOf, type Standing } from '../../store/query.ts';
import { readFlow, type FlowRunStanding } from './flows.ts';

export interface FlowGraph {
  readonly id: number;
  /** How many runs were read. */
  readonly runs: number;
  /** Whether the flow has more runs than were read. */
  readonly isCut: boolean;
  /** Whether nodes are groups of runs, because the flow has too many runs to show each. */
  readonly isGrouped: boolean;
  readonly counts: Readonly<Partial<Record<Standing, number>>>;
  /** From the runs that follow none to those that follow the most. */
  readonly layers: readonly FlowLayer[];
  readonly edges: readonly FlowGraphEdge[];
}

export interface FlowLayer {
  /** The first and the last distance from the start that the layer contains. */
  readonly from: number;
  readonly to: number;
  /** Failed ones first. */
  readonly nodes: readonly FlowNode[];
}

export interface FlowNode {
  readonly key: string;
  /** The definition or type of its runs; null: several, which are not shown apart. */
  readonly def: string | null;
  readonly type: string | null;
  readonly standing: Standing;
  readonly count: number;
  /** The run, or the first one of a group. */
  readonly run: number;
}

export interface FlowGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly on: FollowOn;
  /** How the followed run has ended; null: it is open. Of several: failed before cancelled, open and succeeded. */
  readonly outcome: Fate | null;
}

/** Up to this many runs are shown one by one. */
const singleMax = 100;
const layersMax = 40;
/** How many kinds of runs of a layer are shown apart in a large flow; the others are one group for each standing. */
const kindsMax = 6;
const runsMax = 10_000;
const page = 1_000;

export async function readFlowGraph(jobs: Jobs, id: number): Promise<FlowGraph> {
  const runs: FlowRunStanding[] = [];
  for (let after: number | null = 0; after !== null && runs.length < runsMax; ) {
    const some = await readFlow(jobs, id, after, page);
    runs.push(...some.runs);
    after = some.next;
    if (after === null) return graphOf(id, runs, false);
  }
  return graphOf(id, runs, true);
}

export function graphOf(id: number, runs: readonly FlowRunStanding[], isCut: boolean): FlowGraph {
  const layers = layersOf(runs);
  const isGrouped = runs.length > singleMax;
  const size = isGrouped ? layerSize(layers) : 1;
  const nodes = new Map<string, { layer: number; node: FlowNode }>();
  const keys = new Map<number, string>();
  const placed = placedIn(runs, layers, size);
  for (const { job, layer, kind } of isGrouped ? grouped(placed) : placed) {
    const key = isGrouped ? `${layer} ${standingOf(job)} ${kind ?? ''}` : String(job.id);
    keys.set(job.id, key);
    const known = nodes.get(key);
    if (known) nodes.set(key, { layer, node: { ...known.node, count: known.node.count + 1 } });
    else nodes.set(key, { layer, node: nodeOf(key, job, kind) });
  }
  const counts: Partial<Record<Standing, number>> = {};
  for (const { job } of runs) counts[standingOf(job)] = (counts[standingOf(job)] ?? 0) + 1;
  return {
    id, runs: runs.length, isCut, isGrouped, counts,
    layers: shownLayers([...nodes.values()], size),
    edges: edgesBetween(runs, keys),
  };
}

/** Returns how far each run is from a run that follows none. A run has a higher id than those that it follows. */
function layersOf(runs: readonly FlowRunStanding[]): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  for (const { job, after } of runs) {
    layers.set(job.id, Math.max(0, ...after.map(({ followed }) => (layers.get(followed) ?? -1) + 1)));
  }
  return layers;
}

interface Placed {
  readonly job: Job;
  readonly layer: number;
  /** Null: it is grouped with runs of other kinds. */
  readonly kind: string | null;
}

const kindOf = ({ def, type }: Job): string => (def === null ? `type ${type}` : `def ${def}`);

const placedIn = (runs: readonly FlowRunStanding[], layers: ReadonlyMap<number, number>, size: number): readonly Placed[] =>
  runs.map(({ job }) => ({ job, layer: Math.floor(layers.get(job.id)! / size), kind: kindOf(job) }));

/** Merges the rarer kinds of runs in each layer. */
function grouped(placed: readonly Placed[]): readonly Placed[] {
  return [...Map.groupBy(placed, ({ layer }) => layer).values()].flatMap((some) => {
    const byKind = [...Map.groupBy(some, ({ kind }) => kind)].toSorted(([, a], [, b]) => b.length - a.length);
    if (byKind.length <= kindsMax) return some;
    const shown = new Set(byKind.slice(0, kindsMax - 1).map(([kind]) => kind));
    return some.map((one) => (shown.has(one.kind) ? one : { ...one, kind: null }));
  });
}

/** How many layers of a large flow are shown as one. */
function layerSize(layers: ReadonlyMap<number, number>): number {
  let depth = 0;
  for (const layer of layers.values()) depth = Math.max(depth, layer + 1);
  return Math.max(1, Math.ceil(depth / layersMax));
}

const nodeOf = (key: string, job: Job, kind: string | null): FlowNode => ({
  key, standing: standingOf(job), count: 1, run: job.id,
  def: kind === null ? null : job.def,
  type: kind === null ? null : job.type,
});

const urgency: readonly Standing[] = ['failed', 'cancelled', 'running', 'pending', 'held', 'succeeded'];

function shownLayers(
  nodes: readonly { readonly layer: number; readonly node: FlowNode }[],
  size: number,
): readonly FlowLayer[] {
  return [...Map.groupBy(nodes, ({ layer }) => layer)].toSorted(([a], [b]) => a - b).map(([layer, some]) => ({
    from: layer * size,
    to: layer * size + size - 1,
    nodes: some.map(({ node }) => node).toSorted((a, b) =>
      urgency.indexOf(a.standing) - urgency.indexOf(b.standing) || a.run - b.run),
  }));
}

const outcomes: readonly (Fate | null)[] = ['failed', 'cancelled', null, 'succeeded'];

function edgesBetween(runs: readonly FlowRunStanding[], keys: ReadonlyMap<number, string>): readonly FlowGraphEdge[] {
  const edges = new Map<string, FlowGraphEdge>();
  for (const { job, after } of runs) {
    for (const { followed, outcome } of after) {
      const [from, to] = [keys.get(followed), keys.get(job.id)!];
      // A run outside the flow, or of the same group, has no edge to show.
      if (from === undefined || from === to) continue;
      const on = job.follows?.on ?? 'succeeded';
      const name = `${from} | ${to} | ${on}`;
      const known = edges.get(name);
      const worst = known && outcomes.indexOf(known.outcome) < outcomes.indexOf(outcome) ? known.outcome : outcome;
      edges.set(name, { from, to, on, outcome: worst });
    }
  }
  return [...edges.values()];
}
