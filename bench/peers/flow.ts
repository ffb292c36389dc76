/** The shapes of flows, and the runs of a flow in each. */
import { input, type Input } from '../payload.ts';

/**
 * `fan-out`: all others follow the first. `fan-in`: the last follows all others. `layers`: ten layers, each run follows
 * three of the layer before. `chain`: each follows the one before. `ten chains`: ten of those side by side.
 */
export type FlowShape = (typeof flowShapes)[number];

export const flowShapes = ['fan-out', 'fan-in', 'layers', 'chain', 'ten chains'] as const;

/** What a peer can express. */
export interface Flows {
  /** Whether a run can be followed by one other run only. */
  readonly isTree?: boolean;
  /** The length of its chains at most: each follower of a peer that polls waits for seconds. */
  readonly chainRunsMax?: number;
  /** What it does differently, for the report. */
  readonly note?: string;
}

export interface FlowRun {
  readonly input: Input;
  /** The indexes of the runs that it follows, which come before it. */
  readonly after: readonly number[];
}

const width = 10;
const followedPerRun = 3;

export const flowOf = (shape: FlowShape, runs: number, { isTree = false }: Flows = {}): FlowRun[] =>
  Array.from({ length: runs }, (_, index) => ({ input: flowInput(index), after: followedIn(shape, index, runs, isTree) }));

/** In a tree, each run of a layer follows one of the layer before. */
function followedIn(shape: FlowShape, index: number, runs: number, isTree: boolean): readonly number[] {
  switch (shape) {
    case 'fan-out': return index === 0 ? [] : [0];
    case 'fan-in': return index === runs - 1 ? Array.from({ length: index }, (_, before) => before) : [];
    case 'layers': return layerBefore(index, Math.ceil(runs / width), isTree ? 1 : followedPerRun);
    case 'chain': return index === 0 ? [] : [index - 1];
    case 'ten chains': return index < width ? [] : [index - width];
  }
}

function layerBefore(index: number, runsPerLayer: number, followed: number): readonly number[] {
  const first = (Math.floor(index / runsPerLayer) - 1) * runsPerLayer;
  if (first < 0) return [];
  return [...new Set(Array.from({ length: followed }, (_, n) => first + ((index + n) % runsPerLayer)))];
}

const usual = input();

/** As long as other inputs, with the index of the run. */
const flowInput = (index: number): Input => ({ ...usual, to: String(index).padStart(usual.to.length, '0') });

export const flowIndexOf = ({ to }: Input): number => Number(to);
