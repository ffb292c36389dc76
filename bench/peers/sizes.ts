/** How much of everything: enough for figures to rest on, a quick look, or just a sign of life. */
import type { Pace } from './entrant.ts';

export interface PeerSizes {
  readonly rounds: number;
  /** How long each way to create is followed. */
  readonly createSeconds: number;
  readonly drain: Readonly<Record<Pace, number>>;
  /** How many of these are done before the clock starts. */
  readonly warmUpShare: number;
  readonly pickUps: number;
  readonly fanOutTasks: number;
  readonly idleSeconds: number;
}

/** A drain is long enough for code to be compiled and for dead rows to count, also where two processes share it. */
export const fullSizes: PeerSizes = {
  rounds: 3,
  createSeconds: 3,
  drain: { fast: 120_000, middling: 10_000, slow: 1_500 },
  warmUpShare: 0.15,
  pickUps: 200,
  fanOutTasks: 100_000,
  idleSeconds: 30,
};

export const quickSizes: PeerSizes = {
  rounds: 1,
  createSeconds: 0.5,
  drain: { fast: 12_000, middling: 2_000, slow: 300 },
  warmUpShare: 0.15,
  pickUps: 30,
  fanOutTasks: 10_000,
  idleSeconds: 10,
};

export const tinySizes: PeerSizes = {
  rounds: 1,
  createSeconds: 0.02,
  drain: { fast: 2_000, middling: 400, slow: 200 },
  warmUpShare: 0.1,
  pickUps: 3,
  fanOutTasks: 100,
  idleSeconds: 0.5,
};
