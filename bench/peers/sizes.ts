/** The sizes of the measures: full for reliable figures, quick for a first impression, tiny for the tests. */
import type { Patience } from '../machine-speed.ts';
import type { Pace } from './peer.ts';

export interface PeerSizes extends Patience {
  readonly rounds: number;
  /** Duration of each create measure, and of the warm-up before it. */
  readonly createSeconds: number;
  readonly createWarmUpSeconds: number;
  readonly drain: Readonly<Record<Pace, number>>;
  /** The share of the jobs that is done before timing starts. */
  readonly warmUpShare: number;
  readonly pickUps: number;
  /** How many jobs are created and started before the pick-ups that are measured. */
  readonly pickUpWarmUp: number;
  readonly fanOutTasks: number;
  /** Runs of ten steps each; one run alone has as many steps. */
  readonly stepRuns: number;
  /** The runs of each flow, not counting those that are one for all; a chain has a tenth of them. */
  readonly flowRuns: Readonly<Record<Pace, number>>;
  /** How long an instance runs before it counts as idle: PostgreSQL reports what migrations changed 10 s later. */
  readonly settleSeconds: number;
  readonly idleSeconds: number;
}

/** Drains are long enough for JIT compilation and dead rows to show their effect, also when two processes share one. */
export const fullSizes: PeerSizes = {
  rounds: 3,
  createSeconds: 3,
  createWarmUpSeconds: 5,
  drain: { fast: 120_000, medium: 10_000, slow: 1_500 },
  warmUpShare: 0.15,
  pickUps: 200,
  pickUpWarmUp: 2_000,
  fanOutTasks: 100_000,
  stepRuns: 500,
  flowRuns: { fast: 10_000, medium: 10_000, slow: 2_000 },
  settleSeconds: 12,
  idleSeconds: 30,
  waitSeconds: 30,
  tries: 3,
};

export const quickSizes: PeerSizes = {
  rounds: 1,
  createSeconds: 0.5,
  createWarmUpSeconds: 1,
  drain: { fast: 12_000, medium: 2_000, slow: 300 },
  warmUpShare: 0.15,
  pickUps: 30,
  pickUpWarmUp: 200,
  fanOutTasks: 10_000,
  stepRuns: 100,
  flowRuns: { fast: 1_000, medium: 1_000, slow: 200 },
  settleSeconds: 12,
  idleSeconds: 10,
  waitSeconds: 10,
  tries: 2,
};

export const tinySizes: PeerSizes = {
  rounds: 1,
  createSeconds: 0.02,
  createWarmUpSeconds: 0.01,
  drain: { fast: 2_000, medium: 400, slow: 200 },
  warmUpShare: 0.1,
  pickUps: 3,
  pickUpWarmUp: 3,
  fanOutTasks: 100,
  stepRuns: 5,
  flowRuns: { fast: 40, medium: 40, slow: 40 },
  settleSeconds: 0.1,
  idleSeconds: 0.5,
  waitSeconds: 0.1,
  tries: 1,
};
