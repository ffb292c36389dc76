/** A reading: one figure of one peer in one round. */
import type { CpuPerJob } from '../stopwatch.ts';
import type { FlowShape } from './flow.ts';

export type FigureName =
  | 'create single' | 'create in flight' | 'create bulk'
  | 'drain 1' | 'drain 2' | 'drain CPU' | 'drain memory'
  | 'pick-up here p50' | 'pick-up here p95' | 'pick-up elsewhere p50' | 'pick-up elsewhere p95'
  | 'in a transaction p50' | 'in a transaction p95' | 'create in a transaction p50' | 'create in a transaction p95'
  | 'commit to start p50' | 'commit to start p95' | 'commit to start max'
  | 'steps' | 'steps of one run' | 'bytes per step'
  | 'fan-out' | FlowFigureName | 'batch drain' | 'idle queries' | 'idle CPU' | 'idle memory';

/** The rate of a flow from its creation to its end, and both times. */
export type FlowFigureName = `flow ${FlowShape}` | `create flow ${FlowShape}` | `time of flow ${FlowShape}`;

export type Unit = 'jobs/s' | 'steps/s' | 'µs' | 'ms' | 'B' | 'MB' | '/s' | '% of a core';

export interface Reading {
  readonly figure: FigureName;
  readonly unit: Unit;
  readonly value: number;
  readonly cpu?: CpuPerJob;
  /** The number of jobs, where it depends on the peer. */
  readonly jobs?: number;
}

export const isHigherBetter = (unit: Unit): boolean => unit === 'jobs/s' || unit === 'steps/s';
